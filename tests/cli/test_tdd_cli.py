"""`workflow-engine tdd` with the real Claude Code, at a scripted model: from a specification to an approved branch."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cli.coding import TOKEN, program, search_path
from lab import stub_project
from lab.github.repositories.git_command import Git, signed
from lab.model.script import Script
from lab.model_server import ModelServer
from shared import process

ROOT = Path(__file__).parents[2]
ME = ("Me", "me@example.org")
MET = [{"id": "AC1", "met": True, "note": "test_greeting.sh: red before, green after"}]


def written(path: str, content: str) -> list[dict[str, object]]:
    tool = {"name": "Write", "input": {"file_path": f"{{cwd}}/{path}", "content": content}}
    return [{"say": f"Writing {path}.", "tools": [tool]}, {"say": "Done."}]


TEST = "grep -q Hello hi.txt\n"
MODEL = [
    {"for": "Write the tests for one specification", "turns": written("tests/test_greeting.sh", TEST)},
    {"for": "This is attempt 1 of", "turns": written("hi.txt", "Hello, everybody!\n")},
    {
        "for": "Review one pull request",
        "turns": [
            {
                "answer": {
                    "verdict": "approved",
                    "summary": "It greets.",
                    "findings": [],
                    "criteria": MET,
                    "breaking_change": {"breaks": False, "why": ""},
                }
            }
        ],
    },
    {"for": "Check, as the tester of this project,", "turns": [{"answer": {"criteria": MET}}]},
]


async def test_a_real_program_builds_a_specification_without_a_key(root: Path) -> None:
    top = root / "project"
    for name, text in stub_project.FILES.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    for command in (("init", "--quiet", "--initial-branch=main"), ("add", "--all"), ("commit", "--quiet", "-m", "One")):
        await Git(top).check(*command, env=signed(ME, ME))
    (root / "SPEC.md").write_text("# Greet people\n\n## Acceptance criteria\n\n- [ ] AC1: hi.txt says `Hello`.\n")
    async with ModelServer(Script.read(MODEL)) as server:
        finished = await process.run(
            (sys.executable, "-m", "console", "tdd", "../SPEC.md", "--json", "--branch", "made"),
            cwd=top,
            env=variables(root, server.url),
        )
        assert finished.code == 0, finished.stderr.decode()
        assert server.unscripted == []
        assert {seen.token for seen in server.journal} == {TOKEN}
    told = json.loads(finished.stdout)
    assert (told["state"], told["calls"], told["calls_of_unknown_cost"]) == ("done", 4, 0)
    assert told["cost_usd"] > 0
    assert told["input_tokens"] > told["output_tokens"] > 0
    shown = await Git(top).check("show", "made:hi.txt")
    assert shown.text.strip() == "Hello, everybody!"
    assert TOKEN not in finished.text


def variables(root: Path, url: str) -> dict[str, str]:
    """Write the configuration of the command, and return the environment that names it."""
    repository = {key: stub_project.SETTINGS[key] for key in ("test_command", "test_report", "refactor")}
    config = {
        "repositories": [{"name": "local/any", "llm_backend": "claude", **repository}],
        "state_dir": str(root / "state"),
        "sandbox": "none",
        "claude_cli": str(program("claude", "0.2.187")),
    }
    (root / "config.json").write_text(json.dumps(config))
    return {
        **search_path(),
        "HOME": str(root),
        "PYTHONPATH": str(ROOT),
        "WORKFLOW_ENGINE_CONFIG": str(root / "config.json"),
        "ANTHROPIC_API_KEY": TOKEN,
        "ANTHROPIC_BASE_URL": url,
    }
