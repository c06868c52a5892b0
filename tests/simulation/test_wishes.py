"""The check of people's orders: a write that was carried out late excuses only who could not have known."""

from __future__ import annotations

import pytest

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.workflow import Role, Stage

from .epochs import Lines, Move
from .github import BOT, EPOCH, PERSON
from .journal import Effect, Hold, Seen
from .records import Item, Push, Versions
from .rules import ISSUE
from .schedule import Schedule
from .wishes import wishes
from .worlds import CALM

KEY = ItemKey(Role.WORKER, ISSUE)
SENDER, OTHER = 1, 2
ORDERED, SHOWN, REACH, WRITES = 1000.0, 1021.3, 1321.3, 2000.0
"""Times of the order, of the first write that must rest on it, of the deadline for knowing it, and of the write."""

CASES = [
    ("never", 0.0, None, True),
    ("sent long before", 500.0, None, False),
    ("sent before it had to be known", SHOWN - 1, None, False),
    ("sent although it had to be known", SHOWN + 1, None, True),
    ("read before that", 500.0, (SENDER, 1099.0), True),
    ("read by somebody else", 500.0, (OTHER, 1099.0), False),
    ("read too late", 500.0, (SENDER, 1101.0), False),
]
"""Kind of the late write, when it was sent, who has read the order and when, and whether the holder is to blame.

It is carried out at 1100 s.
"""


def at(schedule: Schedule, now: float, sent_at: float) -> None:
    schedule.github.now, schedule.github.sent_at = now, sent_at


def held(order: str) -> tuple[Schedule, int]:
    """Return a schedule in which a worker holds the issue, is given an order, and writes a thousand seconds later."""
    schedule = Schedule(CALM, 0)
    schedule.github.items[ISSUE] = Versions(Item(frozenset(), True))
    schedule.github.add_label(ISSUE, str(Stage.IMPLEMENTING))
    comment = schedule.github.post(ISSUE, "at work").id
    schedule.journal.holds.append(Hold(KEY.ref, SENDER, "worker-0", comment, "n", 5.0))
    schedule.journal.acts.append((ORDERED, order, comment if order.startswith("ACK") else 0))
    schedule.journal.effects.append(Effect(WRITES, SENDER, "push", "n"))
    at(schedule, ORDERED, ORDERED)
    return schedule, comment


def lines(stage: Stage = Stage.IMPLEMENTING) -> Lines:
    fence = Fence(KEY, 0, "n", "worker-0", stage, EPOCH)
    return {KEY.ref: [Move(Push(5.0, KEY.ref, "o", None, (), "", (), SENDER, 5.0), fence, None)]}


def blamed(schedule: Schedule, stage: Stage = Stage.IMPLEMENTING) -> bool:
    return bool(list(wishes(schedule, CALM, lines(stage))))


@pytest.mark.parametrize(("sent", "read", "to_blame"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_an_edit_that_was_taken_back(sent: float, read: tuple[int, float] | None, to_blame: bool) -> None:
    schedule, comment = held("ACK edited by a person")
    edited = schedule.github.edit(comment, "Thanks!", PERSON)
    if read:
        schedule.journal.seen.append(Seen(read[1], read[1], read[0], "reads comment", comment, edited))
    if sent:
        at(schedule, 1100.0, sent)
        schedule.github.edit(comment, "at work", BOT)
    assert blamed(schedule) is to_blame


@pytest.mark.parametrize(("sent", "read", "to_blame"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_withdrawal_that_was_taken_back(sent: float, read: tuple[int, float] | None, to_blame: bool) -> None:
    schedule, _ = held("withdrawn by a person")
    schedule.github.remove_label(ISSUE, str(Stage.IMPLEMENTING), PERSON)
    if read:
        bare = schedule.github.items[ISSUE].now
        schedule.journal.seen.append(Seen(read[1], read[1], read[0], "reads item", ISSUE, bare))
    if sent:
        at(schedule, 1100.0, sent)
        schedule.github.add_label(ISSUE, str(Stage.IMPLEMENTING), BOT)
    assert blamed(schedule) is to_blame


@pytest.mark.parametrize("order", ["ACK edited by a person", "withdrawn by a person"])
def test_what_is_taken_back_after_it_had_to_be_known_excuses_nobody(order: str) -> None:
    schedule, comment = held(order)
    schedule.github.edit(comment, "Thanks!", PERSON)
    schedule.github.remove_label(ISSUE, str(Stage.IMPLEMENTING), PERSON)
    at(schedule, REACH + 1, 500.0)
    schedule.github.edit(comment, "at work", BOT)
    schedule.github.add_label(ISSUE, str(Stage.IMPLEMENTING), BOT)
    assert blamed(schedule)


def test_a_label_that_the_fence_does_not_explain_hides_no_withdrawal() -> None:
    schedule, _ = held("withdrawn by a person")
    schedule.github.remove_label(ISSUE, str(Stage.IMPLEMENTING), PERSON)
    at(schedule, 1100.0, 500.0)
    schedule.github.add_label(ISSUE, str(Stage.IMPLEMENTING), BOT)
    assert not blamed(schedule)
    assert blamed(schedule, Stage.REVIEWING)


def test_no_label_hides_that_an_issue_was_closed() -> None:
    schedule, _ = held("closed by a person")
    at(schedule, ORDERED + 1, ORDERED)
    schedule.github.add_label(ISSUE, str(Stage.TESTING), BOT)
    assert blamed(schedule)
