"""`workflow-engine demo`: from a story to a merged pull request on this machine, with nothing but this machine."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import anyio
from rich.console import Console
from rich.live import Live
from rich.syntax import Syntax
from rich.text import Text

from config.environment import child_environment, for_installers
from console.board import Board, evidence_table
from lab.demo import ending, stage, stories
from lab.demo.cast import Cast, parts
from lab.demo.environment import prepared
from lab.demo.stage import MAINTAINER, REPOSITORY, Stage
from lab.demo.stories import Story
from lab.server import Lab
from shared.errors import Misconfigured
from shared.loop import RealClock

SECONDS_PER_STORY = 120
"""After so long the demonstration has failed."""

LOOK_SECONDS = 0.25
"""How often the board looks."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a person asked the demonstration for."""

    directory: Path
    stories: int = 1
    workers: int = 1
    keep: bool = False
    kill_every_seconds: float = 0.0
    only_set_up: bool = False


async def show(wishes: Wishes, console: Console) -> int:
    """Run it; returns 0 only if everything was merged and closed and the merged tree's tests pass."""
    told = stories.told(wishes.stories)
    if wishes.workers < 1:
        raise Misconfigured(f"--workers takes a number from 1, not {wishes.workers}.")
    directory = wishes.directory.absolute()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        root = Path(tempfile.mkdtemp(prefix="run-", dir=directory))
    except OSError as error:
        raise Misconfigured(f"The demo writes to {directory}, which does not work: {error.strerror}.") from None
    code = 1
    try:
        with console.status("Setting up the demo project's own environment (once) ..."):
            environment = await prepared(directory / "env", for_installers())
        if wishes.only_set_up:
            return 0
        code = await _play(Stage(root, environment), told, wishes, console)
    finally:
        if wishes.only_set_up or (code == 0 and not wishes.keep):
            shutil.rmtree(root, ignore_errors=True)
        else:
            console.print(f"Everything was kept in {root}: logs, git repositories, states.", highlight=False)
    return code


async def _play(scene: Stage, told: Sequence[Story], wishes: Wishes, console: Console) -> int:
    variables = child_environment() | {"HOME": str(scene.root)}
    clock = RealClock()
    async with Lab(scene.root / "github") as lab:
        await stage.furnish(lab, scene, told)
        board = Board(lab, console)
        cast = Cast(scene, variables, clock, board.say)
        began = clock.boot()
        async with AsyncExitStack() as stack:
            if console.is_terminal:
                stack.enter_context(Live(board, console=console, refresh_per_second=4))
            group = await stack.enter_async_context(anyio.create_task_group())
            for name, module in parts(wishes.workers).items():
                group.start_soon(cast.play, name, module)
            if wishes.kill_every_seconds:
                group.start_soon(cast.kill_at_random, wishes.kill_every_seconds)
            finished = await _until_merged(lab, board, told, clock)
            group.cancel_scope.cancel()
        console.print(f"{clock.boot() - began:.0f} s, {cast.deaths} agents died on the way.", highlight=False)
        return await _epilogue(lab, scene, console, finished=finished)


async def _until_merged(lab: Lab, board: Board, told: Sequence[Story], clock: RealClock) -> bool:
    """Tell the stories, approve the plans as the maintainer, and watch; False when time is up or an item halted."""
    for story in told:
        lab.issue(REPOSITORY, story.title, story.body, author=MAINTAINER, labels=("story",))
    approved: set[int] = set()
    with anyio.move_on_after(SECONDS_PER_STORY * len(told)):
        while True:
            board.refresh()
            now = ending.scene(lab)
            if now.finished(len(told)):
                return True
            if now.halted:
                board.say(f"halted: {', '.join(f'#{number}' for number in now.halted)}")
                return False
            for number in ending.awaiting_approval(lab) - approved:
                board.say(f"{MAINTAINER} approves the plan of #{number}")
                lab.comment(REPOSITORY, number, "/approve", author=MAINTAINER)
                approved.add(number)
            await clock.sleep(LOOK_SECONDS)
    board.say("time is up")
    return False


async def _epilogue(lab: Lab, scene: Stage, console: Console, *, finished: bool) -> int:
    for number in ending.scene(lab).merged:
        merged = await ending.merged(lab, number)
        console.rule(Text(f"#{merged.number} {merged.title}"))
        console.print(Syntax(merged.diff, "diff", background_color="default"))
        console.print(evidence_table(merged))
    tests = await ending.tests_pass(lab, scene, child_environment() | {"HOME": str(scene.root)})
    console.rule("The merged tree's own tests")
    console.print(tests.text, markup=False, highlight=False)
    if not finished or tests.code != 0:
        console.print("The demonstration failed: see the agents' logs.", style="red")
        return 1
    console.print("Merged, closed, and green. With --keep, logs, repositories and states stay for a closer look.")
    return 0
