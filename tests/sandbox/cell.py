"""A place for hostile programs: what they may write to, what they are after, and what became of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

from shared import process
from shared.sandbox.bubblewrap_sandbox import FileSystemView
from shared.sandbox.confinement import Confinement, Isolation, Wrap
from shared.sandbox.limits import ProcessLimits

CANARY = "c4n4ry-that-nobody-may-read"
DEADLINE_SECONDS = 60.0
LOOKS = 500


@dataclass(frozen=True)
class Ran:
    """`code` is None when we ended it; `limit` is the limit that it passed."""

    code: int | None
    limit: str | None
    text: str


@dataclass
class Cell:
    """`tree` is the command's own, `state` the daemon's; both lie below `root`."""

    root: Path
    wrap: Wrap
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    python: str = sys.executable
    environment: dict[str, str] = field(default_factory=lambda: {"PATH": "/usr/bin:/bin"})

    def __post_init__(self) -> None:
        for place in (self.tree, self.state, self.home / ".ssh"):
            place.mkdir(parents=True, mode=0o755)
        self.secret.write_text(CANARY)
        self.secret.chmod(0o600)
        (self.state / "pack").write_text("objects")

    @property
    def tree(self) -> Path:
        return self.root / "state" / "work" / "tree"

    @property
    def state(self) -> Path:
        return self.root / "state" / "mirror"

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def secret(self) -> Path:
        return self.home / ".ssh" / "id_ed25519"

    async def run(self, script: str, *arguments: object) -> Ran:
        """Run a Python script in the cell, watched, and tell how it ended; nothing of it is left."""
        confinement = Confinement(self.wrap, self.limits)
        command = (self.python, "-c", script, *map(str, arguments))
        return await self.start(confinement, confinement.argv(command, (self.tree,)))

    async def with_view(self, view: FileSystemView, *command: str) -> Ran:
        """Run any command with any view, watched like `run`."""
        return await self.start(Confinement(self.wrap, self.limits), self.wrap.argv(command, view))

    async def start(self, confinement: Confinement, argv: Sequence[str]) -> Ran:
        said = self.root / "said"
        said.write_bytes(b"")
        await confinement.hand_over((self.tree,))
        limit, code = None, None
        watchdog = confinement.watchdog((self.tree,))
        with anyio.move_on_after(DEADLINE_SECONDS):
            async with process.started(watchdog.argv(argv), cwd=self.tree, env=self.environment, log=said) as child:
                limit = await watchdog.over(child)
                code = child.returncode
        return Ran(code, limit, said.read_text(errors="replace").strip())


def alive(mark: str) -> list[int]:
    """Return the processes of this machine that carry `mark` in their command line."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark.encode() in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


async def gone(mark: str) -> bool:
    """Wait until no process with this mark is left, and return whether that was so in time."""
    for _ in range(LOOKS):
        if not alive(mark):
            return True
        await anyio.sleep(0.01)
    return False


async def appeared(path: Path) -> bool:
    """Wait until a file exists, and return whether that was so in time."""
    for _ in range(LOOKS):
        if _there(path):
            return True
        await anyio.sleep(0.01)
    return False


def _there(path: Path) -> bool:
    return path.exists()


SEALED = Wrap(Isolation.SANDBOX)
NONE = Wrap(Isolation.TREE_BY_GROUP)
