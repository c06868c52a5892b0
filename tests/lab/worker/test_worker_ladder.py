"""A ladder of models: the next try of a call climbs, from where the size of the specification begins."""

from __future__ import annotations

import pytest
from engine import Engine
from worker_scene import CODE, TESTS

from shared.llm.recording import exchanges
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

pytestmark = pytest.mark.long

FIRST_TRY_IS_WRONG = """
- call: implement
  attempt: 1
  edits:
    - {path: directory/greeting.py, content: "def greet(name):\\n    return name\\n"}
"""

SECOND = CODE.replace("- call: implement\n", "- call: implement\n  attempt: 2\n")

LADDER = ["small", {"model": "large"}, {"backend": "scripted"}]


@pytest.mark.parametrize(
    ("body", "models"),
    [("", ["small", "small", "large"]), ("Size: medium", ["large", "large", ""])],
)
async def test_the_second_implementation_is_written_one_step_higher(
    engine: Engine, body: str, models: list[str]
) -> None:
    record = engine.directory / "recorded"
    engine.more_settings["llm"] = {"record": record}
    engine.repository_settings["ladder"] = LADDER
    engine.script(TESTS + FIRST_TRY_IS_WRONG + SECOND)
    engine.ready("Greet people", body)
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    asked = [one for one in exchanges(record) if one["call"] in {"write_tests", "implement"}]
    assert [one["model"] for one in asked] == models
