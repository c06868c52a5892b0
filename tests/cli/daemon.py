"""A daemon with one call going on, as a process of its own, so that a test can kill it: URL ROOT PROGRAM KIND."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

from cli.coding import TOKEN, search_path
from shared.llm.claude import Claude
from shared.llm.cli.coder import CliCoder
from shared.llm.cli.launch import Launcher
from shared.llm.cli.wrap import Kind, Wrap
from shared.llm.endpoint import Endpoint, Fixed
from shared.llm.port import Call, Request
from shared.loop import RealClock


async def main(url: str, root: Path, program: Path, kind: Kind) -> None:
    """Run the call to its end."""
    launcher = Launcher(Wrap(kind), RealClock(), search_path(), root / "state" / "calls", root / "state" / "logs")
    coder = CliCoder(Claude(program, search_path()), launcher, Fixed(Endpoint(url, TOKEN)))
    await coder.run(Request(Call.IMPLEMENT, "#1", "A thing", "developer", "Do it.", tree=root / "tree"))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Kind(sys.argv[4]))
