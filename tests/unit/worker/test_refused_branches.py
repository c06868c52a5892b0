"""Work branches that the rules of a repository refuse: what is begun meanwhile, and for how long nothing is."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from shared.git.failures import PushRefused
from shared.lock.claim import Intent
from shared.workflow import Stage
from worker_agent.decide import NextStep
from worker_agent.intake.refused_branches import FIRST_SECONDS, LOOK_SECONDS, MOST_SECONDS, RefusedBranches

START = Intent(Stage.IMPLEMENTING, NextStep.RED)
SIGNED = "The git server refused the push: GH013: Repository rule violations found. Commits must have signatures."


@dataclass
class Here:
    """One repository, and the boot clock."""

    shown: dict[str, str] = field(default_factory=dict)
    seconds: float = 1000.0

    def refused(self, *numbers: int, said: str = SIGNED) -> RefusedBranches:
        branches = RefusedBranches("o/r", self.shown, lambda: self.seconds)
        for number in numbers:
            branches.note(number, PushRefused(f"{said}\nThe patch is kept as `x`."))
        return branches


def test_nothing_else_begins_for_an_hour_which_doubles_up_to_a_day() -> None:
    here = Here()
    for times, seconds in ((1, FIRST_SECONDS), (2, 2 * FIRST_SECONDS), (9, MOST_SECONDS)):
        branches = here.refused(*range(1, times + 1))
        skip = branches.skip(42, START)
        assert skip is not None
        assert skip.seconds == LOOK_SECONDS
        assert "Commits must have signatures" in skip.reason
        assert "kept" not in skip.reason
        here.seconds += seconds - 1
        last = branches.skip(42, START)
        assert last is not None
        assert last.seconds == 1
        here.seconds += 1
        assert branches.skip(42, START) is None


def test_begun_work_and_the_refused_issue_itself_go_on() -> None:
    branches = Here().refused(7)
    assert branches.skip(7, START) is None
    assert branches.skip(42, Intent(Stage.IMPLEMENTING, NextStep.FEEDBACK)) is None
    assert branches.skip(42, Intent(Stage.TESTING, NextStep.CI)) is None


def test_a_branch_that_is_pushed_ends_it() -> None:
    here = Here()
    branches = here.refused(7)
    assert "o/r" in here.shown
    branches.end()
    assert (branches.skip(42, START), here.shown) == (None, {})


@pytest.mark.parametrize(
    "said",
    [
        "GH013: Repository rule violations found. Push cannot contain secrets",
        "GH001: Large files detected.",
        "GH006: Protected branch update failed. A pull request for this branch has been added to a merge queue.",
        "refusing to allow a Personal Access Token to create or update workflow `.github/workflows/ci.yml`",
        "pre-receive hook declined",
    ],
)
def test_what_may_be_due_to_one_change_holds_up_no_other(said: str) -> None:
    here = Here()
    assert here.refused(7, said=said).skip(42, START) is None
    assert here.shown == {}
