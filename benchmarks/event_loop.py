"""Times for which agents keep their event loop busy: a usual story, a large log, a large change, many issues.

While a loop is busy, no heartbeat is sent and no order of a person is heard. Only processor time counts, which other
load on the machine does not change; the story is told by three agents in one process, as `run` starts them.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from benchmarks import watched
from benchmarks.idle import BODY
from benchmarks.idle import ISSUES as THREADS
from benchmarks.lab_host import OWNER, REPOSITORY, LabHost, house
from benchmarks.requests import script
from benchmarks.stub_tests import REPORT
from benchmarks.table import Row
from benchmarks.throughput import STUB
from shared import process

GOAL_SECONDS = 0.1

SECONDS = 900.0
"""Seconds after which a story counts as stuck."""

LOG_BYTES = 40_000_000

FILES = 5_000

NAME = "initial"

_WRITING = f"import pathlib; [pathlib.Path(f'data_{{n}}.txt').write_text(str(n)) for n in range({FILES})]"
_MANY_FILES = (sys.executable, "-c", _WRITING)
"""A code generator that runs after the coder, which is scripted and would else be what is measured."""


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Measure the longest turn of the loop in each of four stories."""
    stories: dict[str, dict[str, Any]] = {
        "a usual story": {},
        f"tests that print {LOG_BYTES // 10**6} MB": {"test_command": f"{STUB} {LOG_BYTES}"},
        f"a change of {FILES:,} files, which is refused": {"hooks": {"after_run": shlex.join(_MANY_FILES)}},
        f"a repository with {THREADS:,} open issues": {"threads": THREADS},
    }
    rows: list[Row] = []
    details: dict[str, object] = {}
    for number, (name, given) in enumerate(stories.items()):
        directory = root / str(number)
        directory.mkdir()
        longest = await _measure_story(directory, **given)
        rows.append(Row(f"the loop's longest turn: {name}", longest[0]["used"], "s", GOAL_SECONDS))
        details[name] = longest
    return rows, details


async def _measure_story(root: Path, *, threads: int = 0, **given: Any) -> list[dict[str, float]]:
    """Return the ten longest turns until the merge or the issue's failure, the longest first."""
    log = root / "turns.txt"
    settings = {"test_command": STUB, "test_report": REPORT} | given
    async with house(root, script(NAME), check_command="true", **settings) as here:
        for number in range(threads):
            here.lab.issue(REPOSITORY, f"Story {number}", BODY, author=OWNER, labels=("bug",))
        issue = here.ready_issue(f"Count users by {NAME}")
        async with _watch_agents(here, log):
            complaint = f"The issue did not end within {SECONDS:.0f} s"
            await here.until(lambda: _has_ended(here, issue), SECONDS, lambda: complaint)
    turns = sorted(watched.blocks(log), key=lambda turn: -turn["used"])[:10]
    return [dict(turn) for turn in turns] or [{"used": 0.0, "gone": 0.0, "at": 0.0}]


def _has_ended(here: LabHost, number: int) -> bool:
    issue = here.lab.at(REPOSITORY).issues.require(number)
    return not issue.open or "status:failed" in issue.labels


@asynccontextmanager
async def _watch_agents(here: LabHost, log: Path) -> AsyncIterator[None]:
    """Run planner, worker and reviewer in one process, whose loop is watched."""
    config = here.config("machine")
    argv = (sys.executable, "-m", "benchmarks.watched", str(log), "console", "run", "--config", str(config))
    async with process.started(argv, cwd=here.root, env=here.environment, log=here.log("agents")):
        yield
