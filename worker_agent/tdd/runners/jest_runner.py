"""jest: its command (pure)."""

from __future__ import annotations

from worker_agent.tdd.runners import json_report
from worker_agent.tdd.runners.control_javascript import Style
from worker_agent.tdd.runners.javascript import NO_ARGUMENTS, JavaScriptRunner
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Invocation, Selection

_REPORTER = f"{NO_ARGUMENTS}module.exports = class {{}};\n"


class JestRunner(JavaScriptRunner):
    """The runner of any command in which jest is called by its name."""

    name = "jest"
    default_command = "npx --no jest"
    options = ("--json", "--ci", "--bail=0", "--watchAll=false", "--colors=false", "--coverage=false")
    style = Style(module="@jest/globals", only_if="@jest/globals")

    def reporting(self, call: Invocation) -> tuple[str, ...]:
        """Return the report's place; a second reporter hides it, as one process may run the tests as well."""
        reporter = json_report.write_reporter(call, "reporter.cjs", _REPORTER)
        return (*super().reporting(call), "--reporters=default", f"--reporters={reporter}")

    def chosen(self, selection: Selection, project: Project) -> tuple[str, ...]:
        """Return the arguments that choose files by path, not by pattern."""
        return ("--runTestsByPath", *sorted(selection.files))
