"""The ACKs that chaos records from a real lab: all that GitHub has stored, even if their agents never learned of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import aiohttp
import pytest
from lab_scene import NAME, Scene

from lab.chaos.evidence import WireLog
from lab.github.fault_injection.faults import Fault, FaultKind
from shared.lock.codec import Ack, AckState, ItemKey
from shared.lock.comment import write_ack
from shared.text.comment_signatures import Keyring
from shared.workflow import Role

ACK = Ack(ItemKey(Role.WORKER, 1), "worker-1", 1706123456789, 0, "ab" * 16, 1800)
KEYS = Keyring(1)


@pytest.fixture
def wire(scene: Scene) -> WireLog:
    log = WireLog(scene.lab.clock.now)
    scene.lab.exchanges.observe(log.note)
    log.follow(scene.repository)
    scene.lab.issue(NAME, "Talk", author="bob")
    return log


async def test_an_ack_is_heard_of_when_it_is_posted_and_when_it_is_edited(scene: Scene, wire: WireLog) -> None:
    posted = await scene.ask("POST", "issues/1/comments", {"body": write_ack(ACK, KEYS)})
    released = write_ack(replace(ACK, state=AckState.RELEASED), KEYS)
    await scene.ask("PATCH", f"issues/comments/{posted.body['id']}", {"body": f"Some news first.\r\n{released}"})
    await scene.ask("POST", "issues/1/comments", {"body": "No ACK at all"})
    assert [(one.number, one.kind, one.agent, one.nonce, one.state, one.posted) for one in wire.acks] == [
        (1, "worker", "worker-1", "ab" * 16, "active", True),
        (1, "worker", "worker-1", "ab" * 16, "released", False),
    ]
    assert [one.what for one in wire.posts] == ["thread", "comment", "comment"]
    assert wire.unanswered == []


@pytest.mark.parametrize("kind", [FaultKind.LOST_REPLY, FaultKind.ERROR_AFTER])
async def test_a_post_that_nobody_learned_of_is_heard_of(scene: Scene, wire: WireLog, kind: FaultKind) -> None:
    scene.lab.faults.plan(Fault(kind, "POST", "/comments$"))
    with suppress(aiohttp.ClientError):
        await scene.ask("POST", "issues/1/comments", {"body": write_ack(ACK, KEYS)})
    assert len(wire.acks) == 1
    assert wire.unheard([]) == 1


async def test_who_dies_right_after_a_post_may_not_know_of_it(scene: Scene, wire: WireLog) -> None:
    await scene.ask("POST", "issues/1/comments", {"body": write_ack(ACK, KEYS)})
    now = scene.lab.clock.now()
    assert wire.unheard([(now + 5, "worker-1")]) == 1
    assert wire.unheard([(now + 60, "worker-1"), (now + 5, "worker-2"), (now - 5, "worker-1")]) == 0
