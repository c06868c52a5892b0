"""release: everybody is told once; what cannot be told runs out or is continued."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_port import KEYS, FakeAgent, run
from fake_server import BOT, Fault, Server

from shared.errors import Gone, Lost, Unauthorized
from shared.lock.claimant import Terms
from shared.lock.codec import AckState, trusted
from shared.lock.hold import RELEASED, Held, release
from shared.lock.port import EditComment
from shared.warrant import Notice, Operator

TERMS = Terms()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.check_all_met()


@pytest.fixture
def alice(server: Server) -> FakeAgent:
    return FakeAgent(server, "worker-a")


@pytest.fixture
def held(alice: FakeAgent) -> Held:
    return alice.win()


def on_the_thread(server: Server, held: Held) -> AckState | None:
    ack = trusted(server.comments()[held.ack.id], {BOT.id}, KEYS)
    return ack.state if ack else None


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
