"""The questions to the engine among comments, their register, and the next step for each (pure).

The register's lines are `{"v": 1, "comment", "issue", "state", "agent", "run", "at"}`. One with the state `taken` is
there before the call is paid for, one with `over` after the reply was posted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from planner_agent import register
from planner_agent.register import Form
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


class State(StrEnum):
    """Progress of a question."""

    TAKEN = "taken"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Entry:
    """A question that a planner is about to answer, or that needs no answer any more.

    `comment` is the id of the comment that asks, `at` is server time, `run` unlike any other.
    """

    comment: int
    issue: int
    state: State
    agent: str
    run: str
    at: datetime


def write(entry: Entry) -> str:
    """Return the entry as one line."""
    fields = {"comment": entry.comment, "issue": entry.issue, "state": entry.state}
    return register.write(entry.agent, entry.run, entry.at, **fields)


def read(text: str) -> Entry | None:
    """Return the entry that a line spells; None for anything else."""
    return register.read(text, _entry)


def _entry(line: Mapping[str, Any], agent: str, run: str, at: datetime) -> Entry:
    return Entry(int(line["comment"]), int(line["issue"]), State(line["state"]), agent, run, at)


QUESTIONS = Form("refs/ack/assistant", write, read, "questions", "answers nothing")


def places(entries: Iterable[Entry], per_day: int, now: datetime) -> int:
    """Return how many calls may still be paid for, so that no 24 hours see more than `per_day`."""
    return register.places((one.at for one in entries if one.state is State.TAKEN), per_day, now)


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
