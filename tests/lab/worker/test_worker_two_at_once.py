"""Two issues in the hands of one worker: side by side, each in a room of its own."""

from __future__ import annotations

import pytest
from engine import REPOSITORY, Engine
from worker_scene import CODE, TESTS, branch, claims, eventually, labels, pulls

from shared.git.disk import expendable, survey
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

pytestmark = pytest.mark.long


def about(script: str, title: str, word: str) -> str:
    """Return a script's answers for one title, with another word in every name with `greet`."""
    return script.replace("\n- call:", f"\n- for: {title}\n  call:").replace("greet", word).replace("Greet", word)


async def test_two_issues_are_worked_on_at_once_and_in_rooms_of_their_own(engine: Engine) -> None:
    engine.more_settings = {"max_concurrent": 2}
    slow = TESTS.replace("- call: write_tests\n", "- call: write_tests\n  takes: 1.5\n")
    engine.script("".join(about(slow + CODE, f"{word} people", word) for word in ("hail", "miss")))
    numbers = [engine.ready("hail people"), engine.ready("miss people")]
    async with engine.agent(Role.WORKER) as worker:
        await engine.look(worker)
        places = engine.directory / "machine-1" / "workspaces"
        await eventually(lambda: len([*places.glob("*/issue-*")]) == 2)
        rooms = [one.path for one in survey(places)]
        assert all(labels(engine, number) == {"status:implementing"} for number in numbers)
        await engine.in_time(lambda: len(worker.ended) == 2, worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER] * 2
    assert [room.name for room in rooms] == [f"issue-{number}" for number in numbers]
    assert expendable(survey(places), rooms, ceiling=0) == (), "what is in work stays whatever the disk says"
    assert len(pulls(engine)) == 2
    bare = engine.lab.at(REPOSITORY).bare
    for number, own, other in zip(numbers, ("hail", "miss"), ("miss", "hail"), strict=True):
        assert claims(engine, number) == 1
        tip = str(await branch(engine, number))
        assert await bare.read(tip, f"directory/{own}ing.py") is not None
        assert await bare.read(tip, f"directory/{other}ing.py") is None, "nothing of the other one is in it"
