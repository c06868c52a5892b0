"""Fence messages: what is written is read back; nothing in a field forges a trailer; foreign commits are none."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from fakes.lock_server import EPOCH
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, Wait, read_fence, write_fence
from shared.workflow import AGENTS, Role, Stage

STEADY = settings(deadline=None, max_examples=50)

KEY = ItemKey(Role.WORKER, 42)

times = st.integers(0, 10**9).map(lambda seconds: EPOCH + timedelta(seconds=seconds))
numbers = st.integers(1, 10**9)
hexes = st.text("0123456789abcdef", min_size=32, max_size=32)
keys = st.builds(ItemKey, st.sampled_from(sorted(AGENTS)), numbers)
words = st.from_regex(r"[A-Za-z0-9:;=./_@-]{0,12}( [A-Za-z0-9:;=./_@-]{1,12})?", fullmatch=True).map(str.strip)
oids = st.text("0123456789abcdef", min_size=40, max_size=40) | st.just("")
fences = st.builds(
    Fence,
    key=keys,
    ack_id=st.integers(1, 2**63),
    nonce=hexes,
    agent=st.from_regex(r"[a-z0-9-]{1,64}", fullmatch=True),
    stage=st.sampled_from(Stage),
    at=times,
    phase=words,
    base=oids,
    work_head=oids,
    pr=numbers | st.just(0),
    attempt=st.integers(0, 99),
    round=st.integers(0, 99),
    body_sha256=words,
    approved_by=words,
    wait=st.none() | st.builds(Wait, words, times),
    next_role=words,
    epoch=numbers,
    released=hexes | st.just(""),
    seen=numbers | st.just(0),
    seen_before=numbers | st.just(0),
    posted=st.integers(0, 2),
)


@STEADY
@given(fences, oids)
def test_a_fence_is_read_back_as_written(fence: Fence, oid: str) -> None:
    assert read_fence(fence.key, oid, write_fence(fence)) == replace(fence, oid=oid)


@STEADY
@given(
    st.sampled_from(["agent", "phase", "approved_by", "next_role", "nonce", "body_sha256", "base"]),
    st.text(max_size=20),
    st.sampled_from(["\n", "\r", "\r\n", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\n\n"]),
)
def test_no_field_can_forge_a_trailer(name: str, text: str, separator: str) -> None:
    fence = Fence(KEY, 7, "n" * 32, "worker-1", Stage.TESTING, EPOCH)
    planted = {name: f"x{text}{separator}Ack-Id: 9{separator}Stage: done{separator}Pr: 6"}
    read = read_fence(KEY, "", write_fence(replace(fence, **planted)))  # type: ignore[arg-type]
    assert read is not None
    assert replace(read, **{name: getattr(fence, name)}) == fence


def test_a_wait_cannot_forge_a_trailer_or_its_time() -> None:
    wait = Wait("ci; until=2031-01-01T00:00:00+00:00\nStage: done", EPOCH)
    read = read_fence(KEY, "", write_fence(Fence(KEY, 7, "n", "w", Stage.TESTING, EPOCH, wait=wait)))
    assert read is not None
    assert (read.stage, read.wait and read.wait.until) == (Stage.TESTING, EPOCH)


def test_times_are_written_in_utc_and_whole_seconds() -> None:
    local = EPOCH.astimezone(timezone(timedelta(hours=5))) + timedelta(milliseconds=900)
    assert "At: 2026-01-05T09:00:00+00:00\n" in write_fence(Fence(KEY, 7, "n", "w", Stage.TESTING, local))


def test_an_older_fence_is_read_and_written_as_it_was() -> None:
    """A tombstone on it changes its stage alone: the engines that made it can go on reading it."""
    fence = Fence(KEY, 7, "n" * 32, "w", Stage.TESTING, EPOCH, format=1)
    text = write_fence(fence)
    assert "Engine-Fence: 1\nAck-Id: 7\n" in text
    assert not {"Epoch: ", "Released: ", "Seen: ", "Posted: "} & {
        line[: line.find(" ") + 1] for line in text.split("\n")
    }
    assert read_fence(KEY, "", text) == fence
    assert not replace(fence, released=fence.nonce).free


def test_only_the_nonce_of_the_fence_itself_frees_it() -> None:
    fence = Fence(KEY, 7, "n" * 32, "w", Stage.TESTING, EPOCH)
    assert not fence.free
    assert not replace(fence, released="m" * 32).free
    assert replace(fence, released="n" * 32).free


def test_a_fence_begins_with_a_sentence_for_people() -> None:
    assert write_fence(Fence(KEY, 7, "n", "w", Stage.IMPLEMENTING, EPOCH)).startswith("worker #42 implementing\n\n")


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Merge branch 'main'\n",
        "worker #42 testing\n\nAck-Id: 7\n",
        "x\n\nEngine-Fence: 3\nAck-Id: 7\nNonce: n\nAgent: w\nStage: testing\nAt: 2026-01-05T09:00:00+00:00\n",
        "x\n\nEngine-Fence: 1\nNonce: n\nAgent: w\nStage: testing\nAt: 2026-01-05T09:00:00+00:00\n",
        "x\n\nEngine-Fence: 1\nAck-Id: 7\nNonce: n\nAgent: w\nStage: brewing\nAt: 2026-01-05T09:00:00+00:00\n",
        "x\n\nEngine-Fence: 1\nAck-Id: seven\nNonce: n\nAgent: w\nStage: testing\nAt: 2026-01-05T09:00:00+00:00\n",
        "x\n\nEngine-Fence: 1\nAck-Id: 7\nNonce: n\nAgent: w\nStage: testing\nAt: 2026-01-05T09:00:00\n",
        "x\n\nEngine-Fence: 1\nAck-Id: 7\nNonce: n\nAgent: w\nStage: testing\nAt: 2026-01-05T09:00:00Z\n"
        "Wait: a; until=b\n",
    ],
)
def test_a_foreign_commit_is_no_fence(message: str) -> None:
    assert read_fence(KEY, "0" * 40, message) is None


@STEADY
@given(st.text())
def test_reading_a_commit_message_never_raises(text: str) -> None:
    assert read_fence(KEY, "", f"Engine-Fence: 1\n{text}") is None
