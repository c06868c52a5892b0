"""`.workflow-engine.yml` of the base branch: it holds for the next issue, and no coder edits it."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from branch_scene import push
from engine import REPOSITORY, Engine
from project_pytest import PYTEST_ALONE
from worker_scene import CODE, TESTS, WRONG, branch, calls, labels, once, pulls, status

from config.repository_file import FILE
from shared.llm.recording import exchanges
from shared.scheduling.agent_contract import Result
from shared.workflow import Role
from worker_agent.intake.unusable_configuration import AGAIN

pytestmark = pytest.mark.long

WORKS = f"""
test_command: {json.dumps(PYTEST_ALONE)}
quality_commands: []
conventions: [docs/style.md]
ladder: [small]
max_turns: 7
"""


async def test_a_repository_says_how_its_tests_run_and_by_which_model(engine: Engine) -> None:
    record = engine.directory / "recorded"
    engine.more_settings["llm"] = {"record": record}
    engine.repository_settings["test_command"] = "./no-such-program"
    marker = engine.directory / "set-up"
    rules = f"{WORKS}setup_command: {json.dumps(shlex.join(('touch', str(marker))))}\npr_labels: [by-engine]\n"
    await push(engine, "main", {FILE: rules, "docs/style.md": "Every greeting ends with a full stop.\n"})
    engine.script(TESTS + CODE)
    worker = await once(engine, engine.ready("Greet people"))
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    asked = [one for one in exchanges(record) if one["call"] in {"write_tests", "implement"}]
    assert [one["model"] for one in asked] == ["small", "small"]
    assert marker.exists()
    (pull,) = pulls(engine)
    assert {"by-engine"} <= labels(engine, pull.number)
    assert "automated" not in labels(engine, pull.number)
    assert all("Every greeting ends with a full stop." in one["prompt"] for one in asked)


async def test_wrong_rules_are_told_with_their_place_and_the_issue_goes_on_when_they_are_mended(engine: Engine) -> None:
    await push(engine, "main", {FILE: "test_command: make test\nmerge: auto\n"})
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        for _ in range(3):
            await engine.tick(worker)
        assert f"{FILE}:2:1: merge: unknown key here" in status(engine, number)
        assert worker.ended == [] or worker.ended[0].result is not Result.FAILED
        assert calls(engine, "write_tests") == 0
    await push(engine, "main", {FILE: WORKS})
    engine.lab.clock.advance(AGAIN.total_seconds() + 60)
    async with engine.agent(Role.WORKER, state="machine-2") as again:
        await engine.until(lambda: "status:reviewing" in labels(engine, number), again)


EDITS_THE_RULES = """
- call: implement
  attempt: any
  edits:
    - {path: directory/greeting.py, content: "def greet(name):\\n    return f'Hello, {name}'\\n"}
    - {path: .workflow-engine.yml, content: "test_command: 'true'\\n"}
"""


async def test_a_coder_that_edits_the_rules_is_refused(engine: Engine) -> None:
    engine.repository_settings["max_attempts"] = 1
    engine.script(TESTS + EDITS_THE_RULES)
    number = engine.ready("Greet people")
    worker = await once(engine, number)
    assert [end.result for end in worker.ended] == [Result.FAILED]
    assert FILE in status(engine, number)
    assert await branch(engine, number) is None
    assert await engine.lab.at(REPOSITORY).bare.read("main", FILE) is None


async def test_limits_of_a_run_fall_and_no_rule_is_read_where_the_operator_says_so(engine: Engine) -> None:
    engine.repository_settings |= {"max_attempts": 1, "max_turns": 40, "run_timeout_minutes": 30}
    await push(engine, "main", {FILE: f"{WORKS}run_timeout_minutes: 600\n"})
    engine.script(TESTS + WRONG)
    assert (await limits(engine))["max_turns"] == 7
    assert (await limits(engine))["deadline_seconds"] == 1800
    engine.repository_settings["own_rules"] = False
    assert (await limits(engine))["max_turns"] == 40


async def limits(engine: Engine) -> dict[str, Any]:
    """Return the limits of the last run for an issue that fails."""
    number = engine.ready("Greet people")
    worker = await once(engine, number, state=f"machine-{number}")
    assert [end.result for end in worker.ended] == [Result.FAILED]
    (kept,) = (engine.directory / f"machine-{number}" / "kept").glob("ada__directory/issue-*/*/outcome.json")
    found: dict[str, Any] = json.loads(kept.read_text())["limits"]
    return found
