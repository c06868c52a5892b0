"""A token that GitHub stops accepting in the middle of a run: what stops, what stays, and how it goes on by itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from engine import ENGINE, OWNER, REPOSITORY, Engine
from structlog.testing import capture_logs
from worker_scene import CODE, TESTS, acks, calls, claims, comments, during_the_call, eventually, labels, pulls

from lab.github.world.accounts import TokenRecord
from shared.errors import Unauthorized
from shared.github.token_refusals import RETRY_SECONDS
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Rest, Result
from shared.workflow import Role

pytestmark = pytest.mark.long

WRITING_SECONDS = 20.0
SLOW_TESTS = TESTS.replace("call: write_tests", f"call: write_tests\n  takes: {WRITING_SECONDS:.0f}")
POLL_SECONDS = 30.0
LOOK_AGAIN_SECONDS = 62.0
"""After so long whoever found a holder dead may believe it."""


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a slow coder, and one clock for both sides, which the test moves."""
    engine.script(SLOW_TESTS + CODE)
    engine.clock = engine.lab.clock
    return engine


@contextmanager
def revoked(engine: Engine) -> Iterator[None]:
    """Revoke all tokens of the engine while the block runs."""
    tokens = engine.lab.world.tokens
    taken: dict[str, TokenRecord] = {value: token for value, token in tokens.items() if token.login == ENGINE}
    for value in taken:
        del tokens[value]
    yield
    tokens.update(taken)


async def refused_ticks(engine: Engine, worker: Loop, count: int) -> None:
    """Run so many ticks, each of which must report that the token is refused."""
    for _ in range(count):
        engine.lab.clock.advance(POLL_SECONDS)
        with pytest.raises(Unauthorized, match="does not accept the token"):
            await worker.tick()


def asked(engine: Engine, since: int) -> list[tuple[str, int]]:
    """Return method and status of the requests over the REST API."""
    return [(one.method, one.status) for one in list(engine.lab.exchanges)[since:] if ".git/" not in one.path]


@pytest.mark.fault(5)
async def test_a_revoked_token_stops_claims_and_writes_and_the_run_goes_on_when_it_works_again(engine: Engine) -> None:
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        with capture_logs() as events:
            await during_the_call(engine, worker)
            other, since = engine.ready("Greet nobody"), len(engine.lab.exchanges)
            with revoked(engine):
                engine.lab.clock.advance(WRITING_SECONDS)
                await worker.quiet()
                assert [rest.reason for rest in worker.resting] == ["token"], "the run was not killed, its item waits"
                (made,) = engine.directory.glob("machine-1/workspaces/*/issue-*/tree/tests/test_greeting.py")
                await refused_ticks(engine, worker, 9)
                assert asked(engine, since) == [("GET", 401)], "one question, no write, and no more until it is time"
                assert made.exists()
                assert [acks(engine, other), comments(engine, other)] == [[], []]
                engine.lab.close(REPOSITORY, other, actor=OWNER)
                engine.lab.clock.advance(RETRY_SECONDS)
            assert asked(engine, since)[1:] in ([], [("GET", 401)]), "what was tried meanwhile was a read"
            engine.lab.clock.advance(RETRY_SECONDS)
            await engine.until(lambda: bool(worker.ended), worker)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert labels(engine, number) == {"status:reviewing"}
    assert claims(engine, number) == len(pulls(engine)) == 1
    assert calls(engine, "write_tests") == 1, "what was paid for before is not paid for again"
    told = [event for event in events if event["event"] in {"token_refused", "token_accepted"}]
    assert [event["event"] for event in told] == ["token_refused", "token_accepted"]


@pytest.mark.fault(5)
async def test_a_token_that_stays_revoked_lets_the_lease_run_out_and_the_work_stays_on_disk(engine: Engine) -> None:
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await during_the_call(engine, worker)
        with revoked(engine):
            engine.lab.clock.advance(WRITING_SECONDS)
            await worker.quiet()
            before = (comments(engine, number), labels(engine, number))
            for _ in range(60):
                engine.lab.clock.advance(POLL_SECONDS)
                await settled(engine, worker)
            assert [end.result for end in worker.ended] == [Result.LOST]
            (made,) = engine.directory.glob("machine-1/workspaces/*/issue-*/tree/tests/test_greeting.py")
            assert "test_greets" in made.read_text()
            assert (comments(engine, number), labels(engine, number)) == before, "nobody was told: nothing can be"
    engine.lab.clock.advance(RETRY_SECONDS)
    engine.script(TESTS + CODE)
    async with engine.agent(Role.WORKER, state="machine-2") as second:
        await engine.tick(second)
        engine.lab.clock.advance(LOOK_AGAIN_SECONDS)
        await engine.until(lambda: bool(second.ended), second)
    assert labels(engine, number) == {"status:reviewing"}
    assert len(pulls(engine)) == 1


async def settled(engine: Engine, worker: Loop) -> None:
    """Poll once while GitHub refuses the token, and wait until every item rests for it."""
    with pytest.raises(Unauthorized):
        await worker.tick()
    await eventually(lambda: all(rest == Rest("token", sentence=rest.sentence) for rest in worker.resting))


@pytest.mark.fault(6)
async def test_one_forbidden_endpoint_hands_the_item_to_a_person_once(engine: Engine, tmp_path: Path) -> None:
    engine.script(TESTS + CODE)
    (record,) = [one for one in engine.lab.world.accounts.values() if one.login == ENGINE]
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        tokens = engine.lab.world.tokens
        for value, token in tokens.items():
            if token.login == record.login:
                tokens[value] = TokenRecord(value, token.login, {**token.permissions, "pull_requests": "read"})
        await engine.until(lambda: bool(worker.ended), worker)
        refused = [one for one in engine.lab.exchanges if one.method == "POST" and one.path.endswith("/pulls")]
        for _ in range(3):
            await engine.tick(worker)
    assert [end.result for end in worker.ended] == [Result.FAILED]
    assert [one.status for one in refused] == [403], "it is not tried again"
    assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
    assert any("Resource not accessible" in comment.body for comment in comments(engine, number))
    assert engine.lab.at(REPOSITORY).pulls.records.values() == []
