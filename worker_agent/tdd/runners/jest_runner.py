"""jest: how it is called (pure)."""

from __future__ import annotations

from worker_agent.tdd.runners.control_javascript import Style
from worker_agent.tdd.runners.javascript import JavaScriptRunner
from worker_agent.tdd.runners.project import Project
from worker_agent.tdd.runners.runner import Selection


class JestRunner(JavaScriptRunner):
    """Any command in which jest is called by its name."""

    name = "jest"
    default_command = "npx --no jest"
    options = ("--json", "--ci", "--bail=0", "--watchAll=false", "--colors=false", "--coverage=false")
    style = Style(module="@jest/globals", only_if="@jest/globals")

    def chosen(self, selection: Selection, project: Project) -> tuple[str, ...]:
        """Paths, not patterns."""
        return ("--runTestsByPath", *sorted(selection.files))
