"""The base branch as the planner reads it in tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fakes.lock_server import EPOCH
from fakes.planner_world import World
from fakes.unasked import UnaskedMirror
from shared.git.history import Commit


@dataclass
class FakeSource(UnaskedMirror):
    """The base branch `main`."""

    world: World

    async def ensure(self) -> None:
        """Nothing to do."""

    async def fetch(self, *refspecs: str) -> None:
        """Nothing to do."""

    async def tip(self, branch: str) -> str | None:
        """Only `main` exists."""
        return "a" * 40 if branch == "main" else None

    async def paths(self, commit: str) -> tuple[str, ...]:
        """Every file."""
        return tuple(sorted(self.world.files))

    async def show(self, commit: str, path: str) -> bytes | None:
        """One file."""
        return self.world.files[path].encode() if path in self.world.files else None

    async def log(self, ref: str, limit: int, *, without: str = "") -> Sequence[Commit]:
        """Two commits."""
        return (Commit("a" * 40, ("9" * 40,), EPOCH, "Add the store"), Commit("9" * 40, (), EPOCH, "Begin"))[:limit]
