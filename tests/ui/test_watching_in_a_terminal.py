"""Programs that people leave running in a window and end with Ctrl-C: board, events, demonstration, a local task."""

from __future__ import annotations

import re
from pathlib import Path

from engine import OWNER, REPOSITORY, Engine, demo_script
from local_project import HANGS, Project
from rich.cells import cell_len
from tmux_terminal import PROMPT, terminal
from ui_scene import ROOT, person, programs, variables

from shared.workflow import Role

COLOUR = re.compile("\x1b\\[[0-9;]*[34][0-7]")


def is_narrow(shown: str) -> bool:
    """Return whether the board is shown in its narrow form, with the figures under the title."""
    return "held by, or" in shown and "/spec-review" in shown


async def test_the_board_follows_what_happens_and_the_window(engine: Engine) -> None:
    number = engine.ready("Find people by 名前, " + "and not by their login " * 3)
    async with person(engine, columns=140, rows=30) as one:
        await one.runs("workflow-engine", "status", REPOSITORY, "--watch", "--interval", "1")
        shown = await one.sees("an idle worker")
        assert f"#{number}" in shown
        assert "Ctrl-C ends." in shown
        assert PROMPT not in shown, "it has a screen of its own"
        for columns in (60, 40):
            await one.resizes(columns, 30)
            shown = await one.until(
                lambda shown: "held by, or" in shown and "/spec-review" in shown, "the narrow board"
            )
            assert max(cell_len(line.rstrip()) for line in shown.splitlines()) <= columns
            assert "ready" in shown
            assert "Ctrl-C ends." in shown
        engine.lab.label(REPOSITORY, number, "flag:paused", actor=OWNER)
        await one.sees("paused")
        await one.resizes(40, 6)
        await one.sees("lines more: make the window")
        await one.types("", "C-c")
        await one.resizes(100, 30)
        assert await one.ended() == 130


async def test_the_board_is_printed_once_without_colours(engine: Engine) -> None:
    engine.ready("Greet people")
    engine.lab.issue(REPOSITORY, "It went wrong", author=OWNER, labels=("status:failed", "flag:manual-intervention"))
    async with person(engine, NO_COLOR="1") as one:
        await one.runs("workflow-engine", "status", REPOSITORY)
        assert await one.ended() == 0
        painted = await one.screen(colours=True)
        assert "manual-intervention" in painted
        assert not COLOUR.search(painted)


async def test_who_leaves_a_followed_board_leaves_no_traceback(engine: Engine) -> None:
    async with person(engine) as one:
        await one.runs("sh", "-c", f"workflow-engine status {REPOSITORY} --watch --interval 1 | head -1")
        assert await one.ended() == 0
        seen = await one.seen()
        assert f"{REPOSITORY}  no open items" in seen
        assert "Traceback" not in seen


async def test_events_are_followed_until_ctrl_c(engine: Engine) -> None:
    engine.scenario = demo_script(engine.directory)
    async with person(engine) as one, engine.agent(Role.PLANNER, state="state") as planner:
        await engine.tick(planner)
        await one.runs("workflow-engine", "events", REPOSITORY, "--follow")
        for number in (1, 2):
            engine.lab.issue(REPOSITORY, "Add user search", "By name.", author=OWNER, labels=("story",))
            await engine.in_time(lambda: len(planner.ended) == number, planner)  # noqa: B023 - awaited here
            await one.sees(f"  #{number}  ")
        await one.types("", "C-c")
        assert await one.ended() == 130
        assert "Traceback" not in await one.seen()


async def test_all_three_agents_say_what_they_do_and_what_ctrl_c_leaves(engine: Engine) -> None:
    """No line is broken within a word by the terminal: a line of the screen never runs into the next one."""
    engine.scenario = demo_script(engine.directory)
    number = engine.ready("Search users by name")
    async with person(engine, columns=80) as one:
        await one.runs("workflow-engine", "run", REPOSITORY)
        await one.sees(f"Planner, worker and reviewer for {REPOSITORY}")
        await one.sees("Looking for work.")
        await one.sees(f"#{number}: the tests: ")
        await one.types("", "C-c")
        assert await one.ended() == 130
        seen = await one.seen()
        assert f"Interrupted; {REPOSITORY}#{number} keeps what was built" in " ".join(seen.split())
        assert max(map(len, seen.splitlines())) <= 80, "joined lines that the terminal had to break"
        assert "Traceback" not in seen


async def test_the_demonstration_is_ended_with_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo/env").symlink_to(ROOT / ".demo/env")
    async with terminal(tmp_path, variables(tmp_path)) as one:
        await one.runs("workflow-engine", "demo", "--directory", str(tmp_path / "demo"))
        shown = await one.sees("#1 story opened")
        assert [line for line in shown.splitlines() if line[:1] == "│" and line.rstrip()[-1] != "│"] == []
        await one.resizes(50, 50)
        await one.sees("what happened")
        await one.types("", "C-c")
        assert await one.ended() == 130
        seen = await one.seen()
        assert "Traceback" not in seen
        assert "Everything was kept in" in seen


async def test_a_task_of_ones_own_is_ended_with_ctrl_c_and_says_how_to_go_on(tmp_path: Path) -> None:
    project = await Project.made(tmp_path)
    before = await project.photograph()
    config = project.configured(HANGS["code"])
    environment = project.variables() | {
        "PATH": f"{programs(tmp_path)}:{project.variables()['PATH']}",
        "LANG": "C.UTF-8",
    }
    async with terminal(project.top, environment) as one:
        await one.runs("workflow-engine", "tdd", "../SPEC.md", "--config", str(config))
        await one.sees("Ctrl-C stops it")
        await one.types("", "C-c")
        assert await one.ended() == 130
        seen = await one.seen()
        assert "--resume" in seen
        assert "Traceback" not in seen
    assert await project.photograph() == before
