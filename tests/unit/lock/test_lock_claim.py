"""observe and claim, one agent at a time: who may, in how many requests, and what is left behind."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from fakes.lock_port import KEY, KEYS, FakeAgent, run
from fakes.lock_server import BOT, EPOCH, STRANGER, Server
from lock_world import AN_ATTEMPT, TERMS, of_format_1, older_ack, on_the_thread, states

from shared.errors import NotAllowed
from shared.lock.claimant import Claimant
from shared.lock.codec import Ack, AckState, ItemKey
from shared.lock.comment import NO_WORDS, Words, read_ack, shown, write_ack, write_words
from shared.lock.fence import Fence, FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import release
from shared.lock.port import AdvanceFence, EditComment, PostComment, ReadComment, ReadComments, ReadFence
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage

WRITES = (AdvanceFence, PostComment, EditComment)


@pytest.mark.parametrize(("attempt", "known"), [(None, (2, "red", "claude")), (2, (0, "", ""))])
def test_what_was_paid_for_counts_until_another_attempt(
    alice: FakeAgent, attempt: int | None, known: tuple[int, str, str]
) -> None:
    held = alice.win()
    run(alice.port, advance(held, FenceChange(paid_runs=2, failures="red", backend="claude")))
    assert run(alice.port, release(held))
    lease = alice.claim(attempt=attempt)
    assert lease is not None
    assert (lease.fence.paid_runs, lease.fence.failures, lease.fence.backend) == known


def test_a_fresh_issue_is_won_by_its_fence_and_then_shown(alice: FakeAgent) -> None:
    lease = alice.claim(base="b" * 40)
    assert lease is not None
    server = alice.port.server
    assert tuple(type(one) for one in alice.port.done) == AN_ATTEMPT
    assert [one.ack_id for one in server.lineage(KEY)] == [lease.ack.id, 0, 0], "recorded before anything is paid for"
    expected = Fence(
        KEY, lease.ack.id, lease.ack.nonce, "worker-a", Stage.IMPLEMENTING, EPOCH, base="b" * 40, epoch=1, format=2
    )
    assert replace(lease.fence, oid="") == expected
    assert states(server) == [AckState.ACTIVE]
    assert alice.port.slept == [], "nothing has to settle"


def test_a_live_holder_costs_one_request_and_no_write(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    alice.win()
    server.seconds += TERMS.timeout - 6
    assert bob.claim() is None
    assert [type(one) for one in bob.port.done] == [ReadFence]


@pytest.mark.parametrize("state", [AckState.RELEASED, AckState.DONE])
def test_a_released_item_is_taken_at_once_in_the_same_comment(
    server: Server, alice: FakeAgent, bob: FakeAgent, state: AckState
) -> None:
    held = alice.win()
    assert run(alice.port, release(held, state))
    server.seconds += 121
    lease = bob.claim()
    assert lease is not None
    assert [type(one) for one in bob.port.done] == [ReadFence, AdvanceFence, ReadComment, EditComment]
    assert (lease.ack.id, lease.fence.epoch, lease.before) == (held.ack.id, 2, held.ack.nonce)
    assert len(server.comments()) == 1


def test_a_loser_writes_nothing(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    attempt = bob.begin()
    attempt.until(AdvanceFence)
    alice.win()
    before = server.comments()
    assert attempt.finish() is None
    assert server.comments() == before
    assert bob.port.count(PostComment, EditComment) == 0
    assert bob.nonces.kept == set()


def test_an_expired_holder_is_taken_over_with_what_it_knew(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = alice.win(attempt=2, approved_by="ada", body_sha256="c" * 64)
    run(alice.port, advance(held, FenceChange(pr=57, work_head="d" * 40, phase="green")))
    server.seconds += TERMS.timeout
    lease = bob.take_over()
    assert lease is not None
    fence = lease.fence
    assert (fence.ack_id, fence.agent, fence.nonce) == (held.ack.id, "worker-b", lease.ack.nonce)
    assert (fence.pr, fence.work_head, fence.approved_by, fence.body_sha256) == (57, "d" * 40, "ada", "c" * 64)
    assert (fence.attempt, fence.phase, fence.wait) == (2, "", None)
    assert [one.epoch for one in server.lineage(KEY)] == [2, 1, 1, 1, 1]
    assert len(server.comments()) == 1


@pytest.mark.parametrize(
    ("wish", "kept"),
    [
        ({}, "ada"),
        ({"body_sha256": "c" * 64}, "ada"),
        ({"round": 0}, "ada"),
        ({"body_sha256": "d" * 64}, ""),
        ({"round": 1}, ""),
        ({"attempt": 0}, ""),
        ({"round": 1, "approved_by": "grace"}, "grace"),
    ],
)
def test_an_approval_is_for_one_text_and_what_was_begun_with_it(
    server: Server, alice: FakeAgent, bob: FakeAgent, wish: dict[str, Any], kept: str
) -> None:
    held = alice.win(approved_by="ada", body_sha256="c" * 64)
    assert run(alice.port, release(held, AckState.RELEASED))
    lease = bob.claim(**wish)
    assert lease is not None
    assert lease.fence.approved_by == kept


def test_what_a_command_says_is_kept_for_what_it_leads_to(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = alice.win(body_sha256="c" * 64)
    run(alice.port, advance(held, FenceChange(stage=Stage.READY, approved_by="/retry by ada")))
    assert run(alice.port, release(held, AckState.RELEASED))
    lease = bob.claim(round=1, body_sha256="d" * 64)
    assert lease is not None
    assert lease.fence.approved_by == "/retry by ada"


def test_a_late_release_of_an_older_epoch_frees_nobody(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    """The text says "released" while another epoch is at work: only the fence's own nonce frees the item."""
    held = alice.win()
    old = server.comments()[held.ack.id].body
    assert run(alice.port, release(held))
    bob.win()
    server.edit(held.ack.id, write_ack(replace(held.ack, state=AckState.RELEASED, revision=9), KEYS))
    carol = FakeAgent(server, "worker-c")
    assert carol.claim() is None
    server.edit(held.ack.id, old)
    assert carol.claim() is None


