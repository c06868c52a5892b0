"""The connections of one process to GitHub: agents that sign in alike share a session, its answers and its pace."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from config.engine import GitHubSettings
from config.proxies import proxy_for
from config.settings import Settings
from runtime.building.neighbours import Neighbours
from shared.clock import Clock
from shared.git.active_agents import Presence
from shared.github.client import GitHub, TokenSource
from shared.github.limits import Pacing
from shared.github.tokens import Installation
from shared.github.transport import Renewable
from shared.outgoing.outbound_filter import Outgoing

KEEPALIVE_SECONDS = 90.0
"""Seconds that an idle connection is kept: longer than a poll interval, so that polls do not reconnect each time."""

Who = tuple[str, ...]
"""The identity that signs in, and for whom: equal for agents that have one token or one App."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace at which one account writes from this process. `presence` is None if a number is configured."""

    pacing: Pacing
    presence: Presence | None


@dataclass
class Connection:
    """One session, and the clients that use it; `gates` are those of the agents that use it."""

    session: aiohttp.ClientSession
    gates: list[Outgoing] = field(default_factory=list)
    users: int = 0
    _clients: dict[Who, tuple[Announced, GitHub]] = field(default_factory=dict)

    def client(
        self, who: Who, source: Callable[[], TokenSource], build: Callable[[TokenSource], GitHub]
    ) -> tuple[Announced, GitHub]:
        """Return the token and an own client for one more agent; what is behind them is made for the first one."""
        known = self._clients.get(who)
        if known is None:
            token = Announced(source(), self.gates)
            known = self._clients[who] = token, build(token)
        return known[0], known[1].second_reader()


class Announced:
    """A source of tokens that tells every gate which one is in use, so that none lets it out."""

    def __init__(self, source: TokenSource, gates: list[Outgoing]) -> None:
        self._source, self._gates = source, gates

    async def __call__(self) -> str:
        """Return the token to use now."""
        token = await self._source()
        for gate in self._gates:
            gate.learn(token)
        return token

    async def renew(self, refused: str) -> bool:
        """Drop a token that GitHub has refused; return whether there may be another one."""
        return isinstance(self._source, Renewable) and await self._source.renew(refused)

    async def admit(self, repository: str) -> None:
        """Raise `Misconfigured` if the token does not reach this repository; one that a person keeps is for all."""
        if isinstance(self._source, Installation):
            await self._source.admit(repository)


class Connections:
    """The sessions and paces that agents of one process share. A reload gets a session of its own, with new tokens."""

    def __init__(self) -> None:
        self._lines: dict[int, Connection] = {}
        self._paces: dict[Who, Pace] = {}
        self._neighbours: dict[tuple[Path, str], Neighbours] = {}

    @asynccontextmanager
    async def line(
        self, settings: Settings, environment: Mapping[str, str], gate: Outgoing
    ) -> AsyncIterator[Connection]:
        """Give the session of all agents that run by the very same settings; the last one closes it."""
        key = id(settings)  # held by this call, so that no other object gets it
        line = self._lines.get(key) or Connection(web_session(settings, environment))
        self._lines[key] = line
        line.users += 1
        line.gates.append(gate)
        try:
            yield line
        finally:
            line.users -= 1
            line.gates.remove(gate)
            if not line.users:
                del self._lines[key]
                await line.session.close()

    def pace(self, who: Who, github: GitHubSettings, clock: Clock) -> Pace:
        """Return the pace of one account; it outlives sessions, because GitHub does not forget at a reload.

        It has the configured share, else the whole until other agents are seen.
        """
        key = (*who, github.api_url, str(github.share), str(github.write_interval_seconds))
        pacing = Pacing(clock, share=github.share or 1.0, write_interval_seconds=github.write_interval_seconds)
        presence = Presence(clock, pacing.use) if github.share is None else None
        return self._paces.setdefault(key, Pace(pacing, presence))

    def neighbours(self, state_dir: Path, account: str, clock: Clock) -> Neighbours:
        """Return the other processes of this state directory that spend the limits of `account`, a text of its own."""
        return self._neighbours.setdefault((state_dir, account), Neighbours(state_dir, account, clock))


def web_session(settings: Settings, environment: Mapping[str, str]) -> aiohttp.ClientSession:
    """Return the connections of one process to GitHub, through the environment's proxy; closed by their user."""
    connector = aiohttp.TCPConnector(keepalive_timeout=KEEPALIVE_SECONDS)
    return aiohttp.ClientSession(connector=connector, proxy=proxy_for(settings.github.api_url, environment))
