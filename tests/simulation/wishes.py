"""Judgement of obedience: a person's order ends the work within a heartbeat, and no edit is written over."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from shared.models import Comment

from .epochs import Lines, Move
from .github import PERSON, is_engine
from .journal import Hold, Seen
from .records import Item, LabelChange, Text
from .rules import ISSUE, by_person, expected_labels, is_odd, stages_of
from .threads import key_that_signed
from .worlds import REQUEST_SECONDS, World

if TYPE_CHECKING:
    from .schedule import Schedule

HEARTBEAT = 300.0


def wishes(schedule: Schedule, world: World, lines: Lines) -> Iterator[str]:
    """Yield each write later than a heartbeat after an order that its holder could see, and each overwritten edit."""
    journal = schedule.journal
    for at, what, comment in journal.acts:
        for hold in journal.holds:
            touched = what.startswith("ACK ") and hold.ack_id == comment
            stopped = what in {"withdrawn by a person", "closed by a person"} and hold.ref.startswith("refs/ack/worker")
            if not (touched or stopped) or hold.begun > at:
                continue
            order = _order(schedule, lines, hold, (at, what, comment))
            if _taken_back(schedule, world, hold, order):
                continue
            for effect in journal.effects:
                mine = effect.sender == hold.sender and effect.nonce == hold.nonce
                late = mine and effect.at > at + _reach(world)
                if late and not _asked_since(schedule, at, effect.at) and not _hindered(schedule, hold, at, effect.at):
                    yield f"{hold.agent} writes ({effect.what}) {effect.at - at:.0f} s after: {what}"
    yield from _overwritten(schedule, world)


def _shown(world: World) -> float:
    """Return the seconds after an order from which a write rests on readings that show it."""
    return world.lag + world.commit + 2 * REQUEST_SECONDS


def _reach(world: World) -> float:
    """Return the seconds after an order within which the holder has to have read it."""
    return HEARTBEAT + _shown(world)


@dataclass(frozen=True, slots=True)
class Order:
    """A person's order: when it was given, and which answers show it.

    `hiding` are the writes of engines that may have taken it back: when each was carried out, and when it was sent.
    """

    at: float
    is_shown_by: Callable[[Seen], bool]
    hiding: Sequence[tuple[float, float]]


def _order(schedule: Schedule, lines: Lines, hold: Hold, act: tuple[float, str, int]) -> Order:
    at, what, comment = act
    if what == "ACK edited by a person":
        texts = schedule.github.authors[comment]
        body = next(text.body for text in texts if text.author == PERSON and text.at == at)
        hiding = [(text.at, text.sent_at) for text in texts if is_engine(text.author)]
        return Order(at, partial(_shows_text, comment, body), hiding)
    if what == "withdrawn by a person":
        changes = schedule.github.timelines[ISSUE]
        hiding = [(one.at, one.sent_at) for one in changes if not by_person(one) and _fits(one, lines[hold.ref])]
        return Order(at, _shows_no_stage, hiding)
    return Order(at, lambda seen: False, ())  # no write opens an issue again, or brings a comment back


def _shows_text(comment: int, body: str, seen: Seen) -> bool:
    read = seen.value if seen.name == "reads comment" and seen.detail == comment else None
    return isinstance(read, Comment) and read.body == body


def _shows_no_stage(seen: Seen) -> bool:
    read = seen.value if seen.name == "reads item" and seen.detail == ISSUE else None
    return isinstance(read, Item) and not stages_of(read.labels)


def _fits(change: LabelChange, line: Sequence[Move]) -> bool:
    """Return whether the fence of that moment explains an added label: no order can be seen in it."""
    fence = next((move.fence for move in reversed(line) if move.push.at <= change.at), None)
    shown = expected_labels(fence).issue if fence is not None else None
    return change.added and shown is not None and not is_odd(frozenset({change.label}), shown)


def _taken_back(schedule: Schedule, world: World, hold: Hold, order: Order) -> bool:
    """Return whether an engine's write took an order back before its holder knew of it: no later answer shows it.

    No edit and no label is conditional, and GitHub may carry one out long after it was sent. It excuses the holder when
    it was sent before a reading had to show the order, when it was carried out before the holder had to have read, and
    when no answer that the holder had heard by then showed the order.
    """
    answers = (seen for seen in schedule.journal.seen if seen.sender == hold.sender and seen.heard > order.at)
    knew_at = next((seen.heard for seen in answers if order.is_shown_by(seen)), float("inf"))
    until = min(order.at + _reach(world), knew_at)
    return any(order.at < at <= until and sent_at <= order.at + _shown(world) for at, sent_at in order.hiding)


def _asked_since(schedule: Schedule, at: float, until: float) -> bool:
    return any(at <= act <= until and what == "asked again by a person" for act, what, _ in schedule.journal.acts)


def _hindered(schedule: Schedule, hold: Hold, at: float, until: float) -> bool:
    return _between(schedule.journal.troubled.get(hold.sender, ()), at - HEARTBEAT, until)


def _between(moments: Iterable[float], first: float, last: float) -> bool:
    return any(first <= moment <= last for moment in moments)


def _overwritten(schedule: Schedule, world: World) -> Iterator[str]:
    for id, texts in schedule.github.authors.items():
        for one, after in itertools.pairwise(texts):
            seen = one.at + _shown(world)
            beats = after.body.split("nonce=")[1][:32] in one.body if "state=active" in after.body else False
            unhindered = not any(_between(times, one.at, after.sent_at) for times in schedule.journal.troubled.values())
            by_other = one.author == PERSON or _is_unknown(schedule, one, after)
            if by_other and is_engine(after.author) and after.sent_at > seen and beats and unhindered:
                who = "a person's edit" if one.author == PERSON else "a text of an unknown key"
                yield f"{who} in comment {id} was written over {after.sent_at - one.at:.0f} s later"


def _is_unknown(schedule: Schedule, one: Text, after: Text) -> bool:
    """Return whether the author of the text after it does not have the key that signed a text."""
    writer, key = schedule.journal.identities.get(after.sender), key_that_signed(one)
    return writer is not None and bool(key) and key not in {known.id for known in writer.keys.keys}
