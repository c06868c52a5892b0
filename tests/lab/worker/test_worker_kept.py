"""The remains of an item that failed: commits, notes, the last patch, and the program's transcript."""

from __future__ import annotations

import json

import pytest
from cli_shop import Shop
from engine import REPOSITORY, Engine
from worker_scene import CODE, TESTS, branch, fence, labels, once, pulls, status

from lab.model.script import Script
from lab.model_server import ModelServer
from shared.scheduling.agent_contract import Result

pytestmark = pytest.mark.long

KEY = "sk-ant-c4n4ry-0123456789abcdef"

PROGRAM = f"""
test = pathlib.Path("tests/test_greeting.py")
code = "from directory.greeting import greet\\n\\n\\ndef test_greets():\\n    assert greet('Ada') == 'Hello, Ada'\\n"
if not test.exists():
    test.write_text(code)
else:
    pathlib.Path("directory/greeting.py").write_text("def greet(name):\\n    return name\\n")
print(json.dumps({{"type": "system", "said": "key {KEY}"}}))
result(total_cost_usd=0.01)
"""


async def test_a_workflow_that_ends_in_vain_keeps_commits_notes_transcript_and_patch(engine: Engine) -> None:
    async with ModelServer(Script(())) as server:
        shop = engine.directory / "bin"
        shop.mkdir()
        engine.variables = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        engine.more_settings = {"claude_cli": str(Shop(shop).program(PROGRAM))}
        engine.repository_settings |= {"llm_backend": "claude", "max_attempts": 1}
        number = engine.ready("Greet people")
        worker = await once(engine, number)
    assert [end.result for end in worker.ended] == [Result.FAILED]
    assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
    seen, bare = await fence(engine, number), engine.lab.at(REPOSITORY).bare
    assert b"test_greets" in (await bare.read(seen.work_head, "tests/test_greeting.py") or b"")
    assert await bare.sha(f"refs/notes/workflow/issue-{number}") is not None
    assert f"commit {seen.work_head[:12]}" in status(engine, number)
    assert (await branch(engine, number), pulls(engine)) == (None, []), "what is not green is never a branch"
    (kept,) = (engine.directory / "machine-1" / "kept").glob("ada__directory/issue-*/*")
    assert kept.name in status(engine, number)
    assert {file.name for file in kept.iterdir()} == {"patch.diff", "prompt.md", "outcome.json", "events.jsonl"}
    assert all(file.stat().st_mode & 0o077 == 0 for file in kept.iterdir())
    assert "+    return name" in (kept / "patch.diff").read_text()
    events = [json.loads(line) for line in (kept / "events.jsonl").read_text().splitlines()]
    assert [event["type"] for event in events] == ["system", "result"]
    assert KEY not in (kept / "events.jsonl").read_text()
    transcripts = engine.directory / "machine-1" / "kept" / "calls" / "completed"
    assert len(list(transcripts.glob("*.jsonl"))) == 2, "of both calls, whole"


async def test_a_repair_of_ci_had_less_turns_and_money_than_other_runs(engine: Engine) -> None:
    nothing = "- {call: fix_ci, attempt: any, retry: any, edits: []}\n"
    engine.script(f"{TESTS}{CODE}{nothing}", ci="echo 'a.py:1: error: no'; false")
    number = engine.ready("Greet people")
    worker = await once(engine, number)
    assert [end.result for end in worker.ended] == [Result.FAILED]
    (kept,) = (engine.directory / "machine-1" / "kept").glob("ada__directory/issue-*/*/outcome.json")
    told = json.loads(kept.read_text())
    assert told["call"] == "fix_ci"
    assert (told["limits"]["max_turns"], told["limits"]["budget_usd"]) == (30, 2.0)
    assert told["limits"]["deadline_seconds"] == 2700