def test_an_older_engine_cannot_read_the_fence_and_leaves_the_item_alone(alice: FakeAgent) -> None:
    """Engines of format 1 accept only "Engine-Fence: 1" as a fence; they claim no item with another one."""
    alice.win()
    (oid,) = alice.port.server.refs.values()
    message = alice.port.server.commits[oid][0]
    assert "\nEngine-Fence: 2\n" in message
    assert "Engine-Fence: 1" not in message


@pytest.mark.fault(18)
@pytest.mark.parametrize("tamper", ["delete", "edit"])
def test_a_comment_that_a_person_took_away_delays_nobody_longer(
    server: Server, alice: FakeAgent, bob: FakeAgent, tamper: str
) -> None:
    held = alice.win()
    if tamper == "delete":
        server.delete(held.ack.id)
    else:
        server.edit(held.ack.id, "Please stop, I do this myself.")
    server.seconds += TERMS.timeout if tamper == "edit" else TERMS.certain
    lease = bob.take_over()
    assert lease is not None
    assert lease.ack.id == max(server.comments())
    assert len(server.comments()) == 1
    assert states(server) == [AckState.ACTIVE]


@pytest.mark.fault(18)
def test_what_others_write_changes_nothing(server: Server, alice: FakeAgent) -> None:
    held = FakeAgent(server, "worker-z").win()
    body = write_ack(replace(held.ack, agent="mallory", epoch=9, nonce="f" * 32, state=AckState.DONE), KEYS)
    forged = write_ack(replace(held.ack, agent="model", epoch=9), Keyring(99))
    for text, author in ((body, STRANGER), (f"> {body}", BOT), (f"```\n{body}\n```", BOT), (forged, BOT)):
        server.post(42, text, author)
    server.post(42, write_ack(replace(held.ack, key=ItemKey(Role.PLANNER, 42)), KEYS))
    assert alice.claim() is None
    server.seconds += TERMS.timeout
    lease = alice.take_over()
    assert lease is not None
    assert (lease.ack.id, lease.fence.epoch) == (held.ack.id, 2)


