"""Errors for a paid run that did not complete: one to be retried, or one that needs a person (pure)."""

from __future__ import annotations

from shared.errors import Blocked, RunFailed
from shared.llm.port import Ending, RunOutcome
from shared.retry.failures import FINAL, Category, classify
from shared.text import one_line
from shared.workflow.labels import Flag

FLAGS = {Category.TURNS: Flag.SPEC_REVIEW_NEEDED, Category.RUN_BUDGET: Flag.BUDGET_EXCEEDED}
"""Flag labels by category; every other category gets `manual-intervention`."""

_WHAT = {
    Ending.MAX_TURNS: "used up its turns",
    Ending.MAX_BUDGET: "used up its budget",
    **dict.fromkeys((Ending.AUTH, Ending.BILLING, Ending.CONFIG), "cannot be made until a person has seen to it"),
}


class RunEnded(Blocked):
    """A paid run ended in a way that repeating it would not change, or was repeated often enough."""

    def __init__(self, message: str, category: Category = Category.UNKNOWN, advice: str = "") -> None:
        """`advice` is what a person can do about this category, in one sentence."""
        super().__init__(message)
        self.category = category
        self.advice = advice
        self.flags: tuple[Flag, ...] = (FLAGS.get(category, Flag.MANUAL_INTERVENTION),)


def completed(outcome: RunOutcome, task: str) -> RunOutcome:
    """Return `outcome` if it completed; otherwise raise `RunFailed` (may be repeated) or `RunEnded` (for a person)."""
    if outcome.ending is Ending.COMPLETED:
        return outcome
    category, sentence = classify(outcome), _sentence(outcome, task)
    if category in FINAL:
        raise RunEnded(sentence, category, advice(category, outcome.ending))
    raise RunFailed(sentence, category=category, reset=outcome.retry_at)


def used_up(error: RunFailed, attempts: int) -> Blocked:
    """Return the error for a person to see after `attempts` failed runs: `error.final` if set, else a `RunEnded`."""
    if error.final is not None:
        return error.final
    category = Category(error.category)
    times = "once" if attempts == 1 else f"{attempts} times"
    ended = RunEnded(f"{error} It failed {times} without anything achieved in between.", category, advice(category))
    ended.kept = error.kept
    return ended


def advice(category: Category, ending: Ending | None = None) -> str:
    """Return one sentence that tells a person how to deal with a failure of this category."""
    match category, ending:
        case Category.TURNS, _:
            return (
                "Make the specification smaller or clearer, or raise `max_turns` (of CI repairs: in `roles.debugger`)."
            )
        case Category.RUN_BUDGET, _:
            return "Make the specification smaller, or raise `budgets.run` (of CI repairs: `roles.debugger.budget`)."
        case _, Ending.AUTH:
            return "Check the coding backend's key or login on the agent's machine."
        case _, Ending.BILLING:
            return "Check the balance of the coding backend's account."
        case _, Ending.CONFIG:
            return "Run `workflow-engine doctor` on the agent's machine."
        case _, Ending.REFUSED:
            return "The model declines this text: word the specification differently."
        case Category.LASTING, _:
            return "The same call would fail again: look at the agent's log for its output."
        case Category.TIMEOUT, _:
            return "Check the network to the coding backend, or raise `run_timeout_minutes`."
        case _:
            return "Look at the coding backend's status page and the agent's log."


def _sentence(outcome: RunOutcome, task: str) -> str:
    said = one_line(outcome.text, 300)
    how = _WHAT.get(outcome.ending, f"ended as {outcome.ending}")
    if outcome.ending in {Ending.AUTH, Ending.BILLING, Ending.CONFIG}:
        how = f"{how} ({outcome.ending})"
    return f"The run '{task}' {how}{f': {said}' if said else '.'}"
