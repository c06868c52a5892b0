"""Every command from a console: where it fits, twice, at the wrong stage, and with a token that may not write."""

from __future__ import annotations

import orphan_scene
import pytest
from engine import ENGINE, REPOSITORY, WRITES, Engine
from orphan_scene import issue, writes
from worker_scene import CODE, labels

from console.orders import ACTIONS, Order, OrderResult, ordered
from shared.commands.command import Verb
from shared.commands.command_rules import CommandRefused, ruling
from shared.errors import Invisible, NotAllowed
from shared.workflow import Role, Stage, Track

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine whose coder must not be asked."""
    engine.script(CODE)
    return engine


async def recover(engine: Engine, verb: Verb, number: int, *, by: str = ENGINE) -> OrderResult:
    """Return a console's answer to an order with the token of `by`, who can write only as the engine's account."""
    rights = WRITES if by == ENGINE else dict.fromkeys(WRITES, "read")
    return await ordered(
        engine.settings("console"), {"GITHUB_TOKEN": engine.lab.token(by, rights)}, Order(verb, number)
    )


@pytest.mark.parametrize("stage", [Stage.REVIEWING, Stage.FAILED])
async def test_each_command_does_what_is_ruled_and_again_moves_nothing_back(engine: Engine, stage: Stage) -> None:
    for verb in ACTIONS:
        number = issue(engine, f"status:{stage}")
        seen = await orphan_scene.fence(engine, Role.WORKER, number, stage)
        before, ruled = len(writes(engine)), ruling(verb, Track.SPECIFICATION, stage)
        answer = await recover(engine, verb, number)
        after = await engine.fence(Role.WORKER, number)
        assert after is not None
        assert answer.done is not isinstance(ruled, CommandRefused), f"/{verb} at {stage}"
        if isinstance(ruled, CommandRefused):
            assert f"{answer.outcome}." == ruled.sentence
            assert (after.oid, writes(engine)[before:]) == (seen.oid, [])
            continue
        again = await recover(engine, verb, number)
        moved = await engine.fence(Role.WORKER, number)
        assert moved is not None
        assert moved.stage is after.stage, f"/{verb} twice at {stage}: {again.outcome}"


async def test_a_token_that_may_not_write_moves_nothing(engine: Engine) -> None:
    number = issue(engine, "status:failed")
    seen = await orphan_scene.fence(engine, Role.WORKER, number, Stage.FAILED)
    for verb in (Verb.PAUSE, Verb.RETRY, Verb.CLOSE_AND_RESET):
        with pytest.raises(NotAllowed):
            await recover(engine, verb, number, by="mallory")
    found = await engine.fence(Role.WORKER, number)
    assert found == seen
    assert labels(engine, number) == {"status:failed"}
    assert [one.body for one in engine.lab.at(REPOSITORY).comments.of(number)] == []


async def test_an_item_that_is_not_there_is_told_with_what_to_check(engine: Engine) -> None:
    with pytest.raises(Invisible, match=f"GitHub does not show {REPOSITORY}#999 to this token: check the number"):
        await recover(engine, Verb.RETRY, 999)
