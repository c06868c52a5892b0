"""Judging whether people were obeyed: what they order ends the work within a heartbeat, and no edit is written over."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .github import PERSON, is_engine
from .journal import Hold
from .worlds import REQUEST_SECONDS, World

if TYPE_CHECKING:
    from .schedule import Schedule

HEARTBEAT = 300.0


def wishes(schedule: Schedule, world: World) -> Iterator[str]:
    """What a person ordered is obeyed within a heartbeat, by whoever could have seen it; no edit is written over."""
    journal = schedule.journal
    reach = HEARTBEAT + 2 * REQUEST_SECONDS + world.lag + world.commit
    for at, what, comment in journal.acts:
        for hold in journal.holds:
            touched = what.startswith("ACK ") and hold.ack_id == comment
            stopped = what in {"withdrawn by a person", "closed by a person"} and hold.ref.startswith("refs/ack/worker")
            if not (touched or stopped) or hold.begun > at or (stopped and _crossed(schedule, world, hold, at)):
                continue
            if touched and _unseen(schedule, world, comment, at):
                continue
            for effect in journal.effects:
                late = effect.sender == hold.sender and effect.nonce == hold.nonce and effect.at > at + reach
                if late and not _asked_since(schedule, at, effect.at) and not _hindered(schedule, hold, at, effect.at):
                    yield f"{hold.agent} writes ({effect.what}) {effect.at - at:.0f} s after: {what}"
    yield from _overwritten(schedule, world)


def _unseen(schedule: Schedule, world: World, comment: int, at: float) -> bool:
    """Whether a heartbeat wrote over a person's edit before any reading could show it; no edit is conditional."""
    until = at + world.lag + world.commit + 2 * REQUEST_SECONDS
    return any(is_engine(text.author) and at < text.at <= until for text in schedule.github.authors[comment])


def _crossed(schedule: Schedule, world: World, hold: Hold, at: float) -> bool:
    """Whether the agent was moving the labels at that moment: its new label hides that the old one was taken."""
    until = at + world.lag + world.commit + 2
    return any(
        e.what == "label" and e.sender == hold.sender and at - 2 <= e.at <= until for e in schedule.journal.effects
    )


def _asked_since(schedule: Schedule, at: float, until: float) -> bool:
    return any(at <= act <= until and what == "asked again by a person" for act, what, _ in schedule.journal.acts)


def _hindered(schedule: Schedule, hold: Hold, at: float, until: float) -> bool:
    return _between(schedule.journal.troubled.get(hold.sender, ()), at - HEARTBEAT, until)


def _between(moments: Iterable[float], first: float, last: float) -> bool:
    return any(first <= moment <= last for moment in moments)


def _overwritten(schedule: Schedule, world: World) -> Iterator[str]:
    for id, texts in schedule.github.authors.items():
        for one, after in itertools.pairwise(texts):
            seen = one.at + world.lag + world.commit + 2 * REQUEST_SECONDS
            beats = after.body.split("nonce=")[1][:32] in one.body if "state=active" in after.body else False
            unhindered = not any(_between(times, one.at, after.sent_at) for times in schedule.journal.troubled.values())
            if one.author == PERSON and is_engine(after.author) and after.sent_at > seen and beats and unhindered:
                yield f"a person's edit of comment {id} was written over {after.sent_at - one.at:.0f} s later"
