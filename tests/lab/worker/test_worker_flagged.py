"""Files that decide what is installed or run: changed as the specification says, shown to people, merged by one."""

from __future__ import annotations

import pytest
from engine import Engine
from worker_scene import CODE, REVIEW, TESTS, branch, once, pulls, status

from shared.scheduling.agent_contract import Result
from shared.workflow import Role

pytestmark = pytest.mark.long

BODY = "Greet people.\n\n## Files\n\n- `pyproject.toml`\n- `directory/greeting.py`\n"
MORE = '    - {path: pyproject.toml, replace: {old: "[project]", new: "# greets\\n[project]"}}\n'


async def test_a_manifest_of_the_plan_is_shown_and_left_to_a_person_whatever_the_verdict(engine: Engine) -> None:
    engine.script(TESTS + CODE.rstrip() + "\n" + MORE + REVIEW)
    engine.repository_settings["merge"] = "auto"
    number = engine.ready("Greet people", BODY)
    assert [end.result for end in (await once(engine, number)).ended] == [Result.HANDED_OVER]
    (pull,) = pulls(engine)
    body = engine.issue(pull.number).body or ""
    assert "**Please check:** these files decide what is installed" in body
    assert "- `pyproject.toml`" in body
    assert "- `directory/greeting.py`" not in body
    async with engine.agent(Role.REVIEWER, state="reviewer") as reviewer:
        await engine.until(lambda: bool(reviewer.ended), reviewer)
        assert reviewer.ended[0].result is Result.PARKED
    assert "status:approved" in engine.issue(pull.number).labels
    assert pulls(engine)[0].merged_at is None
    assert "protected files or dependencies" in status(engine, pull.number)
    assert await branch(engine, number) is not None
