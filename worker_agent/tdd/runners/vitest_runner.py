"""vitest: how it is called (pure)."""

from __future__ import annotations

from worker_agent.tdd.runners.javascript import FAILING, JavaScriptRunner


class VitestRunner(JavaScriptRunner):
    """Any command in which vitest is called by its name."""

    name = "vitest"
    default_command = "npx --no vitest run"
    options = ("--reporter=json", "--bail=0", "--watch=false", "--allowOnly=false")
    failing = "import { expect as expectWORD, test as testWORD } from 'vitest';\n" + FAILING.format(
        test="testWORD", expect="expectWORD"
    )
