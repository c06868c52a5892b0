"""The life of an agent as a daemon, in this process: reloads that come to nothing, a drain that takes its time."""

from __future__ import annotations

import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import anyio
import pytest
from engine import ENGINE, REPOSITORY, WRITES, Engine
from structlog.testing import capture_logs

from config.settings import Settings
from config.state import StateDirectory
from runtime.arguments import Arguments
from runtime.building.assembly import Parts, Process
from runtime.daemon.agent_lifecycle import AgentLifecycle
from runtime.daemon.configuration import Configuration
from runtime.daemon.serving import serve
from runtime.daemon.start import Job
from runtime.daemon.webhook_hints import WebhookHints
from runtime.signals import Orders
from shared.errors import Blocked
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.loop import RealClock
from shared.scheduling.items import Candidate, Skip, Step
from shared.telemetry.health_state import STUCK_SECONDS
from shared.workflow import Role

pytestmark = pytest.mark.long

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

    async def claim(self, candidate: Candidate) -> Lease | Skip:
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
        self.orders, self.bells = Orders(), WebhookHints()
        self.clock = clock
        self.configuration = Configuration(settings, lambda: settings, None)
        self.generations: list[float] = []
        """The poll interval that each was built with: what the tests change."""
        self.answered = {one.name: anyio.Event() for one in settings.repositories}
        arguments = Arguments(None, None, once=False, wait=False, verbose=False, agent_id=None)
        self.life = AgentLifecycle(Job(Role.WORKER, self._build), process, arguments, self.orders, self.bells)

    def _build(self, parts: Parts) -> Idle:
        self.generations.append(parts.configured.poll_interval)
        return Idle(parts.configured.name, self.answered[parts.configured.name])

    def polling(self, seconds: float, **github: object) -> Settings:
        """The settings with another interval, and other keys of `github`."""
        repositories = tuple(one.model_copy(update={"poll_interval": seconds}) for one in self.settings.repositories)
        changed = self.settings.github.model_copy(update=github)
        return self.settings.model_copy(update={"repositories": repositories, "github": changed})


@asynccontextmanager
async def daemon(engine: Engine, *more: str, **variables: str) -> AsyncIterator[Scene]:
    """A worker for the lab's repository and `more`, not yet begun."""
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


async def test_a_reload_that_names_a_token_file_that_is_not_there_leaves_the_old_settings_in_force(
    engine: Engine, tmp_path: Path
) -> None:
    async with daemon(engine) as scene:
        wanted = scene.polling(7.0, token_file=tmp_path / "typo")
        then = [lambda: scene.life.renew(wanted), scene.orders.drain]
        with capture_logs() as events:
            await scene.life.run(scene.configuration, lambda: then.pop(0)())
    assert scene.generations == [0.05, 0.05]
    (refused,) = [event for event in events if event["event"] == "configuration_refused"]
    assert str(tmp_path / "typo") in refused["error"]
    assert scene.configuration.settings is scene.settings


async def test_a_change_that_comes_while_the_one_before_is_being_taken_over_is_not_lost(engine: Engine) -> None:
    async with daemon(engine) as scene:

        def change_twice() -> None:
            scene.variables.orders.append(lambda: scene.life.renew(scene.polling(9.0)))
            scene.life.renew(scene.polling(7.0))

        then = [change_twice, scene.orders.drain]
        await scene.life.run(scene.configuration, lambda: then.pop(0)())
    assert scene.generations == [0.05, 9.0], "the one between was given up before it asked GitHub anything"


async def test_a_drain_that_comes_while_a_change_is_being_taken_over_ends_it(engine: Engine) -> None:
    async with daemon(engine) as scene:
        scene.variables.orders.append(scene.orders.drain)
        await scene.life.run(scene.configuration, lambda: scene.life.renew(scene.polling(7.0)))
    assert scene.generations == [0.05]


def heard(manager: socket.socket) -> list[str]:
    """What the service manager was told since the last look."""
    found: list[str] = []
    while True:
        try:
            found.append(manager.recv(4096).decode())
        except BlockingIOError:
            return found


async def until(done: Callable[[], bool], manager: socket.socket) -> list[str]:
    """What the manager hears until it is so; a manager that does not listen is told nothing more."""
    found: list[str] = []
    while not done():
        await anyio.sleep(0.01)
        found += heard(manager)
    return found


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "notify"))
        receiver.setblocking(False)
        yield receiver


async def test_a_long_drain_is_no_stop_and_only_a_loop_that_hangs_is_missed(
    engine: Engine, manager: socket.socket, tmp_path: Path
) -> None:
    await engine.lab.repository(OTHER, {"README.md": "# Other\n"}, collaborators={ENGINE: "write"})
    told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "300000"}
    async with daemon(engine, OTHER, **told) as scene, anyio.create_task_group() as group:
        scene.answered[REPOSITORY].set()
        vitals, clock = scene.process.chronicle.vitals, scene.clock
        group.start_soon(serve, [scene.life], scene.configuration, scene.orders, scene.bells, scene.process)
        await until(lambda: set(vitals.pulses) == {REPOSITORY, OTHER}, manager)
        scene.orders.drain()
        drained = await until(lambda: REPOSITORY not in vitals.pulses, manager)
        await anyio.sleep(0.3)
        drained += heard(manager)
        assert "WATCHDOG=1" in drained
        assert "STATUS=worker: 0 in work, 0 waiting, drained: any other agent goes on from here" in drained
        assert not any(message.startswith("STOPPING") for message in drained), "it would be killed soon after"
        clock.late = STUCK_SECONDS + 60
        assert vitals.stuck().startswith(f"The loop of {OTHER} has not ticked for 9")
        vitals.ticked(OTHER)
        assert vitals.stuck() == "", "the other loop ended long ago, and well"
        scene.answered[OTHER].set()
    assert not vitals.pulses
    scene.orders.stop(15)
    assert heard(manager)[-1] == "STOPPING=1\nSTATUS=stopping"
