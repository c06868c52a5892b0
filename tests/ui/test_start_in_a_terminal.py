"""`workflow-engine start` as a newcomer types it: a hidden token, an answer that is wrong at first, Ctrl-C."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from engine import ENGINE, REPOSITORY, WRITES, Engine
from project_pytest import ALONE
from tmux_terminal import terminal
from ui_scene import variables

from shared.github.label_board import LOOKS, STORY_LOOK
from shared.workflow.labels import Labels


def words(engine: Engine) -> tuple[str, ...]:
    """Return the command for a project whose tests need no sandbox here."""
    engine.scenario.write_text("- call: write_tests\n  for: Search\n  attempt: any\n  takes: 600\n  edits: []\n")
    options = {
        "--api-url": engine.lab.url,
        "--sandbox": "none",
        "--backend": "scripted",
        "--scenario": str(engine.scenario),
        "--test-command": f"{ALONE} {shlex.quote(sys.executable)} -m pytest -q",
    }
    return ("workflow-engine", "start", REPOSITORY, *(word for pair in options.items() for word in pair))


def defined(engine: Engine) -> None:
    """Create all labels, which would take the program a second each."""
    looks = {Labels().of(what): look for what, look in LOOKS.items()} | {"story": STORY_LOOK}
    for name, (colour, description) in looks.items():
        engine.lab.at(REPOSITORY).labels.create(name, colour, description)


async def test_a_newcomer_is_asked_sees_the_work_begin_and_leaves(engine: Engine, tmp_path: Path) -> None:
    defined(engine)
    home = tmp_path / "home of ada"
    home.mkdir()
    token = engine.lab.token(ENGINE, WRITES)
    async with terminal(home, variables(home), columns=80, rows=60) as one:
        await one.runs(*words(engine))
        await one.asks("Paste the token (it is not shown):")
        await one.types("not a token", "Enter")
        await one.sees("That is no token")
        await one.asks("Paste the token (it is not shown):")
        await one.types(token, "Enter")
        await one.sees("engine-bot, by the token that you pasted")
        await one.asks("Token of the reviewer's own account (Enter: leave it out):")
        await one.types("", "Enter")
        await one.asks("What is wanted, in a sentence whose result can be tested (Enter: nothing now):")
        await one.types("Search users by a part of their name", "Enter")
        await one.sees("Writing the tests.")
        at_work = ("status:implementing",)
        await one.until(lambda shown: engine.issue(1).labels == at_work, "the issue at work")
        await one.types("", "C-c")
        assert await one.ended() == 130
        seen = await one.seen()
    assert "Traceback" not in seen
    assert token not in seen
    assert '"event"' not in seen, "no log line"
    assert (home / ".config" / "workflow-engine" / "github.token").read_text().strip() == token


async def test_ctrl_c_at_a_question_says_that_nothing_is_lost(engine: Engine, tmp_path: Path) -> None:
    token = engine.lab.token(ENGINE, WRITES)
    async with terminal(tmp_path, variables(tmp_path, GITHUB_TOKEN=token), columns=80, rows=60) as one:
        await one.runs(*words(engine))
        await one.asks("Token of the reviewer's own account (Enter: leave it out):")
        await one.types("", "C-c")
        assert await one.ended() == 130
        seen = await one.seen()
    assert "Interrupted. What was done stays; the same command goes on." in seen
    assert "Traceback" not in seen
