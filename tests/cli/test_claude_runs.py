"""The real Claude Code does what it is asked: it edits, it runs tests, it answers by a schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.claude_calls import bash, write
from cli.coding import TOKEN, Desk
from shared.llm.port import Ending, RunLimits
from shared.sandbox.confinement import Isolation, Wrap


async def test_it_edits_files_and_runs_tests(desk: Desk) -> None:
    desk.script(
        write("hello.py", "x = 1\n"), bash("python3 -c 'import hello; print(hello.x)' > seen"), {"say": "Done."}
    )
    outcome = await desk.edit()
    assert (outcome.ending, outcome.text, outcome.notes) == (Ending.COMPLETED, "Done.", ())
    assert (desk.tree / "seen").read_text() == "1\n"
    assert outcome.usage.input_tokens == 3000
    assert (outcome.usage.output_tokens, outcome.usage.cached_tokens) == (150, 900)
    assert outcome.usage.cost_source == "claude"
    assert 0 < (outcome.usage.cost_usd or 0) < 1
    assert outcome.log is not None
    assert outcome.log.parent == desk.logs / "completed"


async def test_the_prompt_may_be_long_and_nothing_of_the_call_stands_in_an_argument(desk: Desk) -> None:
    desk.script({"say": "Read."})
    assert (await desk.edit("word " * 60_000)).ending is Ending.COMPLETED
    (seen,) = desk.server.journal
    assert seen.token == TOKEN
    assert sum("word word" in str(message) for message in seen.body["messages"]) == 1


async def test_a_question_is_answered_by_its_schema_and_nothing_can_be_changed(desk: Desk) -> None:
    (desk.tree / "a.py").write_text("x = 1\n")
    desk.script(write("a.py", "x = 2\n"), {"answer": {"verdict": "approve", "why": None}})
    outcome = await desk.ask()
    assert (outcome.ending, outcome.answer) == (Ending.COMPLETED, {"verdict": "approve"})
    assert (desk.tree / "a.py").read_text() == "x = 1\n"
    offered = {tool["name"] for tool in desk.server.journal[0].body["tools"]}
    assert {"Read", "Glob", "Grep", "StructuredOutput"} <= offered
    assert not offered & {"Bash", "Edit", "Write", "WebFetch", "Task"}


async def test_a_question_without_files_gets_no_tools_at_all(desk: Desk) -> None:
    desk.script({"answer": {"verdict": "reject", "why": "no"}})
    outcome = await desk.ask(tree=None, limits=RunLimits(max_turns=1, deadline_seconds=90))
    assert outcome.answer == {"verdict": "reject", "why": "no"}
    offered = {tool["name"] for tool in desk.server.journal[0].body["tools"]}
    assert offered <= {"StructuredOutput", "DeferredToolPlaceholder"}


async def test_workflows_cannot_be_edited_unless_the_request_says_so(desk: Desk) -> None:
    workflows = desk.tree / ".github"
    workflows.mkdir()
    desk.script(write(".github/ci.yml", "on: push\n"), {"say": "Done."})
    assert (await desk.edit()).ending is Ending.COMPLETED
    assert list(workflows.iterdir()) == []
    assert (await desk.edit(protected=())).ending is Ending.COMPLETED
    assert (workflows / "ci.yml").read_text() == "on: push\n"


async def test_it_writes_only_into_its_tree(desk: Desk, root: Path) -> None:
    outside = root / "outside"
    outside.mkdir()
    desk.script(bash(f"touch {outside}/x ~/y; ls {desk.root}/state > seen; touch here"), {"say": "Done."})
    assert (await desk.edit()).ending is Ending.COMPLETED
    assert list(outside.iterdir()) == []
    assert (desk.tree / "here").exists()
    assert (desk.tree / "seen").read_text() == "calls\n"


@pytest.mark.parametrize("kind", [Isolation.TREE_BY_UNSHARE, Isolation.TREE_BY_GROUP])
async def test_other_wrappers_leave_nothing_in_tmp_either(desk: Desk, kind: Isolation) -> None:
    desk.wrap = Wrap(kind)
    desk.script(write("a.py", ""), bash("true"), {"say": "Done."})
    assert (await desk.edit()).ending is Ending.COMPLETED
    assert (desk.tree / "a.py").exists()
