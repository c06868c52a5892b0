"""The reader of a Gradle run's report: a line of JSON for each test, written by Gradle itself, then its log."""

from __future__ import annotations

import re
from typing import Any

from worker_agent.tdd.runners import java_build
from worker_agent.tdd.runners.java_sources import JavaSources
from worker_agent.tdd.runners.json_lines import json_object, lines
from worker_agent.tdd.runners.junit import ELEMENT_LIMIT, REPORT_LIMIT
from worker_agent.tdd.runners.maven_report import selected_files
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.raw_report import Case, Report
from worker_agent.tdd.runners.test_run import MESSAGE_LIMIT, CaseOutcome

INIT = """allprojects { tasks.withType(Test) { task ->
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

_OUTCOMES = {"SUCCESS": CaseOutcome.PASSED, "FAILURE": CaseOutcome.FAILED, "SKIPPED": CaseOutcome.SKIPPED}
_CRASHED = re.compile(r"finished with non-zero exit value|Test process encountered an unexpected problem")


def read(data: bytes, project: Project) -> Report:
    """Read one report; never raise for its content."""
    if data.count(b"\n") > 10 * ELEMENT_LIMIT:
        return Report(problem=f"the test report is larger than {REPORT_LIMIT // 2**20} MB")
    told = lines(data)
    events = [event for line in told if (event := json_object(line))]
    log = "\n".join(line for line in told if not line.startswith("{"))
    sources = JavaSources(project)
    cases = [_case(event, project, sources) for event in events if isinstance(event.get("end"), str)]
    modules = frozenset(_module(event, project) for event in events if isinstance(event.get("end"), str))
    problem = _problem(log, events, len(cases))
    selected = frozenset(map(str, selected_files(told[0] if told else "")))
    return Report((*cases, *java_build.not_built(log, project, modules, selected)), problem)


def _case(event: dict[str, Any], project: Project, sources: JavaSources) -> Case:
    text = str(event.get("text") or "")
    outcome = _OUTCOMES.get(str(event["end"]), CaseOutcome.ERROR)
    message = text.partition("\n")[0][:MESSAGE_LIMIT]
    raw = Case(str(event.get("name")), str(event.get("type")), "", outcome, message, text[:MESSAGE_LIMIT])
    return sources.locate(raw, _module(event, project))


def _module(event: dict[str, Any], project: Project) -> str:
    place = project.below(str(event.get("place", "")))
    return "" if place == "." else place


def _problem(log: str, events: list[dict[str, Any]], cases: int) -> str:
    """Return the fault of a report: a task that began must have ended, with as many tests as reported."""
    if _CRASHED.search(log):
        return "a JVM that ran tests ended before they were through"
    begun = sorted(str(event["begun"]) for event in events if "begun" in event)
    ended = sorted(str(event["ended"]) for event in events if "ended" in event)
    counted = sum(event["count"] for event in events if isinstance(event.get("count"), int))
    if begun != ended or counted != cases:
        return f"Gradle began {begun} and ended {ended} with {counted} tests, {cases} of them were told"
    return ""
