"""The base branch as the planner reads it in tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fakes.planner_world import World


@dataclass(frozen=True)
class FakeCommit:
    """A commit of the base branch."""

    subject: str


@dataclass
class FakeSource:
    """The base branch `main`."""

    world: World

    async def ensure(self) -> None:
        """Nothing to do."""

    async def fetch(self) -> None:
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

    async def log(self, ref: str, limit: int) -> Sequence[FakeCommit]:
        """Two commits."""
        return (FakeCommit("Add the store"), FakeCommit("Begin"))[:limit]
