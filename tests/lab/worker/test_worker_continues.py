"""Further tries go on in the program's own session: of the same item, while it is fresh, also after a restart."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_shop import HELP, Shop
from engine import OWNER, REPOSITORY, Engine
from fakes.clock import QuickClock
from worker_scene import eventually, once, pulls

from lab.github.server import CHECK_NAME
from lab.model.script import Script
from lab.model_server import ModelServer
from shared.budget import ledger_lines
from shared.budget.ledger_lines import Settlement
from shared.scheduling.agent_contract import Result
from shared.workflow import Role

pytestmark = pytest.mark.long

KEY = "sk-ant-c4n4ry-0123456789abcdef"

PROGRAM = r"""
flag = "--resume" if "--resume" in sys.argv else "--session-id"
name = sys.argv[sys.argv.index(flag) + 1] if flag in sys.argv else "forgotten"
memory = pathlib.Path(os.environ["HOME"], ".claude", "projects", "-tree", name + ".jsonl")
kinds = {"Write the tests": "write_tests", "Implement one": "implement", "fails in continuous": "fix_ci"}
kind = next(word for text, word in kinds.items() if text in prompt)
known = [json.loads(line)["call"] for line in memory.read_text().splitlines()] if memory.exists() else []
refused = flag == "--resume" and (REFUSES or not known)
print(json.dumps({"type": "told", "kind": kind, "known": known, "prompt": prompt, "refused": refused}))
if refused:
    sys.stderr.write("No conversation found with session ID")
    sys.exit(1)
usage = {"input_tokens": 100, "cache_read_input_tokens": 700 if known else 0, "output_tokens": 1}
print(json.dumps({"type": "stream_event", "event": {"type": "message_start", "message": {"usage": usage}}}))
code = "from directory.greeting import greet\n\n\ndef test_greets():\n    assert greet('Ada') == 'Hello, Ada'\n"
greeting = "name" if "attempt 1 of" in prompt else "f'Hello, {name}'"
if kind == "write_tests":
    pathlib.Path("tests/test_greeting.py").write_text(code)
elif kind == "implement":
    pathlib.Path("directory/greeting.py").write_text("def greet(name):\n    return " + greeting + "\n")
else:
    repaired = pathlib.Path("once.md")
    (pathlib.Path("twice.md") if repaired.exists() else repaired).write_text("fixed")
