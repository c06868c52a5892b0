"""The readers of the reports of Maven and Gradle.

Maven's is its log, then each of Surefire's files behind a line with its path. Tests can write files that look like
Surefire's; the log is Maven's own (output of tests goes to other files), and its sums must be those of the files.
Gradle's is a line of JSON for each test, written by Gradle itself, then its log.
"""

from __future__ import annotations

import re
from typing import Any

from worker_agent.tdd.runners import java_build, junit
from worker_agent.tdd.runners.java_sources import JavaSources
from worker_agent.tdd.runners.json_report import json_object, lines
from worker_agent.tdd.runners.junit import ELEMENT_LIMIT, REPORT_LIMIT
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, Case, CaseOutcome, Report

FILE_LINE = "=== report "
"""The beginning of the line before each of Surefire's files, with its path relative to the checkout."""

GRADLE_INIT = """allprojects { tasks.withType(Test) { task ->
  def tell = { what -> new File(REPORT).append(groovy.json.JsonOutput.toJson(what) + "\\n") }
  task.outputs.upToDateWhen { false }
  task.ignoreFailures = false
  PATTERNS.each { task.filter.includeTestsMatching(it) }
  if (task.filter.metaClass.hasProperty(task.filter, "failOnNoMatchingTests")) task.filter.failOnNoMatchingTests = false
  task.beforeSuite { about -> if (about.parent == null) tell([begun: task.path]) }
  task.afterTest { about, result ->
    def trace = new StringWriter()
    if (result.exception != null) result.exception.printStackTrace(new PrintWriter(trace))
    tell([type: about.className, name: about.name, end: "" + result.resultType,
          place: "" + task.project.projectDir, text: trace.toString().take(2500)])
  }
  task.afterSuite { about, result -> if (about.parent == null) tell([ended: task.path, count: result.testCount]) }
} }
"""
"""A script for Gradle: `REPORT` and `PATTERNS` are filled in. Results never come from a cache."""

CRASHED = "a JVM that ran tests ended before they were through"

_SUMS = re.compile(r"^\[\w+\] Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)\s*$", re.MULTILINE)
_MAVEN_CRASHED = re.compile(r"The forked VM terminated|Crashed tests:|There was a timeout or other error in the fork")
_GRADLE_CRASHED = re.compile(r"finished with non-zero exit value|Test process encountered an unexpected problem")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_OUTCOMES = {"SUCCESS": CaseOutcome.PASSED, "FAILURE": CaseOutcome.FAILED, "SKIPPED": CaseOutcome.SKIPPED}


def read_maven(data: bytes, project: Project) -> Report:
    """Read one report of Maven; never raise for its content."""
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
    unbuilt = java_build.not_built(said, project, frozenset(modules), _selected_files(header))
    return Report((*cases, *unbuilt), _maven_problem(said, cases))


def _selected_files(header: str) -> frozenset[str]:
    """Return the selected files from the first line of a report; empty for all."""
    selected = json_object(header).get("selected")
    return frozenset(map(str, selected)) if isinstance(selected, list) else frozenset()


def _maven_problem(log: str, cases: list[Case]) -> str:
    """Return the fault of a report: the sums of its log must be those of its files."""
    if _MAVEN_CRASHED.search(log):
        return CRASHED
    told = [sum(int(sums[index]) for sums in _SUMS.findall(log)) for index in range(4)]
    ends = (CaseOutcome.FAILED, CaseOutcome.ERROR, CaseOutcome.SKIPPED)
    found = [len(cases), *(sum(case.outcome is end for case in cases) for end in ends)]
    if told != found:
        return f"Maven counts {told} tests, failures, errors and skipped ones, its report files have {found}"
    return ""


def read_gradle(data: bytes, project: Project) -> Report:
    """Read one report of Gradle; never raise for its content."""
    if data.count(b"\n") > 10 * ELEMENT_LIMIT:
        return Report(problem=f"the test report is larger than {REPORT_LIMIT // 2**20} MB")
    told = lines(data)
    events = [event for line in told if (event := json_object(line))]
    log = "\n".join(line for line in told if not line.startswith("{"))
    sources = JavaSources(project)
    results = [event for event in events if isinstance(event.get("end"), str)]
    cases = [_gradle_case(event, project, sources) for event in results]
    modules = frozenset(_module(event, project) for event in results)
    unbuilt = java_build.not_built(log, project, modules, _selected_files(told[0] if told else ""))
    return Report((*cases, *unbuilt), _gradle_problem(log, events, len(cases)))


def _gradle_case(event: dict[str, Any], project: Project, sources: JavaSources) -> Case:
    text = str(event.get("text") or "")
    outcome = _OUTCOMES.get(str(event["end"]), CaseOutcome.ERROR)
    message = text.partition("\n")[0][:MESSAGE_LIMIT]
    raw = Case(str(event.get("name")), str(event.get("type")), "", outcome, message, text[:MESSAGE_LIMIT])
    return sources.locate(raw, _module(event, project))


def _module(event: dict[str, Any], project: Project) -> str:
    place = project.below(str(event.get("place", "")))
    return "" if place == "." else place


def _gradle_problem(log: str, events: list[dict[str, Any]], cases: int) -> str:
    """Return the fault of a report: a task that began must have ended, with as many tests as reported."""
    if _GRADLE_CRASHED.search(log):
        return CRASHED
    begun = sorted(str(event["begun"]) for event in events if "begun" in event)
    ended = sorted(str(event["ended"]) for event in events if "ended" in event)
    counted = sum(event["count"] for event in events if isinstance(event.get("count"), int))
    if begun != ended or counted != cases:
        return f"Gradle began {begun} and ended {ended} with {counted} tests, {cases} of them were told"
    return ""
