"""Messages to a service manager: ready, signs of life while the loops tick, a sentence, and the end."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from structlog.testing import capture_logs

from config.environment import Notify, notify
from runtime.daemon.service_manager import ServiceManager


class OneBeat:
    """A clock whose sleep never ends: what comes before it is one beat."""

    def now(self) -> float:
        return 5.0

    def boot(self) -> float:
        return 5.0

    async def sleep(self, seconds: float) -> None:
        await anyio.sleep_forever()


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
        receiver.bind(str(tmp_path / "notify"))
        receiver.setblocking(False)
        yield receiver


def heard(manager: socket.socket) -> list[str]:
    found: list[str] = []
    while True:
        try:
            found.append(manager.recv(4096).decode())
        except BlockingIOError:
            return found


async def beat(notifier: ServiceManager, status: str = "", stuck: str = "") -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(notifier.attend, lambda: status, lambda: stuck)
        await anyio.wait_all_tasks_blocked()
        group.cancel_scope.cancel()


async def test_a_life_as_its_manager_hears_it(manager: socket.socket, tmp_path: Path) -> None:
    notifier = ServiceManager(Notify(str(tmp_path / "notify"), 30), OneBeat())
    await beat(notifier, "worker: starting")
    assert heard(manager) == ["EXTEND_TIMEOUT_USEC=60000000", "WATCHDOG=1", "STATUS=worker: starting"]
    notifier.ready()
    await beat(notifier, "worker: 1 in work")
    await beat(notifier, "worker: 1 in work")
    assert heard(manager) == ["READY=1", "WATCHDOG=1", "STATUS=worker: 1 in work", "WATCHDOG=1"]
    notifier.reloading()
    notifier.ready()
    notifier.stopping()
    began, *rest = heard(manager)
    assert began.startswith("RELOADING=1\nMONOTONIC_USEC=")
    assert rest == ["READY=1", "STOPPING=1\nSTATUS=stopping"]


async def test_a_stuck_process_gives_no_sign_of_life(manager: socket.socket, tmp_path: Path) -> None:
    notifier = ServiceManager(Notify(str(tmp_path / "notify"), 30), OneBeat())
    notifier.ready()
    await beat(notifier, "fine", stuck="The loop of a/b has not ticked for 999 seconds.")
    assert heard(manager) == ["READY=1", "STATUS=The loop of a/b has not ticked for 999 seconds."]


@pytest.mark.parametrize(("address", "not_told"), [("", []), ("gone", ["EXTEND_TIMEOUT_USEC=60000000"])])
async def test_without_a_manager_nothing_is_sent_and_one_that_is_gone_ends_nothing(
    tmp_path: Path, address: str, not_told: list[str]
) -> None:
    notifier = ServiceManager(Notify(address and str(tmp_path / address)), OneBeat())
    with capture_logs() as logs:
        await beat(notifier, "fine")
        notifier.stopping()
    assert [(one["event"], one["message"]) for one in logs] == [("supervisor_not_told", what) for what in not_told]


async def test_a_manager_that_goes_and_comes_is_complained_of_once_each_time(tmp_path: Path) -> None:
    address = tmp_path / "notify"
    notifier = ServiceManager(Notify(str(address)), OneBeat())
    with capture_logs() as logs:
        for _ in range(2):
            notifier.reloading()
            notifier.ready()
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
                receiver.bind(str(address))
                notifier.stopping()
                notifier.stopping()
            address.unlink()
    assert [one["event"] for one in logs] == ["supervisor_not_told", "supervisor_told_again"] * 2


@pytest.mark.parametrize(
    ("environment", "found"),
    [
        ({}, Notify()),
        ({"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "30000000"}, Notify("/run/x", 30)),
        ({"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "soon"}, Notify("@x", 0)),
        ({"NOTIFY_SOCKET": "vsock:2:1"}, Notify()),
        ({"NOTIFY_SOCKET": "/run/x", "WATCHDOG_USEC": "1", "WATCHDOG_PID": "1"}, Notify("/run/x", 0)),
    ],
)
def test_what_the_environment_says(environment: dict[str, str], found: Notify) -> None:
    assert notify(environment) == found
