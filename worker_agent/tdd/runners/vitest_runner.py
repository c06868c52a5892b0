"""vitest: its command (pure)."""

from __future__ import annotations

from worker_agent.tdd.runners.control_javascript import Style
from worker_agent.tdd.runners.javascript import JavaScriptRunner


class VitestRunner(JavaScriptRunner):
    """The runner of any command in which vitest is called by its name."""

    name = "vitest"
    default_command = "npx --no vitest run"
    options = ("--reporter=json", "--bail=0", "--watch=false", "--allowOnly=false", "--coverage.enabled=false")
    style = Style(module="vitest")
