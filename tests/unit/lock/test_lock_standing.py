"""A reader's conclusion about a lock: every row of the table, and the seconds at which it changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from fakes.lock_port import KEY
from fakes.lock_server import EPOCH

from shared.lock.claimant import LockTimes
from shared.lock.codec import Ack, AckState
from shared.lock.fence import Fence
from shared.lock.standing import Conclusion, Evidence, LockStanding, Question, Text, conclude
from shared.workflow import Stage

TERMS = LockTimes()
MINE, THEIRS, OLDER = "a" * 32, "b" * 32, "c" * 32
FENCE = Fence(KEY, 7, THEIRS, "worker-b", Stage.IMPLEMENTING, EPOCH, epoch=4)
ACK = Ack(KEY, "worker-b", 1, 0, THEIRS, 1800, id=7, updated_at=EPOCH, epoch=4)
ALONE = replace(ACK, shared=False, epoch=0)


def after(seconds: float, fence: Fence | None = FENCE) -> Evidence:
    """Return the evidence of a look that is so many seconds after the stamp of the fence."""
    return Evidence(fence, EPOCH + timedelta(seconds=seconds), lambda agent, nonce: (agent, nonce) == ("me", MINE))


def text(known: Evidence, ack: Ack | None, *, seconds: float = 0) -> Evidence:
    """Return evidence that the comment was read, and was edited so long after the stamp."""
    return replace(known, text=Text(EPOCH + timedelta(seconds=seconds), ack), asked_text=True)


def thread(known: Evidence, *acks: Ack) -> Evidence:
    return replace(known, acks=acks, asked_thread=True, asked_text=True)


def standing(known: Evidence) -> LockStanding | Question:
    found = conclude(known, TERMS)
    return found.standing if isinstance(found, Conclusion) else found


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        pytest.param(after(0, None), Question.THREAD, id="no fence"),
        pytest.param(thread(after(0, None)), LockStanding.FREE, id="no fence, no comment"),
        pytest.param(
            thread(after(1799, None), ACK), LockStanding.HELD, id="no fence, a live comment: the ref was deleted"
        ),
        pytest.param(thread(after(1800, None), ACK), LockStanding.FREE, id="no fence, an old comment"),
        pytest.param(thread(after(9, None), replace(ACK, state=AckState.DONE)), LockStanding.FREE, id="no fence, done"),
        pytest.param(
            thread(after(9, None), replace(ACK, agent="me", nonce=MINE)), LockStanding.OURS, id="no fence, ours"
        ),
        pytest.param(thread(after(9, None), ALONE), LockStanding.HELD, id="no fence, an older engine's live ACK"),
        pytest.param(after(9, replace(FENCE, released=THEIRS)), LockStanding.FREE, id="released"),
        pytest.param(after(9, replace(FENCE, released=OLDER)), LockStanding.HELD, id="another nonce was released"),
        pytest.param(after(9, replace(FENCE, agent="me", nonce=MINE)), LockStanding.OURS, id="our own nonce"),
        pytest.param(after(9, replace(FENCE, nonce=MINE)), LockStanding.HELD, id="our nonce in another agent's name"),
        pytest.param(after(1799), LockStanding.HELD, id="a fresh stamp"),
        pytest.param(after(1800), Question.COMMENT, id="an old stamp"),
        pytest.param(after(1800, replace(FENCE, ack_id=0)), Question.THREAD, id="an old stamp, nothing recorded"),
        pytest.param(after(2700), LockStanding.DEAD, id="a stamp that no live holder has"),
        pytest.param(text(after(1800), ACK, seconds=1), LockStanding.HELD, id="edited since"),
        pytest.param(text(after(1800), ACK), LockStanding.DEAD, id="not edited since"),
        pytest.param(text(after(1900), None, seconds=200), LockStanding.HELD, id="edited by anybody"),
        pytest.param(text(after(1900), replace(ACK, nonce=OLDER), seconds=200), LockStanding.HELD, id="any nonce"),
        pytest.param(
            text(after(1900), replace(ACK, state=AckState.RELEASED), seconds=200),
            LockStanding.HELD,
            id="released in the comment alone",
        ),
        pytest.param(
            text(after(1900), replace(ACK, epoch=5), seconds=200), LockStanding.HELD, id="the ref was put back"
        ),
        pytest.param(text(after(2001), replace(ACK, epoch=5), seconds=200), LockStanding.DEAD, id="put back, run out"),
        pytest.param(
            text(after(1900), replace(ACK, epoch=5, state=AckState.DONE), seconds=200),
            LockStanding.DEAD,
            id="put back, done",
        ),
        pytest.param(replace(after(1800), asked_text=True), Question.THREAD, id="the comment is gone"),
        pytest.param(thread(after(2699)), LockStanding.HELD, id="gone, and not in the thread"),
        pytest.param(thread(after(1801), replace(ACK, id=9)), LockStanding.DEAD, id="found by its nonce"),
        pytest.param(thread(after(2699), replace(ACK, nonce=OLDER)), LockStanding.HELD, id="another's comment"),
    ],
)
def test_the_table(known: Evidence, expected: LockStanding | Question) -> None:
    assert standing(known) is expected


OLD = replace(FENCE, format=1)


@pytest.mark.parametrize(
    ("acks", "seconds", "expected"),
    [
        ((ALONE,), 1799, LockStanding.HELD),
        ((ALONE,), 1800, LockStanding.DEAD),
        ((replace(ALONE, state=AckState.RELEASED),), 1, LockStanding.FREE),
        ((replace(ALONE, state=AckState.RELEASED, nonce=OLDER),), 1, LockStanding.HELD),
        ((replace(ALONE, state=AckState.RELEASED, nonce=OLDER),), 1800, LockStanding.DEAD),
        ((), 299, LockStanding.HELD),
        ((), 300, LockStanding.DEAD),
        ((replace(ALONE, state=AckState.RELEASED), replace(ALONE, id=8, prev=7, nonce=OLDER)), 9, LockStanding.HELD),
        ((replace(ALONE, state=AckState.RELEASED), replace(ALONE, id=8, prev=3, nonce=OLDER)), 9, LockStanding.FREE),
        ((replace(ALONE, agent="me", nonce=MINE),), 9, LockStanding.HELD),
    ],
)
def test_of_an_older_engine_its_acks_tell(acks: tuple[Ack, ...], seconds: float, expected: LockStanding) -> None:
    """The fence's own ACK frees only what carries the fence's nonce; a late word of another life frees nobody."""
    assert standing(after(seconds, OLD)) is Question.THREAD
    assert standing(thread(after(seconds, OLD), *acks)) is expected


def test_our_own_epoch_of_an_older_engine_is_gone_on_with() -> None:
    fence = replace(OLD, agent="me", nonce=MINE)
    own = replace(ALONE, agent="me", nonce=MINE)
    assert standing(thread(after(9, fence), own)) is LockStanding.OURS
    assert standing(thread(after(9, fence), replace(own, opaque=True))) is LockStanding.HELD


def test_the_highest_epoch_that_anybody_wrote_is_known() -> None:
    """A claim goes on from there, so that no epoch comes twice although a ref was deleted or put back."""
    gone = conclude(thread(after(9000, None), replace(ACK, epoch=9)), TERMS)
    back = conclude(text(after(2500), replace(ACK, epoch=9), seconds=200), TERMS)
    assert [one.epoch for one in (gone, back) if isinstance(one, Conclusion)] == [9, 9]


@pytest.mark.parametrize(
    "terms",
    [TERMS, LockTimes(90, 75, 30), LockTimes(1800, 400, 300), LockTimes(3600, 3000, 1200), LockTimes(3600, 600, 300)],
)
def test_a_live_holder_is_never_past_the_stamp_that_counts_as_dead(terms: LockTimes) -> None:
    oldest = terms.stamp + terms.heartbeat + terms.self_fence
    assert terms.stamp > 0
    assert oldest < terms.certain
