"""A worker's second try with the real Claude Code: it goes on in the first one's session, and says what that spared."""

from __future__ import annotations

import json

from engine import REPOSITORY, Engine
from worker_scene import pulls

from cli.coding import TOKEN, program
from lab.github.server import CHECK_NAME
from lab.model.script import Script
from lab.model_server import ModelServer
from shared.budget import ledger_lines
from shared.budget.ledger_lines import Settlement
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

TEST = "from directory.greeting import greet\n\n\ndef test_greets():\n    assert greet('Ada') == 'Hello, Ada'\n"


def write(path: str, content: str) -> dict[str, object]:
    """Return a turn that writes a file."""
    return {"tools": [{"name": "Write", "input": {"file_path": f"{{cwd}}/{path}", "content": content}}]}


MODEL = [
    {"for": "Write the tests", "turns": [write("tests/test_greeting.py", TEST), {"say": "They fail."}]},
    {
        "for": "Implement one",
        "turns": [
            write("directory/greeting.py", "def greet(name):\n    return name\n"),
            {"say": "I think that this is it."},
            write("directory/greeting.py", "def greet(name):\n    return f'Hello, {name}'\n"),
            {"say": "Now it greets."},
        ],
    },
]


async def test_a_second_try_knows_what_the_first_one_thought(engine: Engine) -> None:
    async with ModelServer(Script.read(MODEL)) as server:
        engine.variables = {"ANTHROPIC_API_KEY": TOKEN, "ANTHROPIC_BASE_URL": server.url}
        path = program("claude", "0.2.187").resolve()
        engine.more_settings = {"claude_cli": str(path), "llm": {"resume_seconds": 300}}
        engine.repository_settings |= {"llm_backend": "claude"}
        engine.ci.jobs = {CHECK_NAME: "true"}
        engine.ready("Greet people")
        async with engine.agent(Role.WORKER) as worker:
            await engine.in_time(lambda: bool(worker.ended), worker, seconds=90)
        assert [one.result for one in worker.ended] == [Result.HANDED_OVER]
        assert server.unscripted == []
        told = json.dumps(server.journal[-1].body["messages"])
    assert told.count("I think that this is it.") == 1
    assert "directory/greeting.py" in told.partition("You go on with your own earlier work.")[2]
    assert "They fail." not in told, "who writes code does not go on with who wrote the tests"
    bare = engine.lab.at(REPOSITORY).bare
    assert b"Hello" in (await bare.read(pulls(engine)[0].head_sha, "directory/greeting.py") or b"")
    lines = (await bare.git.run("log", "--reverse", "--format=%B", "refs/ack/ledger")).text.splitlines()
    runs = [one for one in map(ledger_lines.read, lines) if isinstance(one, Settlement)]
    assert [run.details.resumed for run in runs] == [None, None, 300]
    assert runs[1].usd == runs[2].usd, "two requests each, each paid for once"
