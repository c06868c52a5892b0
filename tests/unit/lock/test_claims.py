"""Effects of a wait in the fence and of a lack of budget on a claim: which items are skipped, and which are claimed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fakes.lock_port import FakeNonces

from shared.budget.budgets import Shortage
from shared.lock.claim import Intent
from shared.lock.claimant import Claimant
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, Wait
from shared.lock.port import ReadFence, Reply
from shared.lock.standing import LockStanding
from shared.lock.view import LockView
from shared.loop.claims import OLD_LOOK_SECONDS, PACED_SECONDS, PATIENT_SECONDS, SHORT_SECONDS, Claims
from shared.scheduling.agent_contract import Skip
from shared.text.comment_signatures import Keyring
from shared.workflow import Role, Stage

AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
LATER = AT + timedelta(hours=20)
KEY = ItemKey(Role.WORKER, 42)
EMPTY, FOR_EVER = Shortage("no money", LATER), Shortage("no money for it", None)
IMPLEMENTING, TESTING = Stage.IMPLEMENTING, Stage.TESTING


class Begun(Exception):
    """The claim went as far as the lock."""


class Port:
    """A lock that only notes that somebody came."""

    def boot(self) -> float:
        raise Begun


class Purse:
    """One that always says the same."""

    def __init__(self, says: Shortage | None) -> None:
        self.says = says

    async def shortage(self, number: int) -> Shortage | None:
        assert number == 42
        return self.says


async def claimed(fence: Fence | None, intent: Intent, says: Shortage | None) -> Skip | None:
    """Return the reason why an item is skipped; None if it is claimed."""
    port: Any = Port()
    nonces: Any = None
    claimant = Claimant("worker-1", frozenset(), Keyring(1), nonces)
    view = LockView(KEY, fence, LockStanding.FREE, "", AT, 0.0)
    try:
        left = await Claims(Role.WORKER, port, claimant, Purse(says)).prepare(view, intent)
        if not isinstance(left, Skip):
            await left()
    except Begun:
        return None
    assert isinstance(left, Skip)
    return left


def waiting(reason: str, stage: Stage = IMPLEMENTING, *, seconds: float = 3600) -> Fence:
    """Return a fence that was parked `seconds` ago."""
    at = AT - timedelta(seconds=seconds)
    return Fence(KEY, 7, "a" * 32, "worker-1", stage, at, phase="green", wait=Wait(reason, LATER))


@pytest.mark.parametrize(
    ("fence", "says", "left"),
    [
        (waiting("usage-limit"), None, "waits until 2026-11-23 08:00:00 UTC: usage-limit"),
        (waiting("budget"), None, None),
        (waiting("budget"), EMPTY, "no money"),
        (waiting("budget", TESTING), None, None),
        (waiting("budget", TESTING), EMPTY, "no money"),
        (replace(waiting("", TESTING), wait=None), EMPTY, None),
        (replace(waiting(""), wait=None), EMPTY, "no money"),
        (replace(waiting(""), wait=None), FOR_EVER, None),
        (waiting("budget"), FOR_EVER, None),
        (waiting("budget", seconds=SHORT_SECONDS - 1), FOR_EVER, "no money for it"),
    ],
)
async def test_a_wait_for_money_lasts_as_long_as_there_is_none_and_others_until_their_time(
    fence: Fence, says: Shortage | None, left: str | None
) -> None:
    found = await claimed(fence, Intent(fence.stage, "green"), says)
    assert (found.reason if found else None) == left


async def test_a_new_order_does_not_wait() -> None:
    assert await claimed(waiting("usage-limit"), Intent(IMPLEMENTING, "green", attempt=2), None) is None


class Seen(Exception):
    """The look went as far as the lock."""


class Reader(Port):
    """A lock that only notes that somebody looks."""

    def boot(self) -> float:
        return 0.0

    async def request(self, operation: object) -> None:
        raise Seen


@pytest.mark.parametrize(("delay", "seconds"), [(PATIENT_SECONDS, None), (60.0, 60.0), (3000.0, PACED_SECONDS)])
async def test_nothing_is_begun_that_would_wait_long_for_its_turn_to_write(delay: float, seconds: float | None) -> None:
    port: Any = Reader()
    nonces: Any = None
    claims = Claims(Role.WORKER, port, Claimant("worker-1", frozenset(), Keyring(1), nonces, delay=lambda: delay))
    if seconds is None:
        with pytest.raises(Seen):
            await claims.look(42)
        return
    left = await claims.look(42)
    assert isinstance(left, Skip)
    assert (left.seconds, left.failed) == (seconds, False)
    assert "limits on writes" in left.reason


class Slow:
    """A lock whose fence is as `now_at` says when it is read again; whoever moves it has begun."""

    def __init__(self, now_at: str, seconds: float) -> None:
        self.now_at, self.seconds, self.reads = now_at, seconds, 0

    def boot(self) -> float:
        return self.seconds

    async def request(self, operation: object) -> Reply[Any]:
        if not isinstance(operation, ReadFence):
            raise Begun
        self.reads += 1
        return Reply(replace(waiting(""), wait=None, oid=self.now_at) if self.now_at else None, AT)


@pytest.mark.parametrize(
    ("seen", "now_at", "seconds", "reads", "begun"),
    [
        ("a", "b", OLD_LOOK_SECONDS - 1, 0, True),
        ("a", "a", OLD_LOOK_SECONDS, 1, True),
        ("a", "b", OLD_LOOK_SECONDS, 1, False),
        ("a", "", OLD_LOOK_SECONDS, 1, False),
        ("", "b", OLD_LOOK_SECONDS, 1, False),
        ("", "", OLD_LOOK_SECONDS, 1, True),
    ],
    ids=["young", "as it was", "moved", "deleted", "created", "none"],
)
async def test_what_another_has_claimed_since_an_old_look_is_not_tried(
    seen: str, now_at: str, seconds: float, reads: int, begun: bool
) -> None:
    port: Any = Slow(now_at, seconds)
    claimant = Claimant("worker-1", frozenset(), Keyring(1), FakeNonces("a"))
    fence = replace(waiting(""), wait=None, oid=seen) if seen else None
    claims = Claims(Role.WORKER, port, claimant)
    view = LockView(KEY, fence, LockStanding.FREE, "", AT, 0.0)
    trial = await claims.prepare(view, Intent(IMPLEMENTING, "green"))
    assert not isinstance(trial, Skip)
    if begun:
        with pytest.raises(Begun):
            await trial()
    else:
        skip = await trial()
        assert isinstance(skip, Skip)
        assert skip.is_lost, "it shows that agents meet"
    assert port.reads == reads
