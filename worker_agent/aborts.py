"""Why the worker gives an item to a person: one class per reason, with the flags it sets."""

from __future__ import annotations

from collections.abc import Sequence

from shared.errors import Blocked
from shared.workflow import Flag
from worker_agent.tdd.verdict import ErrorType


class Aborted(Blocked):
    """The cycle was given up."""

    flags: tuple[Flag, ...] = (Flag.MANUAL_INTERVENTION,)


class CycleAborted(Aborted):
    """A test-first phase could not be completed."""

    def __init__(self, error: ErrorType, sentence: str, details: Sequence[str] = ()) -> None:
        listed = "".join(f"\n- {detail}" for detail in details[:10])
        super().__init__(f"{error}: {sentence}{listed}")
        self.error = error
        self.category = str(error)
        if error in {ErrorType.TEST_UNEXPECTED_PASS, ErrorType.DUPLICATE_TEST}:
            self.flags = (Flag.PROBLEMATIC_TEST,)


class CiGivenUp(Aborted):
    """CI stays red."""

    def __init__(self, fixes: int) -> None:
        super().__init__(f"CI stays red after {fixes} repairs.")


class RoundsUsedUp(Aborted):
    """Changes are requested once more, after as many rounds as there may be."""

    def __init__(self, rounds: int) -> None:
        super().__init__(f"Changes are requested again after {rounds} rounds: a person decides how this goes on.")


class SpecificationEdited(Aborted):
    """The issue does not say what was approved."""

    flags = (Flag.SPEC_REVIEW_NEEDED,)

    def __init__(self, label: str) -> None:
        super().__init__(f"The issue was edited after it was approved; check it and set {label} again.")


class BranchTaken(Aborted):
    """The pull request's head is not the commit that this engine pushed; it is left untouched."""


class BranchExists(Aborted):
    """The work branch holds commits that are not on the base; rename or delete it, then set the ready label again."""
