"""The reasons for which the worker hands an item to a person: one class per reason, with the flags it sets."""

from __future__ import annotations

from collections.abc import Sequence

from shared.errors import Blocked
from shared.workflow.labels import Flag
from worker_agent.tdd.judging.verdict import ErrorType


class Aborted(Blocked):
    """The cycle was given up."""

    flags: tuple[Flag, ...] = (Flag.MANUAL_INTERVENTION,)

    of_text = True
    """False if neither another specification nor other code removes the cause."""


class CycleAborted(Aborted):
    """A test-first phase could not be completed."""

    diagnosable = True

    def __init__(self, error: ErrorType, sentence: str, details: Sequence[str] = ()) -> None:
        listed = "".join(f"\n- {detail}" for detail in details[:10])
        super().__init__(f"{error}: {sentence}{listed}")
        self.error = error
        self.category = str(error)
        if error is ErrorType.WORKFLOW_ABORTED:
            self.advice = (
                "Run the test command in a fresh clone of the base, after the set-up command and without network: "
                "correct `test_command` or `setup_command` in the agent's configuration file, or the base branch."
            )
        if error in {ErrorType.TEST_UNEXPECTED_PASS, ErrorType.DUPLICATE_TEST}:
            self.flags = (Flag.PROBLEMATIC_TEST,)


class CiGivenUp(Aborted):
    """CI stays red."""

    diagnosable = True

    def __init__(self, fixes: int, explanation: str = "") -> None:
        """`explanation` gives the cause of each failed check."""
        super().__init__(f"CI still fails after {fixes} repair{'s' * (fixes != 1)}.{explanation}")


class RoundsUsedUp(Aborted):
    """Changes are requested once more, after as many rounds as there may be."""

    def __init__(self, rounds: int) -> None:
        super().__init__(f"Changes are requested again after {rounds} rounds: a maintainer decides how to continue.")


class SpecificationEdited(Aborted):
    """The issue does not say what was approved."""

    edited = True
    flags = (Flag.SPEC_REVIEW_NEEDED,)

    def __init__(self, label: str) -> None:
        super().__init__(f"The issue was edited after it was approved; check it and set {label} again.")


class BranchTaken(Aborted):
    """Somebody has put commits on the work branch that are not built on ours; it is left untouched."""

    def __init__(self, branch: str, ours: str, theirs: str) -> None:
        super().__init__(
            f"`{branch}` was moved to {theirs}, which is not built on our commit {ours}; it is left as it is."
        )
        self.advice = (
            f"Decide which one counts: leave {theirs[:12]} there, or put {ours[:12]} back (or a merge of both);"
        )


class BaseGone(Aborted):
    """The branch into which the pull request goes does not exist."""

    of_text = False

    def __init__(self, branch: str) -> None:
        super().__init__(f"The branch `{branch}`, into which the pull request goes, does not exist any more.")
        self.advice = "Choose another base for the pull request, or restore that branch."


class ConflictUnresolved(Aborted):
    """The base cannot be merged without a conflict, and the one try to resolve it has failed."""

    category = "merge-conflict"
    flags = (Flag.HAD_CONFLICT, Flag.MANUAL_INTERVENTION)

    def __init__(self, sides: tuple[str, str], problems: Sequence[str], unresolved: Sequence[str]) -> None:
        """`sides` name the base and the branch, `problems` the conflicts, `unresolved` what remains after the try."""
        listed = "".join(f"\n- {problem}" for problem in problems[:10])
        tried = "".join(f"\n- {one}" for one in unresolved[:10])
        super().__init__(
            f"Merging {sides[0]} into {sides[1]} collides:{listed}\nOne try to resolve it was refused:{tried}"
        )
        self.advice = "Merge the base into the branch by hand and push that."


class NotPending(Aborted):
    """The test that the issue is about does not wait on the base any more."""

    def __init__(self, test: str, base: str) -> None:
        super().__init__(f"`{test}` is not marked as pending on the base commit {base[:12]} any more.")
        self.advice = "Close the issue if the test was activated or taken out; if it was renamed, write a new issue."


class BranchExists(Aborted):
    """Somebody has put commits on the work branch before the first test was written; it is left untouched."""

    of_text = False

    def __init__(self, branch: str) -> None:
        super().__init__(f"`{branch}` has commits that are neither on the base nor of the engine; it is left as it is.")
        self.advice = f"Rename or delete the branch `{branch}`."
