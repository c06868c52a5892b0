"""The questions to the engine among comments, and the next step for each (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from planner_agent.assistant.register import Entry, State
from shared.commands.command import asks_a_question
from shared.commands.untrusted_comments import spoken
from shared.models import Comment

FRESH = timedelta(days=1)
"""Age of a question from which it is not answered any more, as after a holiday of the agents."""

CALL_SECONDS = 300.0
"""Seconds that one call may take; there are two at most."""

LOST = timedelta(minutes=15)
"""Age from which a question that was taken and not answered will not be answered: its calls have ended by then."""

TRIES = 2
"""Maximum number of paid attempts at one question."""


class Due(StrEnum):
    """Next step of a planner for a question."""

    ANSWER = "answer"
    WAIT = "wait"
    """Another planner is answering it, or was when it ended."""
    GIVE_UP = "give up"
    OVER = "over"


def questions(
    comments: Iterable[Comment], login: str, now: datetime, ours: Collection[int] = ()
) -> tuple[Comment, ...]:
    """Return the fresh questions to `login` among comments of people, oldest first; who may ask is not checked yet.

    `ours` are the engine's accounts, which ask nobody.
    """
    said = (one for one in spoken(comments) if one.author.id not in ours)
    asked = (one for one in said if asks_a_question(one, login) and now - one.created_at < FRESH)
    return tuple(sorted(asked, key=lambda one: one.id))


def due(comment: int, entries: Sequence[Entry], now: datetime) -> Due:
    """Return the next step for a question, according to the register."""
    earlier = [one for one in entries if one.comment == comment]
    if any(one.state is State.OVER for one in earlier):
        return Due.OVER
    if not earlier:
        return Due.ANSWER
    if now - earlier[-1].at < LOST:
        return Due.WAIT
    return Due.GIVE_UP if len(earlier) >= TRIES else Due.ANSWER
