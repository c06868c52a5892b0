"""Meaning of each ending of a paid run for its item."""

from __future__ import annotations

import pytest

from shared.errors import RunFailed
from shared.llm.port import Ending, RunOutcome
from shared.retry.run_errors import RunEnded, completed
from shared.workflow.labels import Flag

AGAIN = {Ending.TRANSIENT, Ending.OVERLOADED, Ending.USAGE_LIMIT, Ending.TIMED_OUT} | {
    Ending.KILLED,
    Ending.MALFORMED,
    Ending.EMPTY,
    Ending.UNKNOWN,
}
FLAGS = {Ending.MAX_TURNS: Flag.SPEC_REVIEW_NEEDED, Ending.MAX_BUDGET: Flag.BUDGET_EXCEEDED}


def test_a_completed_run_is_handed_on() -> None:
    outcome = RunOutcome(Ending.COMPLETED, "done")
    assert completed(outcome, "implement") is outcome


@pytest.mark.fault(24)
@pytest.mark.parametrize("ending", sorted(AGAIN))
def test_a_passing_failure_may_be_tried_again(ending: Ending) -> None:
    with pytest.raises(RunFailed, match=rf"^The run 'implement' ended as {ending}: 529 busy$"):
        completed(RunOutcome(ending, "529\nbusy"), "implement")


@pytest.mark.fault(24)
@pytest.mark.parametrize("ending", sorted(set(Ending) - AGAIN - {Ending.COMPLETED}))
def test_everything_else_goes_to_a_person_with_its_flag(ending: Ending) -> None:
    with pytest.raises(RunEnded, match=r"^The run 'implement' .*: why\.\.\.$") as raised:
        completed(RunOutcome(ending, "\x1b[31mwhy..."), "implement")
    assert raised.value.flags == (FLAGS.get(ending, Flag.MANUAL_INTERVENTION),)


def test_what_a_run_says_is_cut_to_one_line() -> None:
    with pytest.raises(RunFailed) as raised:
        completed(RunOutcome(Ending.KILLED, "long\n" * 9999), "plan")
    assert len(str(raised.value)) < 400
    assert "\n" not in str(raised.value)
    with pytest.raises(RunFailed, match=r"ended as killed\.$"):
        completed(RunOutcome(Ending.KILLED), "plan")
