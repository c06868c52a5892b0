"""release: everybody is told once; what cannot be told runs out or is continued."""

from __future__ import annotations

import pytest
from fake_port import FakeAgent, FakePort, run
from fake_server import Fault, Server
from lock_world import on_the_thread

from shared.errors import Gone, Lost, Unauthorized, UnknownOutcome
from shared.lock.codec import AckState
from shared.lock.hold import RELEASED, Held, beat, release
from shared.lock.port import EditComment
from shared.warrant import Notice, Operator


@pytest.mark.parametrize("state", [AckState.RELEASED, AckState.DONE])
def test_release_tells_everybody_once(server: Server, alice: FakeAgent, held: Held, state: AckState) -> None:
    assert run(alice.port, release(held, state)) is True
    assert on_the_thread(server, held) is state
    assert alice.nonces.kept == set()
    sent = len(alice.port.done)
    assert run(alice.port, release(held)) is True
    assert len(alice.port.done) == sent
    with pytest.raises(Lost, match=RELEASED):
        held.check()


@pytest.mark.parametrize("plan", [Fault.FAILED, Fault.LOST, Unauthorized(), Gone()])
def test_a_release_that_fails_is_only_reported(
    server: Server, alice: FakeAgent, held: Held, plan: Fault | Unauthorized | Gone
) -> None:
    alice.port.plan(EditComment, plan)
    assert run(alice.port, release(held)) is False
    assert run(alice.port, release(held)) is False
    assert alice.nonces.mine(held.ack.nonce)
    with pytest.raises(Lost):
        held.check()
    assert alice.restart().claim() is not None


def test_releasing_a_deleted_ack_is_reported(server: Server, alice: FakeAgent, held: Held) -> None:
    server.delete(held.ack.id)
    assert run(alice.port, release(held)) is False
    assert held.lost == RELEASED


def test_other_warrants_need_no_lease() -> None:
    Operator("init").check()
    Notice(42, "status").check()


class Overtaken(FakePort):
    """What was sent before the release arrives while the release settles."""

    async def sleep(self, seconds: float) -> None:
        assert self.server.deliver() == 1
        assert any("state=active" in one.body for one in self.server.comments().values())
        await super().sleep(seconds)


def test_a_heartbeat_that_arrives_after_the_release_does_not_undo_it(
    server: Server, alice: FakeAgent, held: Held
) -> None:
    alice.port.plan(EditComment, Fault.LATE)
    with pytest.raises(UnknownOutcome):
        run(alice.port, beat(held))
    held.port = Overtaken(alice.port.server)
    assert run(alice.port, release(held)) is True
    assert on_the_thread(server, held) is AckState.RELEASED


def test_a_release_after_an_answered_heartbeat_is_one_request(alice: FakeAgent, held: Held) -> None:
    run(alice.port, beat(held))
    sent = len(alice.port.done)
    assert run(alice.port, release(held)) is True
    assert len(alice.port.done) == sent + 1
