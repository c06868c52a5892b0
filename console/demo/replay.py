"""`workflow-engine replay`: a recorded issue once more, in a lab on this machine, with the recorded answers."""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from config.settings import Settings
from lab.__main__ import ENGINE, PERMISSIONS, REVIEWER
from lab.agents import at_work, process_of
from lab.demo import own_project
from lab.demo.setup import MAINTAINER, REPOSITORY
from lab.github.clock import LabClock
from lab.github.server import Lab
from runtime.exit_codes import complain
from shared.errors import EngineError, Misconfigured
from shared.llm import recording
from shared.llm.port import CoderCall
from shared.llm.scenario import Scenario
from shared.llm.scripted import Scripted
from shared.workflow import Role

MOST_TICKS = 60
"""Rounds of ticks after which the replay counts as endless."""


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """Options of `replay` from the command line."""

    directory: Path
    item: str | None = None
    test_command: str | None = None
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Recorded:
    """One issue of a recording: what its tree was, what it said, and every call that was made for it."""

    item: str
    archive: Path
    title: str
    body: str
    test_command: str | None
    calls: Sequence[Mapping[str, Any]]

    @property
    def red_runs(self) -> int:
        """Number of times that CI has to be red: a failure that names no test is rerun once before it is repaired."""
        return 2 * len({(one["round"], one["attempt"]) for one in self.calls if one["call"] == CoderCall.FIX_CI})

    def has(self, call: CoderCall) -> bool:
        """Return whether such a call was recorded, whatever came of it."""
        return any(one["call"] == call for one in self.calls)


def replayed(options: ReplayOptions, environment: Mapping[str, str]) -> int:
    """Play it; 0 when every recorded answer was asked for again and no other, 1 when not, 2 for no recording."""
    root = Path(tempfile.mkdtemp(prefix="replay-"))
    try:
        issue = chosen(recording.exchanges(options.directory), options)
        return anyio.run(_play, issue, root, environment)
    except EngineError as error:
        return complain(error)
    finally:
        if options.keep:
            sys.stdout.write(f"Everything was kept in {root}.\n")
        else:
            shutil.rmtree(root, ignore_errors=True)


def chosen(found: Sequence[Mapping[str, Any]], options: ReplayOptions) -> Recorded:
    """The issue to play; raises `Misconfigured` where there is none, or several and none was named."""
    items = dict.fromkeys(one["item"] for one in found if one["call"] == CoderCall.WRITE_TESTS)
    wanted = [item for item in items if options.item is None or item.lstrip("#") == options.item.lstrip("#")]
    if len(wanted) != 1:
        raise Misconfigured(
            f"{options.directory} holds {', '.join(items) or 'no issue that was begun'}: choose one with --item."
        )
    first = next(one for one in found if one["item"] == wanted[0])
    archive = recording.tree_of(options.directory, wanted[0])
    if not archive.is_file():
        raise Misconfigured(f"{archive} is missing: without it nobody knows on which files the recording began.")
    calls = [one for one in found if one["title"] == first["title"] and one["call"] != CoderCall.PLAN]
    command = options.test_command or first.get("test_command")
    return Recorded(wanted[0], archive, first["title"], first["body"], command, calls)


async def _play(issue: Recorded, root: Path, environment: Mapping[str, str]) -> int:
    scenario = root / "scenario.yml"
    scenario.write_text(recording.scenario(issue.calls), encoding="utf-8")
    source = await own_project.unpacked(issue.archive, root / "project")
    async with Lab(root / "github") as lab:
        people = {ENGINE: "write", REVIEWER: "write"}
        ci = "".join(red_once(root / f"ci-{number}") for number in range(issue.red_runs)) + "true"
        await lab.repository(
            REPOSITORY, {"README.md": "A copy is on its way.\n"}, collaborators=people, check_command=ci
        )
        await own_project.bring(lab, source)
        number = lab.issue(REPOSITORY, issue.title, issue.body, author=MAINTAINER, labels=("status:ready",)).number
        said = await _work(lab, issue, root, scenario, environment)
        labels = sorted(label for label in lab.at(REPOSITORY).issues.require(number).labels if ":" in label)
    coder = Scripted(Scenario.load(scenario), LabClock(), root / "state" / "scripted")
    return _verdict(issue, coder.unread(), said, labels)


def red_once(mark: Path) -> str:
    """Return the beginning of a check that fails the first time that it is run, and not again."""
    file = shlex.quote(str(mark))
    return f"{{ test -e {file} || {{ touch {file}; exit 1; }}; }} && "


async def _work(lab: Lab, issue: Recorded, root: Path, scenario: Path, environment: Mapping[str, str]) -> list[str]:
    """Let the agents tick until nothing more happens; return how each item ended."""
    clock = LabClock()
    async with AsyncExitStack() as stack:
        loops = []
        for role in (Role.WORKER, Role.REVIEWER) if issue.has(CoderCall.REVIEW) else (Role.WORKER,):
            login = REVIEWER if role is Role.REVIEWER else ENGINE
            token = {"GITHUB_TOKEN": lab.token(login, PERMISSIONS[login])}
            settings = _settings(lab, issue, root, scenario)
            process = stack.enter_context(process_of(settings, role, clock, {**environment, **token}))
            loop, _ = await stack.enter_async_context(at_work(process, observe=False))
            loops.append(loop)
        quiet = 0
        for _ in range(MOST_TICKS):
            before = [len(loop.ended) for loop in loops]
            for loop in loops:
                await loop.tick()
                await loop.quiet()
            await lab.idle()
            resting = [rest.until for loop in loops for rest in loop.resting if rest.until is not None]
            if resting:  # a wait that was recorded takes no time here
                clock.advance(900)
                lab.clock.advance(900)
            idle = before == [len(loop.ended) for loop in loops] and not any(loop.resting for loop in loops)
            quiet = quiet + 1 if idle else 0
            if quiet == 2:
                break
        return [f"{end.result}: {end.sentence}" for loop in loops for end in loop.ended]


def _settings(lab: Lab, issue: Recorded, root: Path, scenario: Path) -> Settings:
    repository: dict[str, object] = {
        "name": REPOSITORY,
        "poll_interval": 0.05,
        "llm_backend": "scripted",
        "test_command": issue.test_command,
        "merge": "auto",
        "refactor": "auto" if issue.has(CoderCall.REFACTOR) else "off",
        "review": {"second_pass": issue.has(CoderCall.CHECK_CRITERIA)},
    }
    return Settings.model_validate(
        {
            "repositories": (repository,),
            "state_dir": root / "state",
            "github": {"api_url": lab.url, "write_interval_seconds": 0.0},
            "lock": {"settle": 0.05},
            "sandbox": "none",
            "llm": {"scenario": scenario},
        },
        strict=False,
    )


def _verdict(issue: Recorded, unread: Sequence[str], sentences: Sequence[str], labels: Sequence[str]) -> int:
    for line in _lines(issue, unread, sentences, labels):
        sys.stdout.write(f"{line}\n")
    return 1 if unread or any("no answer" in sentence for sentence in sentences) else 0


def _lines(issue: Recorded, unread: Sequence[str], sentences: Sequence[str], labels: Sequence[str]) -> Iterator[str]:
    yield f"{issue.item} {issue.title}: {len(issue.calls)} recorded calls."
    yield from sentences
    yield f"The issue ended with {', '.join(labels) or 'no label of a stage'}."
    if unread:
        yield "It did not go the same way; these answers were never asked for:"
        yield from (f"- {answer}" for answer in unread)
    else:
        yield "Every recorded answer was asked for again."