@pytest.mark.fault(18)
def test_a_long_thread_costs_no_more(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    for count in range(500):
        server.post(42, f"remark {count}", STRANGER)
    server.seconds += 3600
    alice.win()
    server.seconds += TERMS.timeout
    assert bob.take_over() is not None
    assert bob.port.count(ReadComments) == 0
    assert alice.port.count(ReadComments) == 1


def test_a_comment_of_another_account_that_may_not_be_edited_is_left(server: Server, alice: FakeAgent) -> None:
    """Two accounts of the engine may not edit each other's comments: each has a comment of its own."""
    first = FakeAgent(server, "worker-z")
    held = first.win()
    assert run(first.port, release(held))
    alice.port.plan(EditComment, NotAllowed("not your comment"))
    lease = alice.claim()
    assert lease is not None
    assert lease.ack.id != held.ack.id
    assert server.fence(KEY) == lease.fence
    assert lease.fence.ack_id == lease.ack.id


def test_what_the_comment_told_programs_is_carried_on(server: Server, alice: FakeAgent, bob: FakeAgent) -> None:
    held = alice.win()
    record = Words("Tests are written.", '```json\n{"commands": [{"id": 7}]}\n```')
    server.edit(held.ack.id, write_ack(replace(held.ack, revision=5), KEYS, record))
    held.words = record
    assert run(alice.port, release(held))
    lease = bob.claim()
    assert lease is not None
    read = shown(server.comments()[held.ack.id], Role.WORKER, {BOT.id}, KEYS)
    assert read is not None
    assert read.words == record, "what the last epoch said stays until this one tells something else"
    assert read.ack is not None
    assert (read.ack.nonce, read.ack.agent) == (lease.ack.nonce, "worker-b")


def test_a_comment_from_before_the_first_claim_is_gone_on_with(server: Server, alice: FakeAgent) -> None:
    id = server.post(42, write_words(KEY, 1, Words("It waits for its text."), KEYS)).id
    lease = alice.claim()
    assert lease is not None
    assert lease.ack.id == lease.fence.ack_id == id
    assert alice.port.count(PostComment) == 0


def test_without_a_fence_a_live_comment_shows_that_a_ref_was_deleted(
    server: Server, alice: FakeAgent, bob: FakeAgent
) -> None:
    held = alice.win()
    del server.refs[KEY.ref]
    server.seconds += TERMS.timeout - 1
    assert bob.claim() is None
    server.seconds += 1
    lease = bob.claim()
    assert lease is not None
    assert (lease.ack.id, lease.fence.epoch) == (held.ack.id, 2), "no epoch comes twice"


def test_a_ref_that_was_put_back_is_seen_by_the_epoch_of_the_text(
    server: Server, alice: FakeAgent, bob: FakeAgent
) -> None:
    first = alice.win()
    before = first.fence.oid
    assert run(alice.port, release(first))
    taken = bob.win()
    server.refs[KEY.ref] = before
    server.seconds += TERMS.timeout - 1
    carol = FakeAgent(server, "worker-c")
    assert carol.claim() is None
    server.seconds += 1
    lease = carol.take_over()
    assert lease is not None
    assert lease.fence.epoch == taken.fence.epoch + 1


def test_of_an_older_engine_the_epoch_is_continued_and_its_comments_are_tidied(
    server: Server, alice: FakeAgent
) -> None:
    """Its status comment becomes the one comment, with its record; an ACK that says "active" does so no more."""
    text = '<!-- engine-status/1 kind=worker n=42 rev=3 mac= -->\nIt works.\n\n```json\n{"commands": [{"id": 5}]}\n```'
    status = server.post(42, KEYS.sign("status:worker", 42, text)).id
    ack = Ack(KEY, "worker-old", 1, 0, "e" * 32, 1800)
    loser = server.post(42, older_ack(replace(ack, agent="worker-lost", nonce="d" * 32, prev=9)))
    fence, _ = of_format_1(server, Fence(KEY, 0, "", "", Stage.IMPLEMENTING, EPOCH, pr=9), ack)
    assert alice.claim() is None
    server.seconds += TERMS.timeout
    lease = alice.take_over()
    assert lease is not None
    assert (lease.ack.id, lease.fence.ack_id, lease.fence.epoch, lease.fence.format) == (status, status, 1, 2)
    assert (lease.fence.pr, lease.fence.seen_before) == (9, fence.ack_id)
    assert '"id": 5' in server.comments()[status].body
    assert sorted(states(server)) == [AckState.ACTIVE, AckState.RELEASED, AckState.RELEASED]
    assert "released the lock" in server.comments()[loser.id].body
    assert alice.port.count(PostComment) == 0


def test_an_epoch_of_an_older_engine_that_lives_is_left_alone(server: Server, alice: FakeAgent) -> None:
    ack = Ack(KEY, "worker-old", 1, 0, "e" * 32, 1800)
    of_format_1(server, Fence(KEY, 0, "", "", Stage.IMPLEMENTING, EPOCH), ack)
    server.seconds += TERMS.timeout - 2
    assert alice.claim() is None
    assert alice.port.count(*WRITES) == 0


def test_an_ack_of_an_unknown_key_holds_until_its_timeout(server: Server, alice: FakeAgent) -> None:
    """Without a fence the thread alone tells of the ACK; with a fence its comment counts, whoever signed it."""
    other = Keyring(99, (Key.of(b"x" * 32),))
    server.post(42, write_ack(Ack(KEY, "worker-x", 1, 0, "e" * 32, 1800), other))
    server.seconds += TERMS.timeout - 6
    assert alice.claim() is None
    server.seconds += 6
    assert alice.claim() is not None


def test_epochs_only_grow(server: Server) -> None:
    for name in ("worker-a", "worker-b", "worker-c"):
        agent = FakeAgent(server, name)
        assert run(agent.port, release(agent.win()))
    line = server.lineage(KEY)
    assert all(newer.epoch >= older.epoch for newer, older in pairwise(line))
    assert len({fence.nonce for fence in line}) == line[0].epoch == 3


def test_a_claim_tells_what_it_begins_with(server: Server, alice: FakeAgent) -> None:
    alice.claimant = replace(alice.claimant, doing=lambda fence: f"writing the {fence.phase}, attempt 1 of 3")
    lease = alice.claim(phase="tests")
    assert lease is not None
    said = server.comments()[lease.ack.id].body.split("\n")[1]
    assert said == "worker-a is working on this since 09:00 UTC: writing the tests, attempt 1 of 3."
    ack = read_ack(server.comments()[lease.ack.id])
    assert ack is not None
    assert ack.agent == "worker-a"


@pytest.mark.parametrize(("read", "seen"), [(0, 0), (41, 41)])
def test_the_fence_says_up_to_which_comment_was_read_before(
    server: Server, alice: FakeAgent, bob: FakeAgent, read: int, seen: int
) -> None:
    """This id tells commands that were given before the epoch began; the id of a comment of ours is no such place."""
    alice.claimant = replace(alice.claimant, read_up_to=lambda number: read)
    held = alice.win()
    assert (held.fence.seen, held.fence.seen_before) == (seen, 0)
    assert run(alice.port, release(held))
    lease = bob.claim()
    assert lease is not None
    assert (lease.fence.seen, lease.fence.seen_before) == (seen, seen)


def test_a_claimant_without_anything_to_tell_tells_nothing() -> None:
    assert (
        Claimant("worker-a", frozenset(), KEYS, FakeAgent(Server(), "x").nonces).doing(
            Fence(KEY, 0, "", "", Stage.READY, EPOCH)
        )
        == NO_WORDS.doing
    )


def test_on_the_thread_there_is_the_state_of_the_lease(server: Server, alice: FakeAgent) -> None:
    held = alice.win()
    assert on_the_thread(server, held) is AckState.ACTIVE
