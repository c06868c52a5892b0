"""The reader of a Maven run's report: its log, then each of Surefire's files behind a line with its path.

Tests can write files that look like Surefire's; the log is Maven's own (output of tests goes to other files), and its
sums must be those of the files.
"""

from __future__ import annotations

import json
import re
from typing import Any

from worker_agent.tdd.runners import java_build, junit
from worker_agent.tdd.runners.java_sources import JavaSources
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.raw_report import Case, Report
from worker_agent.tdd.runners.test_run import CaseOutcome

FILE_LINE = "=== report "
"""The beginning of the line before each file, with its path relative to the checkout."""

_SUMS = re.compile(r"^\[\w+\] Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)\s*$", re.MULTILINE)
_CRASHED = re.compile(r"The forked VM terminated|Crashed tests:|There was a timeout or other error in the fork")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


def read(data: bytes, project: Project) -> Report:
    """Read one report; never raise for its content."""
    log, *files = re.split(rf"^{re.escape(FILE_LINE)}".encode(), data, flags=re.MULTILINE)
    header, _, said = _ANSI.sub("", log.decode("utf-8", "replace")).partition("\n")
    sources = JavaSources(project)
    cases: list[Case] = []
    modules: set[str] = set()
    for file in files:
        path, _, content = file.partition(b"\n")
        report = junit.read(content, project)
        if report.problem:
            return report
        module = sources.module_of(path.decode("utf-8", "replace").removeprefix("./"))
        modules.add(module)
        cases += [sources.locate(case, module) for case in report.cases]
    problem = _problem(said, cases)
    selected = frozenset(map(str, selected_files(header)))
    cases += java_build.not_built(said, project, frozenset(modules), selected)
    return Report(tuple(cases), problem)


def selected_files(header: str) -> list[Any]:
    """Return the selected files from the first line of a report."""
    try:
        found = json.loads(header)
    except ValueError:
        return []
    selected = found.get("selected") if isinstance(found, dict) else None
    return selected if isinstance(selected, list) else []


def _problem(log: str, cases: list[Case]) -> str:
    if _CRASHED.search(log):
        return "a JVM that ran tests ended before they were through"
    told = [sum(int(sums[index]) for sums in _SUMS.findall(log)) for index in range(4)]
    found = [len(cases), *(sum(case.outcome is end for case in cases) for end in _ENDS)]
    if told != found:
        return f"Maven counts {told} tests, failures, errors and skipped ones, its report files have {found}"
    return ""


_ENDS = (CaseOutcome.FAILED, CaseOutcome.ERROR, CaseOutcome.SKIPPED)
