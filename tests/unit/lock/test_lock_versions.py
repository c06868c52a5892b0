"""Two versions on one repository: what a newer engine wrote is live and not ours, and nothing of it is lost."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import timedelta

import pytest
from fakes.lock_port import KEY, KEYS, FakeAgent, run
from fakes.lock_server import BOT, EPOCH, Server
from lock_world import older_ack

from shared.budget import ledger_lines
from shared.budget.ledger_lines import Reservation
from shared.lock.claim import Intent, claim
from shared.lock.codec import UNKNOWN_PREV, Ack, AckState
from shared.lock.comment import trusted, write_ack
from shared.lock.fence import FenceChange, read_fence, write_fence
from shared.lock.fence_moves import advance
from shared.lock.format_1 import fold
from shared.lock.port import AdvanceFence, EditComment, PostComment
from shared.models import Comment
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Stage

FIRST = "ACK:worker:worker-future:1706123456789"
OTHER = Keyring(99, (Key.of(b"x" * 32),))

FUTURE = {
    "the same fields": f"<!-- ack/3 prev=0 nonce={'a' * 32} state=active hb=1 ttl=1800 scope=files mac= -->",
    "other fields": "<!-- ack/3 epoch=7f/9 lease=PT30M mac= -->",
    "no field that is ours": "<!-- ack/12 -->",
    "another kind of nonce": "<!-- ack/3 prev=x nonce=7 state=paused ttl=ever mac= -->",
}


def body(trailer: str, keys: Keyring = KEYS) -> str:
    text = f"{FIRST}\n{trailer}\nworker-future is at work."
    return keys.sign("ack:worker", KEY.number, text) if "mac=" in trailer else text


def ack_of(text: str) -> Ack | None:
    return trusted(Comment(7, KEY.number, BOT, text, EPOCH, EPOCH), {BOT.id}, KEYS)


@pytest.mark.fault(40)
@pytest.mark.parametrize("trailer", FUTURE.values(), ids=list(FUTURE))
def test_an_ack_of_a_newer_version_keeps_everybody_away_until_its_timeout(server: Server, trailer: str) -> None:
    agent = FakeAgent(server, "worker-a")
    posted = server.post(KEY.number, body(trailer))
    view = agent.observe()
    assert view.other_holder == "worker-future"
    assert run(agent.port, claim(agent.port, view, agent.claimant, Intent(Stage.IMPLEMENTING))) is None
    assert agent.port.count(PostComment, EditComment, AdvanceFence) == 0
    assert server.comments()[posted.id].body == body(trailer)
    server.seconds += 1801
    assert agent.observe().other_holder == ""


@pytest.mark.fault(40)
def test_the_one_comment_of_a_newer_engine_keeps_everybody_away_until_its_timeout(server: Server) -> None:
    """Its layout is not known; its `ACK:` line and the one below it are, wherever they stand."""
    agent = FakeAgent(server, "worker-a")
    text = f"<!-- engine-status/7 kind=worker n=42 mac= -->\nBusy.\n\n{FIRST}\n<!-- ack/9 ttl=1800 -->\n</details>"
    posted = server.post(KEY.number, KEYS.sign("ack:worker", KEY.number, text))
    assert agent.observe().other_holder == "worker-future"
    assert agent.claim() is None
    assert agent.port.count(PostComment, EditComment, AdvanceFence) == 0
    server.seconds += 1801
    lease = agent.claim()
    assert lease is not None
    assert lease.ack.id != posted.id


@pytest.mark.parametrize("prev", [5, UNKNOWN_PREV])
def test_a_predecessor_that_cannot_be_read_counts_as_the_holder(prev: int) -> None:
    ours = Ack(KEY, "worker-a", 1, 5, "b" * 32, 1800, id=6)
    newer = replace(ours, agent="worker-future", prev=prev, id=7)
    assert fold([newer], 5) == 7
    assert fold([ours, newer], 5) == (7 if prev == UNKNOWN_PREV else 6)


def test_what_a_newer_version_says_of_its_end_is_believed_and_its_timeout_only_so_far() -> None:
    released = ack_of(body(FUTURE["the same fields"].replace("active", "released")))
    long = ack_of(body(FUTURE["the same fields"].replace("ttl=1800", "ttl=99999999")))
    assert released is not None
    assert (released.state, released.opaque) == (AckState.RELEASED, True)
    assert long is not None
    assert not long.live(EPOCH + timedelta(hours=2))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(body(FUTURE["the same fields"]).replace("prev=0", "prev=1"), id="changed since"),
        pytest.param(older_ack(Ack(KEY, "worker-a", 1, 0, "b" * 32, 1800)).replace("ack/2", "ack/3"), id="posed"),
        pytest.param(write_ack(Ack(KEY, "worker-a", 1, 0, "b" * 32, 1800), KEYS).replace("ack/3", "ack/4"), id="ours"),
        pytest.param(body("<!-- ack/1 -->"), id="no newer version"),
        pytest.param(body("<!-- ack/3 --> "[:-5]), id="cut off"),
        pytest.param(f"Look:\n{body(FUTURE['other fields'])}", id="not on the first line"),
    ],
)
def test_what_only_looks_newer_is_no_ack(text: str) -> None:
    assert ack_of(text) is None


@pytest.mark.parametrize("keys", [KEYS, OTHER])
def test_more_fields_in_an_ack_of_our_version_change_nothing_in_it(keys: Keyring) -> None:
    plain = Ack(KEY, "worker-future", 1706123456789, 0, "a" * 32, 1800, revision=1, shared=False)
    more = body(f"<!-- ack/2 prev=0 nonce={'a' * 32} state=active hb=1 ttl=1800 scope=files mac= -->", keys)
    assert ack_of(more) == replace(plain, id=7, updated_at=EPOCH, opaque=keys is OTHER)
    assert ack_of(more.replace("files", "paths")) is None or keys is OTHER


def test_trailers_that_we_do_not_know_stay_in_the_fence_through_our_epochs(server: Server) -> None:
    agent = FakeAgent(server, "worker-a")
    held = agent.win()
    more = (("Plan-Sha256", "c" * 64), ("Zone", "eu: west"))
    text = write_fence(replace(held.fence, more=more))
    assert "\nPlan-Sha256: " in text
    held.fence = replace(held.fence, more=more)
    run(agent.port, advance(held, FenceChange(phase="red")))
    found = server.fence(KEY)
    assert found is not None
    assert (found.phase, found.more) == ("red", more)
    server.seconds += 7200
    next_one = FakeAgent(server, "worker-b").take_over()
    assert next_one is not None
    assert next_one.fence.more == more
    assert read_fence(KEY, "f" * 40, write_fence(next_one.fence)) == replace(next_one.fence, oid="f" * 40)


@pytest.mark.parametrize(
    "change",
    [("Engine-Fence: 2", "Engine-Fence: 3"), ("Stage: implementing", "Stage: proving")],
    ids=["format", "stage"],
)
def test_a_fence_of_a_newer_format_is_none_of_ours(server: Server, change: tuple[str, str]) -> None:
    text = write_fence(FakeAgent(server, "worker-a").win().fence)
    assert read_fence(KEY, "f" * 40, text) is not None
    assert read_fence(KEY, "f" * 40, text.replace(*change)) is None


def test_a_newer_line_of_the_ledger_counts_as_far_as_it_says_the_same() -> None:
    ours = ledger_lines.write(Reservation("r1", "worker", "#42", 5.0, EPOCH + timedelta(hours=1), EPOCH))
    newer = json.dumps(json.loads(ours) | {"v": 2, "currency": "USD"})
    found = ledger_lines.read(newer)
    assert found == ledger_lines.read(ours)
    assert ledger_lines.books([found] if found else [], EPOCH, 15).runs[0].usd == 5.0
    assert ledger_lines.read(re.sub(r'"v": 1', '"v": 0', ours)) is None
    assert ledger_lines.read(ours.replace('"reserve_usd"', '"reserve_eur"')) is None
