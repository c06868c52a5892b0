"""Small programs that are called like Claude Code and do what a test says, and a coder that runs them."""

from __future__ import annotations

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared.llm.claude import Claude
from shared.llm.cli.coder import CliCoder
from shared.llm.cli.launch import Launcher
from shared.llm.endpoint import Endpoint, Fixed
from shared.llm.port import CoderCall, Request, RunLimits, RunOutcome
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement

TOKEN = "c4n4ry-of-this-call-0123"
HELP = "--setting-sources --strict-mcp-config --disable-slash-commands --no-session-persistence --tools --json-schema"
HELP += " --max-budget-usd --include-partial-messages"

PROGRAM = """#!/bin/sh
'''exec' {python} "$0" "$@"
' '''
import json, os, pathlib, sys, time
if sys.argv[1] == "--version":
    print({version!r}); sys.exit(0)
if sys.argv[1] == "--help":
    print({help!r}); sys.exit(0)
def result(**more):
    known = {{"type": "result", "subtype": "success", "is_error": False, "result": "Done."}}
    print(json.dumps({{**known, **more}}), flush=True)
prompt = sys.stdin.read()
{body}
"""

# Its first lines are shell and Python at once: the path of an interpreter may hold a space, after `#!` it may not.

QUICK = """#!/bin/sh
case $1 in --version) echo 2.1.330; exit;; --help) echo '{help}'; exit;; esac
{body}
"""
"""The same in a language that starts at once, for tests of time."""

RESULT = """echo '{"type": "result", "subtype": "success", "result": "Done.", "total_cost_usd": 0.25}'"""

NOWHERE = Endpoint("http://127.0.0.1:9", TOKEN)


@dataclass
class Shop:
    """One made-up `claude` and a tree; its calls use `endpoint`."""

    root: Path
    endpoint: Endpoint = NOWHERE

    def program(self, body: str, version: str = "2.1.330 (Claude Code)", help_text: str = HELP) -> Path:
        """Write a program that is called like Claude Code and does `body`."""
        place = self.root / "claude"
        place.write_text(PROGRAM.format(python=shlex.quote(sys.executable), version=version, help=help_text, body=body))
        place.chmod(0o755)
        return place

    def coder(self, body: str, **about: str) -> CliCoder:
        """Return a coder that runs a program with this body."""
        return self.coder_of(self.program(body, **about))

    def quick(self, body: str) -> CliCoder:
        """Return a coder that runs a shell script."""
        place = self.root / "claude"
        place.write_text(QUICK.format(help=HELP, body=body))
        place.chmod(0o755)
        return self.coder_of(place)

    def coder_of(self, program: Path) -> CliCoder:
        """Return a coder that runs a program."""
        environment = {"PATH": os.defpath}
        launcher = Launcher(Confinement(), RealClock(), environment, self.calls, self.logs)
        dialect = Claude(program, environment)
        return CliCoder(dialect, launcher, Fixed(self.endpoint))

    async def run(self, body: str, **changes: Any) -> RunOutcome:
        """Run one call."""
        return await self.coder(body).run(self.request(**changes))

    def request(self, **changes: Any) -> Request:
        """Return a request to edit."""
        known: dict[str, Any] = {"tree": self.root, "limits": RunLimits(deadline_seconds=30, silence_seconds=30)}
        known |= {"prompt": "Do it."}
        return Request(CoderCall.IMPLEMENT, "#42", "A thing", "developer", **{**known, **changes})

    @property
    def calls(self) -> Path:
        """Call directories."""
        return self.root / "calls"

    @property
    def logs(self) -> Path:
        """Logs of failed calls."""
        return self.root / "logs"
