"""A program's report of its run against the proxy's measurements: a tool of the run may have written the report."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from shared.llm.endpoint import BROKEN, METERED, MeasuredRun, judged
from shared.llm.port import Ending, RunOutcome, Usage

SEEN = Usage(input_tokens=10, output_tokens=5, model="m", cost_usd=1.25, cost_source=METERED)
FAR = datetime(9999, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("told", [0.0, 400.0, float("nan"), float("inf"), -3.0, None])
def test_a_run_has_cost_what_the_proxy_has_counted(told: float | None) -> None:
    outcome = RunOutcome(Ending.COMPLETED, "Done.", usage=Usage(cost_usd=told, cost_source="claude"))
    assert judged(outcome, MeasuredRun(SEEN, requests=1)).usage == SEEN


def test_a_cost_that_the_proxy_does_not_know_is_not_made_known_by_the_program() -> None:
    outcome = RunOutcome(Ending.COMPLETED, "Done.", usage=Usage(cost_usd=0.01, cost_source="claude"))
    found = judged(outcome, MeasuredRun(Usage(model="new"), requests=1))
    assert (found.usage.cost_usd, found.usage.cost_source) == (None, "unknown")


@pytest.mark.parametrize(
    ("ending", "answers"),
    [
        (Ending.AUTH, {401}),
        (Ending.AUTH, {400}),
        (Ending.AUTH, {BROKEN}),
        (Ending.BILLING, {402}),
        (Ending.USAGE_LIMIT, {429}),
        (Ending.OVERLOADED, {529, 500}),
    ],
)
def test_what_concerns_every_item_is_believed_where_the_vendor_has_said_it(ending: Ending, answers: set[int]) -> None:
    outcome = RunOutcome(ending, "no", retry_at=FAR)
    assert judged(outcome, MeasuredRun(SEEN, answers=frozenset(answers))).ending is ending
    for nothing in (frozenset(), frozenset({500})):
        found = judged(outcome, MeasuredRun(SEEN, answers=nothing))
        assert (found.ending, found.retry_at) == (Ending.UNKNOWN, None)


@pytest.mark.parametrize("ending", [Ending.OVERLOADED, Ending.TRANSIENT, Ending.TIMED_OUT])
def test_a_wait_that_the_vendor_has_named_is_a_limit_whatever_the_program_calls_it(ending: Ending) -> None:
    seen = MeasuredRun(SEEN, answers=frozenset({503}), retry_at=FAR)
    found = judged(RunOutcome(ending, "high demand"), seen)
    assert (found.ending, found.retry_at) == (Ending.USAGE_LIMIT, FAR)
    over = judged(RunOutcome(ending, "high demand"), MeasuredRun(SEEN, answers=frozenset({503})))
    assert (over.ending, over.retry_at) == (ending, None)


def test_a_request_that_was_refused_here_before_any_other_is_told_as_such() -> None:
    why = "The model 'new' is neither configured nor priced: name its price under `prices`."
    found = judged(RunOutcome(Ending.PERSISTENT, "API Error: 400"), MeasuredRun(Usage(cost_usd=0.0), barred=why))
    assert (found.ending, why in found.text) == (Ending.CONFIG, True)
    kept = judged(RunOutcome(Ending.COMPLETED, "Done."), MeasuredRun(SEEN, requests=1, barred=why))
    assert kept.ending is Ending.COMPLETED


@pytest.mark.parametrize(("cut_off", "ending"), [(True, Ending.TRANSIENT), (False, Ending.MAX_BUDGET)])
def test_a_budget_that_only_broken_answers_can_have_used_up_is_the_vendor_s_trouble(
    cut_off: bool, ending: Ending
) -> None:
    seen = MeasuredRun(SEEN, requests=2, refused=True, cut_off=cut_off)
    assert judged(RunOutcome(Ending.PERSISTENT, "API Error: 400"), seen).ending is ending
    assert judged(RunOutcome(Ending.COMPLETED, "Done."), seen).ending is Ending.COMPLETED
