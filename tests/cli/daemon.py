"""A daemon with one call, as a process that a test can kill; its arguments: BACKEND URL ROOT PROGRAM KIND."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from cli.coding import TOKEN, search_path
from shared.llm import coder
from shared.llm.backend import Program, Setup
from shared.llm.cli.launch import Launcher
from shared.llm.endpoint import Endpoint, Fixed
from shared.llm.port import CoderCall, Request
from shared.loop.real_clock import RealClock
from shared.sandbox.confinement import Confinement, Isolation, Wrap


async def main(backend: str, url: str, root: Path, program: Path, kind: Isolation) -> None:
    """Run the call to its end."""
    launcher = Launcher(
        Confinement(Wrap(kind)), RealClock(), search_path(), root / "state" / "calls", root / "state" / "logs"
    )
    setup = Setup(RealClock(), program=Program(program, launcher, Fixed(Endpoint(url, TOKEN))))
    request = Request(CoderCall.IMPLEMENT, "#1", "A thing", "developer", "Do it.", tree=root / "tree")
    await coder(backend, setup).run(request)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]), Isolation(sys.argv[5]))
