"""The first label of a start: what a person took off meanwhile ends it, our own earlier move does not."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from fakes.lock_server import BOT, EPOCH, Server
from fakes.unasked import UnaskedIssues, UnaskedLabels

from shared.github.errors import NotShown
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.lock.hold import Held
from shared.lock.write_permit import WritePermit
from shared.models import Account, Issue, LabelEvent
from shared.reconcile.start_label import StartLabel, in_doubt
from shared.workflow import Stage
from shared.workflow.labels import Labels

ADA = Account(BOT.id + 1, "ada")
READY, OURS = "status:ready", "status:implementing"
SEEN = Issue(42, "Search", "", frozenset({READY, "bug"}), ADA, EPOCH, EPOCH)


@dataclass
class Board(UnaskedIssues, UnaskedLabels):
    """The labels of one issue as they are, and what is asked of them."""

    labels: set[str]
    events: list[LabelEvent] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    async def add(self, number: int, names: Collection[str], permit: WritePermit) -> frozenset[str]:
        permit.check()
        self.asked.append("add")
        self.labels |= set(names)
        return frozenset(self.labels)

    async def exchange(
        self, number: int, on: str, off: str, permit: WritePermit
    ) -> tuple[frozenset[str], frozenset[str]]:
        labels = await self.add(number, [on], permit)
        return labels, labels

    async def remove(self, number: int, name: str, permit: WritePermit) -> None:
        permit.check()
        self.asked.append("remove")
        self.labels -= {name}

    async def label_events(self, number: int) -> tuple[LabelEvent, ...]:
        self.asked.append("events")
        return tuple(self.events)


@dataclass
class OneRequest(Board):
    """A board that sets a label and takes another off in one request."""

    async def exchange(
        self, number: int, on: str, off: str, permit: WritePermit
    ) -> tuple[frozenset[str], frozenset[str]]:
        permit.check()
        self.asked.append("exchange")
        self.labels |= {on}
        then = frozenset(self.labels)
        self.labels -= {off}
        return then, frozenset(self.labels)


async def begin(board: Board, held: Held, seen: Issue = SEEN) -> Issue | None:
    return await StartLabel(board, board, Labels()).label(held, seen, READY, Stage.IMPLEMENTING)


def event(held: Held, *, added: bool, by: Account, seconds: int, label: str = READY) -> LabelEvent:
    """Return an event so many seconds after the epoch began."""
    return LabelEvent(1, label, added, by, held.fence.at + timedelta(seconds=seconds))


async def test_a_start_that_is_still_asked_for_costs_one_request(held: Held) -> None:
    board = Board({READY, "bug", "urgent"})
    assert await begin(board, held) == replace(SEEN, labels=frozenset({READY, OURS, "bug", "urgent"}))
    assert board.asked == ["add"]


async def test_the_stage_that_asked_for_it_goes_with_the_same_request(held: Held) -> None:
    board = OneRequest({READY, "bug"})
    assert await begin(board, held) == replace(SEEN, labels=frozenset({OURS, "bug"}))
    assert board.asked == ["exchange"]


async def test_what_asks_for_a_start_and_is_no_stage_stays(held: Held) -> None:
    board = OneRequest({"story", "bug"})
    story = replace(SEEN, labels=frozenset({"story", "bug"}))
    begun = await StartLabel(board, board, Labels()).label(held, story, "story", Stage.PLANNING)
    assert begun == replace(story, labels=frozenset({"story", "bug", "status:planning"}))
    assert board.asked == ["add"]


async def test_one_request_too_ends_a_start_that_was_taken_back(held: Held) -> None:
    board = OneRequest({"bug", "blocked"}, [event(held, added=False, by=ADA, seconds=1)])
    assert await begin(board, held) is None
    assert board.labels == {"bug", "blocked"}
    assert board.asked == ["exchange", "events", "remove"]


@pytest.mark.fault(17)
@pytest.mark.parametrize(
    ("by", "seconds"),
    [(ADA, 1), (ADA, -60), (BOT, 1)],
    ids=["a person", "a person, before the claim", "the account's owner, after the claim"],
)
async def test_what_was_taken_off_meanwhile_ends_the_start_and_our_label_goes(
    held: Held, by: Account, seconds: int
) -> None:
    board = Board({"bug", "blocked"})
    board.events = [event(held, added=False, by=by, seconds=seconds)]
    assert await begin(board, held) is None
    assert board.labels == {"bug", "blocked"}
    assert board.asked == ["add", "events", "remove"]


@pytest.mark.parametrize("events", [False, True])
@pytest.mark.parametrize("by", [ADA, BOT, None], ids=["a person", "our own move before this epoch", "nobody knows"])
async def test_events_that_lag_are_asked_again_before_the_doubt_counts_for_the_person(
    held: Held, server: Server, events: bool, by: Account | None
) -> None:
    board = OneRequest({"bug"})
    board.events = [event(held, added=True, by=ADA, seconds=-80)] if events else []
    beginning = StartLabel(board, board, Labels())
    with pytest.raises(NotShown, match="who took 'status:ready' off #42"):
        await beginning.label(held, SEEN, READY, Stage.IMPLEMENTING)
    assert in_doubt(held)
    server.seconds += 5 if by else PATIENCE_SECONDS
    if by is not None:
        board.events.append(event(held, added=False, by=by, seconds=-1))
    now = replace(SEEN, labels=frozenset(board.labels))
    begun = await beginning.label(held, now, READY, Stage.IMPLEMENTING)
    assert begun == (now if by == BOT else None)
    assert board.labels == ({"bug", OURS} if by == BOT else {"bug"})
    assert not in_doubt(held)


async def test_whoever_asks_again_while_it_is_in_doubt_has_it_begun(held: Held) -> None:
    board = OneRequest({"bug"})
    beginning = StartLabel(board, board, Labels())
    with pytest.raises(NotShown):
        await beginning.label(held, SEEN, READY, Stage.IMPLEMENTING)
    board.labels |= {READY}
    now = replace(SEEN, labels=frozenset(board.labels))
    assert await beginning.label(held, now, READY, Stage.IMPLEMENTING) is not None
    assert board.labels == {"bug", OURS}
    assert not in_doubt(held)


async def test_our_own_move_before_this_epoch_is_no_order(held: Held) -> None:
    board = Board({"bug", OURS})
    board.events = [
        event(held, added=False, by=ADA, seconds=-90),
        event(held, added=True, by=ADA, seconds=-80),
        event(held, added=False, by=BOT, seconds=-60),
        event(held, added=False, by=ADA, seconds=5, label="other"),
    ]
    assert await begin(board, held) == replace(SEEN, labels=frozenset({OURS, "bug"}))
    assert "remove" not in board.asked


async def test_what_this_lease_has_begun_is_not_asked_about_again(held: Held) -> None:
    board = Board({READY, "bug"})
    beginning = StartLabel(board, board, Labels())
    assert await beginning.label(held, SEEN, READY, Stage.IMPLEMENTING) is not None
    board.labels -= {READY}  # as we do next; the reading that follows lags
    assert await beginning.label(held, SEEN, READY, Stage.IMPLEMENTING) == SEEN
    assert board.asked == ["add"]


@pytest.mark.parametrize("labels", [{"bug"}, {READY, OURS}, {OURS}, {"STATUS:Ready", "Status:Implementing"}])
async def test_what_does_not_begin_is_left_to_others(held: Held, labels: set[str]) -> None:
    board = Board(set())
    seen = replace(SEEN, labels=frozenset(labels))
    assert await begin(board, held, seen) is seen
    assert board.asked == []
