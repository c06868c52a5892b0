"""A real coding CLI and a scripted model server: how a test makes one call, and what must be gone after it."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from lab.model.script import Script
from lab.model_server import ModelServer
from shared.llm import cli_backends, coder
from shared.llm.backend import Program, Setup
from shared.llm.cli.launch import Launcher
from shared.llm.cli.programs import home
from shared.llm.endpoint import Endpoint, Fixed
from shared.llm.port import Coder, CoderCall, Request, RunLimits, RunOutcome
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement, Isolation, Wrap

TOOLS = Path(__file__).parents[2] / ".tools"
"""The directory in which `make test-cli` installs the programs."""

CLAUDE_VERSIONS = ("0.2.187", "0.2.111")
"""Packages with Claude Code 2.1.330 and 2.1.202: with `--restricted`, and with `--safe-mode` alone."""

CODEX_VERSIONS = ("0.169.0", "0.163.0")
"""The first as the vendor publishes it for Node, the second as for Python."""

TOKEN = "call-token-c4n4ry-0123456789"
"""A stand-in for a key: the scripted server accepts any."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"verdict": {"enum": ["approve", "reject"]}, "why": {"type": "string", "default": ""}},
    "required": ["verdict"],
}


def program(name: str, version: str) -> Path:
    """Return the path of an installed CLI; skip the test if it is missing."""
    found = home(TOOLS, name) / version / cli_backends()[name].package.program
    if not found.is_file():
        pytest.skip(f"no {name} {version} in {TOOLS.name}: run `make test-cli`")
    return found


def rows(versions: Sequence[str], names: Iterable[str], older: Container[str]) -> list[tuple[str, str]]:
    """Return each row of a table with the newest version, and the rows in `older` with the other versions too."""
    return [(version, name) for name in names for version in versions if version == versions[0] or name in older]


def search_path() -> dict[str, str]:
    """Return the environment of every child here."""
    return {"PATH": os.defpath, "LANG": "C.UTF-8"}


@dataclass
class Desk:
    """One program, one server, one work tree. `limits` hold for every call."""

    server: ModelServer
    root: Path
    executable: Path
    backend: str = "claude"
    wrap: Wrap = field(default_factory=lambda: Wrap(Isolation.TREE_BY_UNSHARE))
    limits: RunLimits = field(default_factory=lambda: RunLimits(max_turns=10, deadline_seconds=90, silence_seconds=60))

    @property
    def tree(self) -> Path:
        """The directory that a call edits."""
        return self.root / "tree"

    @property
    def calls(self) -> Path:
        """The call directories."""
        return self.root / "state" / "calls"

    @property
    def logs(self) -> Path:
        """The directory in which the logs of failed calls are kept."""
        return self.root / "state" / "logs"

    def launcher(self) -> Launcher:
        """Return the launcher that runs the program."""
        confined = Confinement(self.wrap, hidden=(self.root / "state",))
        return Launcher(confined, RealClock(), search_path(), self.calls, self.logs)

    def coder(self) -> Coder:
        """Return the backend as the engine builds it."""
        fixed = Fixed(Endpoint(self.server.url, TOKEN))
        program = Program(self.executable.resolve(), self.launcher(), fixed)
        return coder(self.backend, Setup(RealClock(), program=program))

    def script(self, *turns: dict[str, Any]) -> None:
        """Set the model's answers from now on."""
        self.server.script = Script.of(*turns)

    async def edit(self, prompt: str = "Do it.", **changes: Any) -> RunOutcome:
        """Run a call that edits the tree."""
        return await self.coder().run(self.request(CoderCall.IMPLEMENT, prompt, **changes))

    async def ask(self, prompt: str = "Review it.", **changes: Any) -> RunOutcome:
        """Run a call that reads the tree and answers by `SCHEMA`."""
        return await self.coder().run(self.request(CoderCall.REVIEW, prompt, **{"schema": SCHEMA, **changes}))

    def request(self, call: CoderCall, prompt: str, **changes: Any) -> Request:
        """Return a request with the desk's tree and limits, and `changes`."""
        known = {"tree": self.tree, "limits": self.limits}
        return Request(call, "#1", "A thing", "developer", prompt, **{**known, **changes})


async def left_behind(root: Path) -> list[str]:
    """Return the processes that still relate to `root`, by working directory, command line or environment.

    What was killed is given a moment: the kernel ends a process namespace after its wrapper.
    """
    for _ in range(50):
        if not (found := related(root)):
            return []
        await anyio.sleep(0.1)
    return found


def related(root: Path) -> list[str]:
    """Return the processes that relate to `root` now."""
    return [text for text in _processes() if str(root) in text]


def _processes() -> Iterator[str]:
    for place in Path("/proc").glob("[0-9]*"):
        if int(place.name) == os.getpid():
            continue
        try:
            parts = [(place / name).read_bytes().replace(b"\0", b" ") for name in ("cmdline", "environ")]
            yield b" ".join([place.name.encode(), *parts, str((place / "cwd").readlink()).encode()]).decode(
                errors="replace"
            )
        except OSError:
            continue  # it has ended, or is a zombie
