"""`workflow-engine demo`: from a story to a merged pull request on this machine, with nothing but this machine."""

from __future__ import annotations

import shlex
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

from config.environment import cache_place, child_environment, for_installers, snapshot
from console.demo.board import Board, evidence_table
from console.demo.coder import Playing, known_program, playing
from lab.demo import outcome, own_project, setup, stories
from lab.demo.agent_processes import AgentProcesses, parts
from lab.demo.environment import prepared
from lab.demo.own_project import ProjectSource
from lab.demo.setup import MAINTAINER, REPOSITORY, Stage
from lab.demo.stories import Story
from lab.github.server import Lab
from shared.errors import Misconfigured
from shared.loop.real_clock import RealClock

SECONDS_PER_STORY = 120
"""Seconds after which the demonstration has failed."""

SECONDS_OF_A_PROGRAM = 300
"""The same, where a real CLI is started for each call."""

SECONDS_OF_A_MODEL = 3600
"""The same, where a vendor's model thinks."""

KILLED_TIMES = 3
"""Factor for the seconds where agents are killed: after an agent was killed right before it sends a comment, its
successor waits for two minutes, in case GitHub does not show the comment yet.
"""

LOOK_SECONDS = 0.25
"""Seconds between two looks of the board."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """Options of the demonstration. `repo` and `story` go together: the person's own code and story."""

    directory: Path
    stories: int = 1
    workers: int = 1
    keep: bool = False
    kill_every_seconds: float = 0.0
    only_set_up: bool = False
    llm: str = "scripted"
    repo: Path | None = None
    story: str | None = None
    test_command: str | None = None
    budget_usd: float = 10.0
    minutes: float | None = None


async def show(options: DemoOptions, console: Console) -> int:
    """Run it; returns 0 only if everything was merged and closed and the merged tree's tests pass."""
    stories = _stories(options)
    source = await own_project.look(options.repo) if options.repo is not None else None
    root = _place(options.directory.absolute(), source)
    code = 1
    try:
        environment = root.parent / "env"
        if source is None:
            with console.status("Setting up the demo project's own environment (once) ..."):
                environment = await prepared(environment, for_installers())
        if options.only_set_up:
            return 0
        async with playing(options.llm, stories, snapshot(), own_story=source is not None) as coder:
            scene = Stage(
                root,
                environment,
                coder.backend,
                coder.program,
                own=source is not None,
                test_command=options.test_command,
                budget_usd=options.budget_usd,
                paid=coder.paid,
            )
            _introduce(console, coder, source, options)
            code = await _play(Play(scene, stories, options, coder, source), console)
    finally:
        if options.only_set_up or (code == 0 and not options.keep):
            shutil.rmtree(root, ignore_errors=True)
        else:
            console.print(
                f"Everything was kept in {root}: logs, git repositories, states.", markup=False, highlight=False
            )
    return code


def _stories(options: DemoOptions) -> Sequence[Story]:
    """The stories of a demonstration that can be given; what is wrong is said before anything is installed."""
    if options.workers < 1:
        raise Misconfigured(f"--workers takes a number from 1, not {options.workers}.")
    if options.kill_every_seconds < 0:
        raise Misconfigured(
            f"--kill-every takes seconds from 0 (nobody is killed), not {options.kill_every_seconds:g}."
        )
    if not options.budget_usd > 0:
        raise Misconfigured(f"--budget takes US dollars above 0, not {options.budget_usd:g}.")
    if options.minutes is not None and not options.minutes > 0:
        raise Misconfigured(f"--minutes takes a number above 0, not {options.minutes:g}.")
    if options.llm != "scripted":
        known_program(options.llm)
    if (options.repo is None) != (options.story is None):
        raise Misconfigured(
            "--repo and --story go together: a repository of yours, and what should be built there. They need a real "
            "coder too: add --llm claude or --llm codex."
        )
    if options.story is None:
        return stories.first_stories(options.stories)
    if not options.story.strip():
        raise Misconfigured("--story is empty: say in a sentence or two what should be built.")
    if options.llm == "scripted":
        raise Misconfigured("A story of your own needs a real coder: add --llm claude or --llm codex.")
    title, _, body = options.story.strip().partition("\n")
    return (Story(title[:200], body.strip() or title, "", "", ""),)


def _place(directory: Path, source: ProjectSource | None) -> Path:
    """A fresh directory for this run, never inside the person's repository."""
    if source is not None and directory.is_relative_to(source.path):
        directory = cache_place(snapshot()) / "demo"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="run-", dir=directory))
    except OSError as error:
        raise Misconfigured(f"The demo writes to {directory}, which does not work: {error.strerror}.") from None


def _introduce(console: Console, coder: Playing, source: ProjectSource | None, options: DemoOptions) -> None:
    """Print which coder works on which repository, and what it may cost."""
    if source is not None:
        console.print(
            f"Your repository: {source.path}, {source.branch} at {source.commit[:12]}.", markup=False, highlight=False
        )
        console.print("The engine works on a copy; nothing is written there, and nothing goes to GitHub.")
        if source.dirty:
            console.print("Changes that are not committed are not in the copy.", style="yellow")
    console.print(coder.sentence, markup=False, highlight=False)
    if coder.paid:
        console.print(f"All runs together may cost ${options.budget_usd:g} (--budget).", highlight=False)


