"""One repository with its CI, and how its logs are read, for the tests of both."""

from __future__ import annotations

import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from lab import target_project
from lab.github.ci.builds import Ci, CiSettings
from lab.github.clock import LabClock
from lab.github.repositories.bare import Bare
from lab.github.world.checks import CheckRecord, Checks
from lab.github.world.records import Numbering

STAMPED = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z (.*)")


@dataclass
class Shop:
    """One repository with its CI."""

    bare: Bare
    ci: Ci
    checks: Checks
    clock: LabClock

    async def push(self, branch: str = "main") -> str:
        sha = await self.bare.sha(branch)
        assert sha is not None
        await self.ci.pushed(f"refs/heads/{branch}", None, sha)
        return sha

    async def run(self, command: str) -> CheckRecord:
        """Run one job to its end, and return its check run."""
        self.ci.settings.jobs = {"check": command}
        sha = await self.push()
        await self.ci.idle()
        (check,) = self.checks.of(sha, latest=False)
        return check

    def states(self, sha: str) -> list[tuple[str, str, str | None]]:
        return [(check.name, check.status, check.conclusion) for check in self.checks.of(sha, latest=False)]


def spoken(log: str | None) -> list[str]:
    """Return the lines of a job's log without their time stamps."""
    matches = [STAMPED.fullmatch(line) for line in (log or "").removeprefix("\ufeff").removesuffix("\n").split("\n")]
    return [match[1] if match else f"unstamped {log}" for match in matches]


def step(log: str | None) -> list[str]:
    """Return the lines of the command's own step, which is the last one, up to the runner's cleanup."""
    said = spoken(log)
    last = max(number for number, line in enumerate(said) if line.startswith("##[group]Run "))
    return said[last : said.index("Post job cleanup.")]


@asynccontextmanager
async def shop_at(directory: Path) -> AsyncIterator[Shop]:
    """Yield the demo's project; assert at the end that nothing that its jobs wrote is left over."""
    clock = LabClock()
    bare = await Bare.create(directory / "thing.git", "octo/thing", "main", target_project.files())
    workdir = directory / "ci"
    workdir.mkdir()
    checks = Checks(Numbering(clock))
    settings = CiSettings({"check": "true"}, search_path=f"{Path(sys.executable).parent}:/usr/bin:/bin")
    ci = Ci(checks, bare, workdir, clock, settings)
    bare.on_update = ci.pushed
    yield Shop(bare, ci, checks, clock)
    await ci.close()
    assert list(workdir.iterdir()) == []
