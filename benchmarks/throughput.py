"""Several workers on many issues: one pull request each, nobody starves, and how many requests it takes.

The tests are run by a stub, CI by `true`, the coder by a script: what is left is the engine, git and the lab.
"""

from __future__ import annotations

import resource
import shlex
import sys
from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import psutil

from benchmarks.lab_host import OWNER, REPOSITORY, ROOT, LabHost, house
from benchmarks.requests import Stuck, script
from benchmarks.stub_tests import REPORT
from benchmarks.table import Row
from shared.workflow import Role

WORKERS, ISSUES = 3, 9
"""Numbers that a machine of two cores can do in a minute; the goal speaks of `--workers 10 --issues 50`."""

SECONDS_PER_ISSUE = 60.0

STUB = f"PYTHONPATH={shlex.quote(str(ROOT))} {shlex.quote(sys.executable)} -m benchmarks.stub_tests"


def measure_with(workers: int, issues: int) -> Any:
    """Return `measure` for so many workers and issues."""

    async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
        """Measure issues that are ready at once; the coder and the tests cost next to nothing."""
        names = [_name(number) for number in range(issues)]
        stub: dict[str, Any] = {"test_command": STUB, "test_report": REPORT}
        async with house(root, script(*names), check_command="true", **stub) as here:
            for name in names:
                title = f"Count users by {name}"
                here.lab.issue(REPOSITORY, title, "It counts.", author=OWNER, labels=("status:ready",))
            began, lab = here.clock.boot(), _own_seconds()
            await _work(here, workers, issues)
            seconds = here.clock.boot() - began
            rows, details = _rows(here, workers, issues, seconds)
            share = Row("the lab's and the proxy's share of one core", (_own_seconds() - lab) / seconds, "cores")
            return [*rows, share], details | {"load": round(psutil.getloadavg()[0], 1)}

    return measure


async def _work(here: LabHost, workers: int, issues: int) -> None:
    async with AsyncExitStack() as stack:
        for number in range(workers):
            await stack.enter_async_context(here.running(Role.WORKER, f"worker-{number}", state=f"machine-{number}"))
        with anyio.move_on_after(SECONDS_PER_ISSUE * issues) as limit:
            while _handed_over(here) < issues:
                await here.clock.sleep(0.2)
        if limit.cancelled_caught:
            raise Stuck(f"{_handed_over(here)} of {issues} issues were handed over in time: see {here.root}.")


def _handed_over(here: LabHost) -> int:
    threads = here.lab.at(REPOSITORY).issues.records.values()
    return sum("status:reviewing" in thread.labels for thread in threads if not thread.is_pull)


def _rows(here: LabHost, workers: int, issues: int, seconds: float) -> tuple[list[Row], dict[str, object]]:
    repository, seen = here.lab.at(REPOSITORY), here.proxy.tally()
    heads = Counter(pull.head_branch for pull in repository.pulls.records.values())
    failed = sum("status:failed" in thread.labels for thread in repository.issues.records.values())
    rows = [
        Row("pull requests beyond one per issue", sum(heads.values()) - len(heads), "pull requests", 0),
        Row("issues without a pull request", issues - len(heads), "issues", 0, "none starved"),
        Row("issues that failed", failed, "issues", 0),
        Row("seconds per issue", seconds / issues, "s", note=f"{workers} workers, {issues} issues, lab included"),
        Row("charged requests per issue", seen.charged / issues, "requests"),
    ]
    return rows, {"workers": workers, "issues": issues}


def _own_seconds() -> float:
    """Return the processor time of this process, which is the lab and the proxy, without their git and CI."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _name(number: int) -> str:
    """Return words of which none is a part of another."""
    return f"field_{number:03d}"
