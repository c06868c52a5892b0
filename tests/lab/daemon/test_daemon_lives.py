"""The life of an agent as a daemon, in this process: reloads that come to nothing, a drain that takes its time."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from daemon_lives import OTHER, daemon
from engine import ENGINE, REPOSITORY, Engine
from structlog.testing import capture_logs

from runtime.daemon.serving import serve
from shared.telemetry.health_state import STUCK_SECONDS

pytestmark = pytest.mark.long


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
    """Return the messages that the service manager has received since the last look."""
    found: list[str] = []
    while True:
        try:
            found.append(manager.recv(4096).decode())
        except BlockingIOError:
            return found


async def until(done: Callable[[], bool], manager: socket.socket) -> list[str]:
    """Return the manager's messages until `done`; a manager that does not listen is told nothing more."""
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
        health, clock = scene.process.telemetry.health, scene.clock
        group.start_soon(serve, [scene.life], scene.configuration, scene.orders, scene.hints, scene.process)
        await until(lambda: set(health.pulses) == {REPOSITORY, OTHER}, manager)
        scene.orders.drain()
        drained = await until(lambda: REPOSITORY not in health.pulses, manager)
        await anyio.sleep(0.3)
        drained += heard(manager)
        assert "WATCHDOG=1" in drained
        assert "STATUS=worker: 0 in work, 0 waiting, drained: any other agent goes on from here" in drained
        assert not any(message.startswith("STOPPING") for message in drained), "it would be killed soon after"
        clock.late = STUCK_SECONDS + 60
        assert health.stuck().startswith(f"The loop of {OTHER} has not ticked for 9")
        health.ticked(OTHER)
        assert health.stuck() == "", "the other loop ended long ago, and well"
        scene.answered[OTHER].set()
    assert not health.pulses
    scene.orders.stop(15)
    assert heard(manager)[-1] == "STOPPING=1\nSTATUS=stopping"
