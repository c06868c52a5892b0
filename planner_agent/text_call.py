"""Paid calls of the planner that get text and no tree, beside its plans: within narrow limits, corrected once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from planner_agent.plan import as_text
from shared.llm.port import Coder, CoderCall, Ending, Request, RunLimits, RunOutcome
from shared.llm.role_router import RoleOverride, lowered
from shared.retry.answer_retry import AnswerUnusable, ask_with_retry
from shared.retry.run_errors import completed
from shared.text.prompts import Prompts

T = TypeVar("T")

PROMPTS = Prompts(Path(__file__).with_name("prompts"))


def narrowed(limits: RunLimits, deadline_seconds: float) -> RunLimits:
    """Return the limits of such a call; its correction may take as much again."""
    return lowered(limits, RoleOverride(max_turns=5, budget_usd=0.5, deadline_seconds=deadline_seconds))


class AnswerHidden(AnswerUnusable):
    """Neither the answer nor its correction can be used. They are not shown: a stranger's text shaped them."""

    diagnosable = False


async def ask(
    coder: Coder, request: Request, prompt: Callable[[str], str], read: Callable[[str], T], sentence: str
) -> T:
    """Return what `read` makes of the text of an answer; see `ask_with_retry`.

    Raises `AnswerHidden`, `RunFailed`, `RunEnded`.
    """
    try:
        return await ask_with_retry(coder, request, prompt, lambda run: read(answer_text(run, request.call)), sentence)
    except AnswerUnusable as error:
        raise AnswerHidden(str(error), (), "") from error


def answer_text(outcome: RunOutcome, call: CoderCall) -> str:
    """Return the answer as text; one that the backend itself could not parse is an answer, too."""
    if outcome.ending is Ending.MALFORMED:
        return outcome.text
    done = completed(outcome, call)
    return done.text if done.answer is None else as_text(done.answer)
