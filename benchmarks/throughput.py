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

import psutil

from benchmarks.lab_host import REPOSITORY, ROOT, LabHost, house
from benchmarks.requests import field_name, script
from benchmarks.stub_tests import REPORT
from benchmarks.table import Row
from shared.workflow import Role

WORKERS, ISSUES = 3, 9
"""Numbers that a machine of two cores can do in a minute; the goal speaks of `--workers 10 --issues 50`."""

SECONDS_PER_ISSUE = 60.0

STUB = f"PYTHONPATH={shlex.quote(str(ROOT))} {shlex.quote(sys.executable)} -m benchmarks.stub_tests"


async def measure(root: Path, workers: int = WORKERS, issues: int = ISSUES) -> tuple[list[Row], dict[str, object]]:
    """Measure issues that are ready at once; the coder and the tests cost next to nothing."""
    names = [field_name(number) for number in range(issues)]
    async with house(root, script(*names), check_command="true", test_command=STUB, test_report=REPORT) as here:
        for name in names:
            here.ready_issue(f"Count users by {name}")
        began, lab = here.clock.boot(), _own_seconds()
        await _work(here, workers, issues)
        seconds = here.clock.boot() - began
        rows = _rows(here, workers, issues, seconds)
        rows.append(Row("the lab's and the proxy's share of one core", (_own_seconds() - lab) / seconds, "cores"))
        return rows, {"workers": workers, "issues": issues, "load": round(psutil.getloadavg()[0], 1)}


async def _work(here: LabHost, workers: int, issues: int) -> None:
    async with AsyncExitStack() as stack:
        for number in range(workers):
            await stack.enter_async_context(here.running(Role.WORKER, f"worker-{number}", state=f"machine-{number}"))
        await here.until(
            lambda: _count_handed_over(here) >= issues,
            SECONDS_PER_ISSUE * issues,
            lambda: f"{_count_handed_over(here)} of {issues} issues were handed over in time",
        )


def _count_handed_over(here: LabHost) -> int:
    threads = here.lab.at(REPOSITORY).issues.records.values()
    return sum("status:reviewing" in thread.labels for thread in threads if not thread.is_pull)


def _rows(here: LabHost, workers: int, issues: int, seconds: float) -> list[Row]:
    repository, seen = here.lab.at(REPOSITORY), here.proxy.tally()
    heads = Counter(pull.head_branch for pull in repository.pulls.records.values())
    failed = sum("status:failed" in thread.labels for thread in repository.issues.records.values())
    return [
        Row("pull requests beyond one per issue", sum(heads.values()) - len(heads), "pull requests", 0),
        Row("issues without a pull request", issues - len(heads), "issues", 0, "none starved"),
        Row("issues that failed", failed, "issues", 0),
        Row("seconds per issue", seconds / issues, "s", note=f"{workers} workers, {issues} issues, lab included"),
        Row("charged requests per issue", seen.charged / issues, "requests"),
    ]


def _own_seconds() -> float:
    """Return the processor time of this process, which is the lab and the proxy, without their git and CI."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
