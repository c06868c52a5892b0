"""The counter of tries in an issue's title, and what it does not touch."""

from __future__ import annotations

import pytest
from engine import ENGINE, REPOSITORY, Engine
from worker_scene import CODE, TESTS, WRONG, branch, labels, once, pulls, status

from shared.scheduling.agent_contract import Result

pytestmark = pytest.mark.long


def renamed(engine: Engine, number: int) -> list[str]:
    """Return the titles that the engine gave an issue, in turn."""
    events = [event for event in engine.lab.at(REPOSITORY).issues.events if event.event == "renamed"]
    assert {(event.number, event.actor) for event in events} <= {(number, ENGINE)}
    return [event.detail["to"] for event in events]


@pytest.mark.parametrize("right", [True, False], ids=["second try is right", "tries used up"])
async def test_the_title_counts_the_tries_and_is_its_own_again_at_the_end(engine: Engine, right: bool) -> None:
    second = CODE.replace("implement", "implement\n  attempt: 2") if right else ""
    engine.script(TESTS + (WRONG.replace("any", "1") + second if right else WRONG))
    engine.repository_settings |= {"max_attempts": 2, "titles": {"attempts": True}}
    number = engine.ready("Greet people")
    worker = await once(engine, number)
    counters = ["Greet people | attempt 1/2", "Greet people | attempt 2/2"]
    assert renamed(engine, number) == [*counters, "Greet people"]
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER if right else Result.FAILED]
    assert "edited" not in status(engine, number), "its own counter is no edit of what was approved"
    if not right:
        assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
        return
    assert [engine.issue(pull.number).title for pull in pulls(engine)] == ["Greet people"]
    log = await engine.lab.at(REPOSITORY).bare.git.run("log", "--format=%s%n%b", str(await branch(engine, number)))
    assert "attempt 1/2" not in str(log)


async def test_without_the_key_no_title_is_edited(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people | attempt 9/9")
    await once(engine, number)
    assert renamed(engine, number) == []
    assert engine.issue(number).title == "Greet people | attempt 9/9"
