"""Many issues one after another through three agents in one process: the memory and descriptors that stay for good."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import psutil

from benchmarks.lab_host import OWNER, REPOSITORY, LabHost, Stuck, house
from benchmarks.requests import field_name, script
from benchmarks.stub_tests import REPORT
from benchmarks.table import Row
from benchmarks.throughput import STUB
from lab.github.repositories.git_command import signed
from lab.github.repositories.git_objects import commit_tree
from shared import process

ISSUES = 200
"""Number of issues by default. The goal speaks of `--issues 1000`, which takes some hours."""

FIRST = 50
"""Number of merged issues after which everything is loaded that will ever be, and every cache has its size."""

SUBJECTS = 50
"""Number of subjects, after which the project is set back to its beginning: the agents hold the whole script."""

AT_ONCE = 3
"""Number of issues that are ready at a time; the next one is written when one was merged."""

SECONDS_PER_ISSUE = 120.0

CHARGED_PER_HOUR = 1_000_000
"""Limit of an account, so high that nothing waits for it: by GitHub's own a thousand issues would take nine hours."""

QUIET_SECONDS = 15.0
"""Seconds between the end of an issue and a sample.

Then its temporary objects are gone, and git's readers that stay open for ten seconds are closed.
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """The memory, descriptors and threads of the process after so many merged issues, and its processor time so far."""

    merged: int
    mebibytes: float
    descriptors: int
    threads: int
    own_seconds: float
    children_seconds: float
    """Processor time of its ended children: git, the stub that stands for the tests."""


async def measure(root: Path, issues: int = ISSUES) -> tuple[list[Row], dict[str, object]]:
    """Take samples at the fiftieth issue and at the end."""
    names = [field_name(number) for number in range(min(issues, SUBJECTS))]
    tests: dict[str, Any] = {"check_command": "true", "test_command": STUB, "test_report": REPORT}
    async with house(root, script(*names), charged_per_hour=CHARGED_PER_HOUR, **tests) as here:
        argv = (sys.executable, "-m", "console", "run", "--config", str(here.config("machine")))
        async with process.started(argv, cwd=root, env=here.environment, log=here.log("agents")) as child:
            samples = await _take_samples(here, names, issues, psutil.Process(child.pid))
    return _rows(samples), {"samples": [(one.merged, round(one.mebibytes, 1)) for one in samples]}


async def _take_samples(here: LabHost, names: list[str], issues: int, agents: psutil.Process) -> list[Sample]:
    """Return a sample after every tenth of the issues, after the fiftieth, and after the last; tell each to stderr."""
    tenth = issues // 10 or 1
    marks = sorted({*range(tenth, issues, tenth), min(FIRST, issues), issues})
    beginning = (await here.lab.at(REPOSITORY).bare.git.check("rev-parse", "refs/heads/main^{tree}")).text
    samples: list[Sample] = []
    written = 0
    for mark in marks:
        with anyio.move_on_after(SECONDS_PER_ISSUE * (mark - (samples[-1].merged if samples else 0))) as limit:
            while (merged := _count_merged(here)) < mark:
                if merged == written and written % len(names) == 0:
                    await _set_back(here, beginning)
                round_ends = (merged // len(names) + 1) * len(names)
                while written < min(merged + AT_ONCE, mark, round_ends):
                    here.ready_issue(f"Count users by {names[written % len(names)]}")
                    written += 1
                await here.clock.sleep(0.2)
        if limit.cancelled_caught:
            raise Stuck(f"{_count_merged(here)} of {mark} issues were merged in time: see {here.root}.")
        await here.clock.sleep(QUIET_SECONDS)
        samples.append(_take_sample(mark, agents))
        sys.stderr.write(f"{samples[-1]}\n")
    return samples


async def _set_back(here: LabHost, tree: str) -> None:
    """Commit the project's first files on top of main, as a person would who begins anew."""
    bare = here.lab.at(REPOSITORY).bare
    owner = signed((OWNER, f"{OWNER}@example.org"), (OWNER, f"{OWNER}@example.org"))
    commit = await commit_tree(bare.git, tree, [await bare.sha("refs/heads/main") or ""], "Begin anew", owner)
    await bare.update_ref("refs/heads/main", commit)


def _count_merged(here: LabHost) -> int:
    return sum(not thread.open for thread in here.lab.at(REPOSITORY).issues.records.values() if not thread.is_pull)


def _take_sample(merged: int, agents: psutil.Process) -> Sample:
    with agents.oneshot():
        used, memory = agents.cpu_times(), agents.memory_info().rss / 2**20
        own, children = used.user + used.system, used.children_user + used.children_system
        return Sample(merged, memory, agents.num_fds(), agents.num_threads(), own, children)


def _rows(samples: list[Sample]) -> list[Row]:
    first = next(one for one in samples if one.merged >= min(FIRST, samples[-1].merged))
    last = samples[-1]
    span = f"from the {first.merged}th to the {last.merged}th merged issue"
    return [
        Row("memory of three agents in one process at the end", last.mebibytes, "MiB RSS"),
        Row("memory gained", last.mebibytes - first.mebibytes, "MiB", 5.0, span),
        Row("descriptors gained", last.descriptors - first.descriptors, "descriptors", 0, span),
        Row("threads gained", last.threads - first.threads, "threads", 0, span),
        *_processor_time(first, last, span),
    ]


def _processor_time(first: Sample, last: Sample, span: str) -> list[Row]:
    issues = max(1, last.merged - first.merged)
    own, children = last.own_seconds - first.own_seconds, last.children_seconds - first.children_seconds
    return [
        Row("processor time of the agents per issue, polls included", own / issues, "s", 1.0, span),
        Row("processor time of their programs per issue: git, stubs of tests", children / issues, "s", note=span),
    ]