memory.parent.mkdir(parents=True, exist_ok=True)
memory.write_text("".join(json.dumps({"call": one}) + "\n" for one in [*known, kind]))
result(total_cost_usd=0.01)
"""
"""Remembers, in its home, which calls it was given; its first code is wrong, and each repair adds a document."""


@dataclass
class Remembering:
    """An engine whose program remembers, and what that was told."""

    engine: Engine
    shop: Path

    @property
    def calls(self) -> list[dict[str, Any]]:
        """Everything that it was asked, as its transcripts tell."""
        found = (self.engine.directory / "machine-1" / "kept" / "calls").rglob("*.jsonl")
        ordered = sorted(found, key=lambda file: file.stat().st_mtime_ns)
        return [json.loads(file.read_text().partition("\n")[0]) for file in ordered]

    def program(self, *, refuses: bool = False) -> None:
        """Use a program that resumes no session if `refuses`, else the usual one, from now on."""
        body = PROGRAM.replace("REFUSES", str(refuses))
        path = Shop(self.shop).program(body, help_text=f"{HELP} --session-id --resume")
        self.engine.more_settings["claude_cli"] = str(path)

    def known(self) -> list[tuple[str, list[str]]]:
        """Return each answered call with what the program remembered then."""
        return [(call["kind"], call["known"]) for call in self.calls if not call["refused"]]

    @property
    def kept(self) -> list[Path]:
        """The sessions on the machine."""
        return sorted((self.engine.directory / "machine-1" / "sessions").rglob("*.session"))

    async def stopped_after_a_try(self) -> int:
        """Stop an agent as soon as it has heard of its first attempt; return its issue."""
        number = self.engine.ready("Greet people")
        async with self.engine.agent(Role.WORKER) as worker:
            await self.engine.look(worker)
            await eventually(lambda: any(file.stem == "implement" for file in self.kept))
        return number

    async def gone_on_with(self) -> None:
        """Run an agent on the same machine until the item has ended."""
        async with self.engine.agent(Role.WORKER) as worker:
            await self.engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER]

    async def settled(self) -> list[int | None]:
        """Return `resumed` of each run that the ledger has settled, the newest last."""
        bare = self.engine.lab.at(REPOSITORY).bare
        texts = (await bare.git.run("log", "--reverse", "--format=%B%x00", "refs/ack/ledger")).text.split("\0")
        lines = [line for text in texts for line in text.splitlines()]
        entries = (ledger_lines.read(line) for line in lines)
        return [entry.details.resumed for entry in entries if isinstance(entry, Settlement)]


@pytest.fixture
async def scene(engine: Engine) -> AsyncIterator[Remembering]:
    """Yield an engine that may continue sessions of the last five minutes."""
    shop = engine.directory / "bin"
    shop.mkdir()
    async with ModelServer(Script(())) as server:
        engine.variables = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}
        engine.more_settings = {"llm": {"resume_seconds": 300}}
        engine.repository_settings |= {"llm_backend": "claude"}
        engine.clock = QuickClock(engine.lab.clock.advance)
        engine.ci.jobs = {CHECK_NAME: "true"}
        scene = Remembering(engine, shop)
        scene.program()
        yield scene


async def test_a_second_try_goes_on_with_the_first_and_is_told_what_was_taken_back(scene: Remembering) -> None:
    number = scene.engine.ready("Greet people")
    await once(scene.engine, number)
    assert scene.known() == [("write_tests", []), ("implement", []), ("implement", ["implement"])]
    again = scene.calls[-1]["prompt"]
    assert again.startswith("You go on with your own earlier work.")
    assert "directory/greeting.py" in again.split("Implement one")[0]
    assert "tests/test_greeting.py" not in again.split("Implement one")[0]
    assert len(pulls(scene.engine)) == 1
    assert await scene.settled() == [None, None, 100]
    assert [file.name for file in scene.kept] == ["implement.session", "write_tests.session"]


async def test_another_item_never_goes_on_with_it(scene: Remembering) -> None:
    first = scene.engine.ready("Greet people")
    await once(scene.engine, first)
    second = scene.engine.ready("Greet everybody")
    before = len(scene.calls)
    await once(scene.engine, second)
    assert [call["known"] for call in scene.calls[before:]][:2] == [[], []]
    assert all(f"issue-{number}" in str(scene.kept) for number in (first, second))


@pytest.mark.parametrize(("seconds", "known"), [(0, ["implement"]), (400, [])])
async def test_after_a_restart_a_try_goes_on_with_the_last_one_unless_that_is_too_old(
    scene: Remembering, seconds: int, known: list[str]
) -> None:
    engine = scene.engine
    await scene.stopped_after_a_try()
    assert isinstance(engine.clock, QuickClock)
    engine.clock.skip(seconds)
    await scene.gone_on_with()
    assert scene.known()[1:] == [("implement", []), ("implement", known), ("implement", [*known, "implement"])]


async def test_a_session_that_is_refused_costs_nothing_and_begins_anew(scene: Remembering) -> None:
    scene.program(refuses=True)
    number = scene.engine.ready("Greet people")
    worker = await once(scene.engine, number)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert scene.known() == [("write_tests", []), ("implement", []), ("implement", [])]
    assert sum(call["refused"] for call in scene.calls) == 1
    assert await scene.settled() == [None, None, None], "three runs are paid, not four"


async def test_who_edits_the_text_is_heard_without_what_it_said_before(scene: Remembering) -> None:
    number = await scene.stopped_after_a_try()
    scene.engine.lab.at(REPOSITORY).issues.edit(number, OWNER, body="Greet them warmly.")
    await scene.gone_on_with()
    assert scene.known()[1:3] == [("implement", []), ("implement", [])]


async def test_a_repair_of_ci_goes_on_with_the_last_repair_and_not_with_who_wrote_the_code(scene: Remembering) -> None:
    scene.engine.ci.jobs = {CHECK_NAME: "echo 'a.py:1: error: no'; test -f twice.md"}
    scene.engine.ready("Greet people")
    await scene.gone_on_with()
    assert scene.known()[3:] == [("fix_ci", []), ("fix_ci", ["fix_ci"])]
    assert "(none)" in scene.calls[-1]["prompt"].partition("A change passed")[0], "its files are as it left them"


async def test_what_a_hook_may_change_after_a_run_is_not_gone_on_with(scene: Remembering) -> None:
    scene.engine.repository_settings |= {"hooks": {"after_run": "true"}}
    await once(scene.engine, scene.engine.ready("Greet people"))
    assert scene.known() == [("write_tests", []), ("implement", []), ("implement", [])]
    assert scene.kept == []


async def test_what_is_given_up_leaves_no_session(scene: Remembering) -> None:
    scene.engine.repository_settings |= {"max_attempts": 1}
    number = scene.engine.ready("Greet people")
    worker = await once(scene.engine, number)
    assert [end.result for end in worker.ended] == [Result.FAILED]
    assert scene.kept == []


async def test_without_the_key_nothing_is_kept_and_every_call_begins_anew(scene: Remembering) -> None:
    engine = scene.engine
    (engine.directory / "machine-1" / "sessions" / "ada__directory").mkdir(parents=True)
    del engine.more_settings["llm"]["resume_seconds"]
    await once(engine, engine.ready("Greet people"))
    assert [call["known"] for call in scene.calls] == [[], [], []]
    assert not (engine.directory / "machine-1" / "sessions").exists()


async def test_an_agent_with_nothing_to_do_forgets_what_is_too_old(scene: Remembering) -> None:
    engine = scene.engine
    engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert scene.kept != []
        assert isinstance(engine.clock, QuickClock)
        engine.clock.skip(400)
        await engine.tick(worker)
        assert scene.kept == []
