"""A lab with one repository, and REST clients of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
from fakes.clock import PassingClock
from judge import Judge

from lab.github.server import Lab
from shared.github.client import GitHub
from shared.github.kept_answers import KeptAnswers
from shared.github.limits import Pacing

NAME = "ada/thing"
EVERYTHING = {
    "contents": "write",
    "issues": "write",
    "pull_requests": "write",
    "checks": "read",
    "statuses": "read",
    "actions": "read",
}


@dataclass
class Bench:
    """A lab with one repository, and clients of it."""

    lab: Lab
    session: aiohttp.ClientSession
    clock: PassingClock

    def client(self, login: str, **permissions: str) -> GitHub:
        return self.client_of(self.lab.token(login, permissions or EVERYTHING))

    def client_of(self, value: str, kept: KeptAnswers | None = None, texts: int = 100) -> GitHub:
        async def token() -> str:
            return value

        pacing = Pacing(self.clock, write_interval_seconds=0)
        github = GitHub(self.session, token=token, api_url=self.lab.url, clock=self.clock, pacing=pacing)
        if kept is not None:
            github.remember(kept, texts)
        return github

    async def branch(self, name: str, path: str, text: str) -> str:
        """Commit one file on top of the default branch; return the SHA."""
        bare = self.lab.at(NAME).bare
        head = f"commit refs/heads/{name}\ncommitter E <e@example.org> now\ndata 6\nChange\nfrom refs/heads/main^0\n"
        stream = f"{head}M 100644 inline {path}\ndata {len(text)}\n{text}\n"
        async with bare.changing():
            await bare.git.check("fast-import", "--quiet", "--date-format=now", "--force", stdin=stream.encode())
        sha = await bare.sha(name)
        assert sha is not None
        return sha

    @property
    def charged(self) -> int:
        return sum(1 for exchange in self.lab.exchanges if exchange.status != 304)


@asynccontextmanager
async def bench(directory: Path) -> AsyncIterator[Bench]:
    """Yield a bench; assert at the end that all exchanges were valid and all planned faults have happened."""
    levels = {"engine": "write", "reviewer": "write", "stranger": "read"}
    async with Lab(directory) as lab, aiohttp.ClientSession() as session:
        judge = Judge()
        lab.exchanges.observe(judge)
        await lab.repository(NAME, {"a.py": "one\ntwo\nthree\n"}, collaborators=levels)
        yield Bench(lab, session, PassingClock())
        assert judge.complaints == []
        assert judge.judged > 0
        assert lab.unlisted == []
        assert lab.faults.unused == []
