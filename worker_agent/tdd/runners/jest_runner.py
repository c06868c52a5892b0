"""jest: how it is called (pure)."""

from __future__ import annotations

from worker_agent.tdd.runners.javascript import FAILING, JavaScriptRunner


class JestRunner(JavaScriptRunner):
    """Any command in which jest is called by its name."""

    name = "jest"
    default_command = "npx --no jest"
    options = ("--json", "--ci", "--bail=0", "--watchAll=false", "--colors=false")
    failing = FAILING.format(test="test", expect="expect")
