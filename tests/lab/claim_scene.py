"""Claims over real HTTP and real git: one issue in a lab, and two agents of one account on two machines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from git_remote import ENVIRONMENT, fences_of
from github_bench import NAME, Bench, bench

from shared.errors import Transient
from shared.git.command import Git
from shared.git.credentials import Credentials
from shared.git.mirror import Mirror
from shared.github.comments import Comments
from shared.lock.claim import Intent, claim
from shared.lock.claimant import Claimant, LockTimes
from shared.lock.codec import ItemKey
from shared.lock.fence import read_fence
from shared.lock.gateway import Gateway
from shared.lock.lease import Lease
from shared.lock.view import observe
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage

KEY = ItemKey(Role.WORKER, 1)
COMMENTS = r"/issues/1/comments$"
PUSH = r"\.git/git-receive-pack$"


class Nonces:
    """The nonces of one agent."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._made: list[str] = []

    def fresh(self) -> str:
        self._made.append(f"{self._agent[-1]}{len(self._made):031x}")
        return self._made[-1]

    def mine(self, nonce: str) -> bool:
        return nonce in self._made

    def forget(self, nonce: str) -> None:
        return


@dataclass
class Agent:
    """One agent on one machine, as far as claims go."""

    port: Gateway
    claimant: Claimant

    async def attempt(self) -> Lease | None:
        """Look once and try to claim, as a tick does; return the lease, None without one."""
        view = await observe(self.port, KEY, self.claimant)
        if view.other_holder:
            return None
        return await claim(self.port, view, self.claimant, Intent(Stage.IMPLEMENTING, "red", attempt=0))


@dataclass
class Scene:
    """An issue, and two agents of the same account."""

    bench: Bench
    agents: Sequence[Agent]

    async def ticks(self) -> list[int]:
        """Let both try until somebody holds it; who got it, in order."""
        won = []
        for number in (0, 1, 0, 1, 0, 1):
            try:
                lease = await self.agents[number].attempt()
            except Transient:
                continue
            won += [number] if lease else []
        return won

    async def fence(self) -> str:
        """Return the agent that the server's fence names."""
        bare = self.bench.lab.at(NAME).bare
        oid = await bare.sha(KEY.ref)
        assert oid is not None
        fence = read_fence(KEY, oid, (await bare.log(None, oid, 1))[0].message)
        assert fence is not None
        return fence.agent


@asynccontextmanager
async def scene_at(tmp_path: Path) -> AsyncIterator[Scene]:
    """Yield the lab, the issue and the agents; assert at the end that every planned fault has happened."""
    async with bench(tmp_path / "lab") as b:
        b.lab.issue(NAME, "Search", author="ada", labels=("status:ready",))
        account = b.lab.account("engine").id
        agents, answers = [], []
        for name in ("worker-a", "worker-b"):
            github, value = b.client("engine"), b.lab.token("engine", {"contents": "write"})

            async def token(value: str = value) -> str:
                return value

            asks = Credentials(tmp_path / f"{name}.askpass", b.lab.url, token)
            mirror = Mirror(Git(tmp_path / f"{name}.git", ENVIRONMENT, credentials=asks), b.lab.git_url(NAME))
            await mirror.ensure()
            port = Gateway(Comments(github, NAME), fences_of(mirror), b.clock, partial(getattr, github, "server_time"))
            keys = Keyring(b.lab.at(NAME).facts.id, (Key.of(b"secret"),))
            agents.append(Agent(port, Claimant(name, frozenset({account}), keys, Nonces(name), LockTimes(settle=2.0))))
            answers.append(asks)
            await github.get("/rate_limit")
        yield Scene(b, agents)
        for asks in answers:
            asks.remove()
