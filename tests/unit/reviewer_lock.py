"""Time and the lock's port in the reviewer's tests."""

from __future__ import annotations

import hashlib
from typing import TypeVar, cast

import anyio
from fake_server import Server

from shared.lock.port import Operation, Reply

T = TypeVar("T")


class FakePort:
    """The lock's port; pauses shorter than a heartbeat are over at once, longer ones never end."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def request(self, operation: Operation[T]) -> Reply[T]:
        """Carry it out."""
        return Reply(cast("T", self._server.carry_out(operation, None)), self._server.at)

    async def sleep(self, seconds: float) -> None:
        """Let it pass, or wait until cancelled."""
        if seconds >= 60:
            await anyio.Event().wait()
        await anyio.lowlevel.checkpoint()
        self._server.seconds += seconds

    def now(self) -> float:
        """Wall clock."""
        return self._server.at.timestamp()

    def boot(self) -> float:
        """Boot clock."""
        return 1000 + self._server.seconds


class FakeNonces:
    """Nonces of one state directory."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.kept: list[str] = []

    def fresh(self) -> str:
        """A new nonce."""
        self.kept.append(hashlib.md5(f"{self._name}{len(self.kept)}".encode()).hexdigest())
        return self.kept[-1]

    def mine(self, nonce: str) -> bool:
        """Whether it was made here."""
        return nonce in self.kept

    def forget(self, nonce: str) -> None:
        """Counted on, never reused."""


class HandClock:
    """A clock whose time is the server's."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def now(self) -> float:
        return self._server.at.timestamp()

    def boot(self) -> float:
        return 1000 + self._server.seconds

    async def sleep(self, seconds: float) -> None:
        self._server.seconds += seconds