@dataclass(frozen=True, slots=True)
class Play:
    """One run of the demonstration: place, stories, options, coder, and the person's code."""

    scene: Stage
    stories: Sequence[Story]
    options: DemoOptions
    coder: Playing
    source: ProjectSource | None

    @property
    def seconds(self) -> float:
        """Seconds after which the run has failed."""
        if self.options.minutes is not None:
            return 60 * self.options.minutes
        if self.coder.paid:
            return SECONDS_OF_A_MODEL
        killed = KILLED_TIMES if self.options.kill_every_seconds else 1
        return (SECONDS_PER_STORY if self.coder.program is None else SECONDS_OF_A_PROGRAM) * len(self.stories) * killed

    @property
    def variables(self) -> dict[str, str]:
        """The environment of every child."""
        return child_environment() | {"HOME": str(self.scene.root)} | dict(self.coder.variables)


async def _play(play: Play, console: Console) -> int:
    scene, options, clock = play.scene, play.options, RealClock()
    async with Lab(scene.root / "github") as lab:
        await setup.furnish(lab, scene, play.stories)
        if play.source is not None:
            await own_project.bring(lab, play.source)
        board = Board(lab, console)
        cast = AgentProcesses(scene, play.variables, clock, board.say)
        began = clock.boot()
        async with AsyncExitStack() as stack:
            if console.is_terminal:
                stack.enter_context(Live(board, console=console, refresh_per_second=4))
            group = await stack.enter_async_context(anyio.create_task_group())
            for name, module in parts(options.workers).items():
                group.start_soon(cast.play, name, module)
            if options.kill_every_seconds:
                group.start_soon(cast.kill_at_random, options.kill_every_seconds)
            finished = await _until_merged(lab, board, play, clock)
            group.cancel_scope.cancel()
        died = f"; {cast.deaths} agents were restarted on the way" if cast.deaths else ""
        console.print(f"Finished in {clock.boot() - began:.0f} s{died}.", highlight=False)
        return await _epilogue(lab, play, console, finished=finished)


async def _until_merged(lab: Lab, board: Board, play: Play, clock: RealClock) -> bool:
    """Tell the stories, approve the plans as the maintainer, and watch; False when time is up or an item halted."""
    for story in play.stories:
        lab.issue(REPOSITORY, story.title, story.body, author=MAINTAINER, labels=("story",))
    approved: set[int] = set()
    with anyio.move_on_after(play.seconds):
        while True:
            board.refresh()
            now = outcome.scene(lab)
            if now.finished(len(play.stories)):
                return True
            if now.halted:
                board.say(f"halted: {', '.join(f'#{number}' for number in now.halted)}")
                return False
            for number in outcome.awaiting_approval(lab) - approved:
                board.say(f"{MAINTAINER} approves the plan of #{number}")
                lab.comment(REPOSITORY, number, "/approve", author=MAINTAINER)
                approved.add(number)
            await clock.sleep(LOOK_SECONDS)
    board.say("time is up")
    return False


async def _epilogue(lab: Lab, play: Play, console: Console, *, finished: bool) -> int:
    now = outcome.scene(lab)
    for number in now.merged:
        merged = await outcome.merged(lab, number)
        console.rule(Text(f"#{merged.number} {merged.title}"))
        console.print(Syntax(merged.diff, "diff", background_color="default"))
        console.print(evidence_table(merged))
    for number in now.halted:
        console.rule(Text(f"#{number} needs a person"))
        console.print(outcome.last_word(lab, number), markup=False, highlight=False)
    if play.source is not None:
        return await _hand_out(lab, play, play.source, console, finished=finished)
    tests = await outcome.tests_pass(lab, play.scene, child_environment() | {"HOME": str(play.scene.root)})
    console.rule("The merged tree's own tests")
    console.print(tests.text, markup=False, highlight=False)
    if not finished or tests.code != 0:
        console.print("The demonstration failed: see the agents' logs.", style="red")
        for trouble in outcome.last_troubles(play.scene.root.glob("*.log")):
            console.print(trouble, markup=False, highlight=False)
        return 1
    console.print("Merged, closed, and green. With --keep, logs, repositories and states stay for a closer look.")
    return 0


async def _hand_out(lab: Lab, play: Play, source: ProjectSource, console: Console, *, finished: bool) -> int:
    """The person's own repository: one file with the new commits, and the command that fetches them as a branch."""
    branch = own_project.branch_name(play.stories[0].title)
    file = play.scene.root.parent / f"{branch.replace('/', '-')}-{play.scene.root.name}.bundle"
    if await own_project.bundled(lab, source, file):
        command = ("git", "-C", str(source.path), "fetch", str(file), f"{own_project.RESULT}:refs/heads/{branch}")
        console.rule("The result is a branch that you can fetch")
        console.print(shlex.join(command), markup=False, highlight=False, soft_wrap=True)
        console.print(f"Then look at it: git diff {source.commit[:12]} {branch}", markup=False, highlight=False)
    if not finished:
        console.print("It was not finished; what it says above is what a person would see on the issue.", style="red")
        return 1
    console.print("Merged in the copy, with every new test red before and green after. Your repository is untouched.")
    return 0
