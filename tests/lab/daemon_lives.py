"""A daemon with two repositories, through the lives of its agents."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
from engine import ENGINE, WRITES, Engine

from config.settings import Settings
from config.state import StateDirectory
from runtime.arguments import Arguments
from runtime.building.assembly import Process, RepositoryAdapters
from runtime.daemon.agent_lifecycle import AgentLifecycle
from runtime.daemon.configuration import Configuration
from runtime.daemon.repository_loops import WebhookHints
from runtime.daemon.start import Job
from runtime.signals import Orders
from shared.errors import Blocked
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.loop.real_clock import RealClock
from shared.scheduling.agent_contract import Candidate, Claim, Skip, Step
from shared.workflow import Role

OTHER = "ada/other"

LONG_SECONDS = 200.0


class LateClock(RealClock):
    """The machine's clocks, which a test moves on; waits of minutes end when it says so."""

    late = 0.0

    def __init__(self) -> None:
        super().__init__()
        self.due = anyio.Event()

    async def sleep(self, seconds: float) -> None:
        if seconds < LONG_SECONDS:
            await super().sleep(seconds)
        else:
            await self.due.wait()
            self.due = anyio.Event()

    def boot(self) -> float:
        return super().boot() + self.late


class Variables(dict[str, str]):
    """An environment; what is put into `orders` is done when a thread, as that of a renewal, reads a variable."""

    def __init__(self, values: dict[str, str]) -> None:
        super().__init__(values)
        self.orders: list[Callable[[], None]] = []

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        if self.orders and threading.current_thread() is not threading.main_thread():
            anyio.from_thread.run_sync(self.orders.pop())
        return super().get(key, default)


class Idle:
    """An agent without work; it has to wait for its first answer until `answered`."""

    role = Role.WORKER

    def __init__(self, repository: str, answered: anyio.Event) -> None:
        self.repository, self._answered = repository, answered

    async def discover(self) -> Sequence[Candidate]:
        await self._answered.wait()
        return []

    async def revoked(self, number: int) -> str | None:
        raise AssertionError(number)

    async def prepare(self, candidate: Candidate) -> Claim | Skip:
        raise AssertionError(candidate)

    def hold(self, lease: Lease) -> AbstractAsyncContextManager[Held]:
        raise AssertionError(lease)

    async def step(self, held: Held) -> Step:
        raise AssertionError(held)

    async def stop(self, held: Held, reason: str) -> None:
        raise AssertionError(reason)

    async def wait(self, held: Held, sentence: str) -> None:
        raise AssertionError(sentence)

    async def fail(self, held: Held, error: Blocked) -> None:
        raise AssertionError(error)


class Scene:
    """One daemon of a worker in the lab, and what its agents wait for."""

    def __init__(self, settings: Settings, process: Process, variables: Variables, clock: LateClock) -> None:
        self.settings, self.process, self.variables = settings, process, variables
        self.orders, self.hints = Orders(), WebhookHints()
        self.clock = clock
        self.configuration = Configuration(settings, lambda: settings, None)
        self.generations: list[float] = []
        """The poll interval that each was built with: what the tests change."""
        self.answered = {one.name: anyio.Event() for one in settings.repositories}
        arguments = Arguments(None, None, once=False, wait=False, verbose=False, agent_id=None)
        self.life = AgentLifecycle(Job(Role.WORKER, self._build), process, arguments, self.orders, self.hints)

    def _build(self, parts: RepositoryAdapters) -> Idle:
        self.generations.append(parts.configured.poll_interval)
        return Idle(parts.configured.name, self.answered[parts.configured.name])

    def polling(self, seconds: float, **github: object) -> Settings:
        """Return the settings with another interval, and other keys of `github`."""
        repositories = tuple(one.model_copy(update={"poll_interval": seconds}) for one in self.settings.repositories)
        changed = self.settings.github.model_copy(update=github)
        return self.settings.model_copy(update={"repositories": repositories, "github": changed})


@asynccontextmanager
async def daemon(engine: Engine, *more: str, **variables: str) -> AsyncIterator[Scene]:
    """Yield a worker for the lab's repository and `more`, not yet begun."""
    engine.scenario.write_text("[]", encoding="utf-8")
    engine.more_settings |= {"health": {"port": None}}
    settings = engine.settings("machine-1")
    (one,) = settings.repositories
    others = tuple(one.model_copy(update={"name": name}) for name in more)
    settings = settings.model_copy(update={"repositories": (one, *others)})
    environment = Variables({"GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES), **variables})
    with StateDirectory(settings.state_dir).open().claim_identity(Role.WORKER, None) as identity:
        clock = LateClock()
        process = Process(settings, Role.WORKER, clock, identity, environment)
        with anyio.fail_after(30):
            yield Scene(settings, process, environment, clock)
