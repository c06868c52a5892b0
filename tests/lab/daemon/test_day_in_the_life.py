"""A day in the life of a real worker process: everything that befalls a daemon, with one issue in work all the time."""

from __future__ import annotations

import json
import os
import shlex
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.abc import Process
from daemon_scene import lines
from engine import ENGINE, REPOSITORY, WRITES, Engine
from worker_scene import CODE, TESTS, acks, calls, claims, labels, pulls

from console.status.machine import machine
from runtime.daemon import control
from shared import process
from shared.telemetry.events import EventKind, Query
from shared.telemetry.sqlite_store import SqliteStore

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
SIZE_MIB, BALLAST_MIB = 300, 80
"""Nothing is claimed with less than 256 MiB free."""

PHASE_SECONDS = 2


@dataclass
class Day:
    """One machine: its disk, its configuration, its service manager, and what its worker has logged."""

    engine: Engine
    state: Path
    manager: socket.socket
    own_disk: bool

    @property
    def log(self) -> Path:
        return self.engine.directory / "worker.log"

    @property
    def config(self) -> Path:
        return self.engine.directory / "config.yml"

    def configure(self, **more: Any) -> None:
        repository = {"name": REPOSITORY, "llm_backend": "scripted", "poll_interval": 0.2, "refactor": "off"}
        settings = {
            "repositories": [repository | {"test_command": f"{shlex.quote(sys.executable)} -m pytest -q"}],
            "state_dir": str(self.state),
            "sandbox": "none",
            "cooldown": 0,
            "github": {
                "api_url": self.engine.lab.url,
                "write_interval_seconds": 0,
                "token_file": str(self.engine.directory / "token"),
            },
            "lock": {"settle": 0},
            "health": {"port": None},
            "llm": {"scenario": str(self.engine.scenario)},
        }
        self.config.write_text(json.dumps(settings | more), encoding="utf-8")

    def new_token(self) -> None:
        file = self.engine.directory / "token"
        file.touch(mode=0o600)
        file.write_text(self.engine.lab.token(ENGINE, WRITES), encoding="ascii")

    def revoke(self) -> None:
        tokens = self.engine.lab.world.tokens
        for value in [value for value, token in tokens.items() if token.login == ENGINE]:
            del tokens[value]

    async def logged(self, event: str, times: int = 1) -> dict[str, Any]:
        """Wait until an event was logged so often, and return the line."""
        found: list[dict[str, Any]] = await self.until(
            lambda: [one for one in lines(self.log) if one["event"] == event][times - 1 :]
        )
        return found[0]

    async def until(self, found: Callable[[], list[Any]]) -> list[Any]:
        while not (got := found()):  # noqa: ASYNC110  # another process does it
            await anyio.sleep(0.05)
        return got

    def heard(self) -> list[str]:
        """Return the messages that the service manager has received since it was last asked."""
        found: list[str] = []
        while True:
            try:
                found += self.manager.recv(4096).decode().splitlines()
            except BlockingIOError:
                return found

    def doing(self) -> str:
        """Return the status line of the one agent, as `status` shows it; empty if none runs."""
        return "".join(one.doing for one in machine(self.state).agents)

    async def says(self, words: str, *, no_more: bool = False) -> None:
        """Return when `status` shows it, or shows it no more."""
        await self.until(lambda: [True] * ((words in self.doing()) is not no_more))

    def worker(self) -> Any:
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.engine.directory), "PYTHONPATH": str(ROOT)}
        env["NOTIFY_SOCKET"] = str(self.engine.directory / "notify")
        argv = (sys.executable, "-m", "worker_agent", "--config", str(self.config))
        return process.started(argv, cwd=ROOT, env=env, log=self.log)

    async def command(self, *words: str) -> process.Finished:
        env = {"PATH": "/usr/bin:/bin", "HOME": str(self.engine.directory)}
        argv = (sys.executable, "-m", "console", *words, "--config", str(self.config))
        return await process.run(argv, cwd=ROOT, env=env)


@pytest.fixture
async def day(engine: Engine) -> AsyncIterator[Day]:
    """Yield a day with a slow coder, and with the state directory on its own disk if this account may mount one."""
    slow = f"\n  takes: {PHASE_SECONDS}\n"
    engine.script(
        TESTS.replace("write_tests\n", f"write_tests{slow}") + CODE.replace("implement\n", f"implement{slow}")
    )
    state = engine.directory / "state"
    state.mkdir(mode=0o700)
    words = ("mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m,mode=0700", "tmpfs", str(state))
    env = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
    mounted = os.geteuid() == 0 and (await process.run(words, cwd=Path("/"), env=env)).code == 0
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(engine.directory / "notify"))
        manager.setblocking(False)
        yield Day(engine, state, manager, mounted)
    if mounted:
        assert (await process.run(("umount", "--lazy", str(state)), cwd=Path("/"), env=env)).code == 0


async def test_a_day_in_the_life(day: Day) -> None:
    number = day.engine.ready("Greet people")
    day.configure()
    day.new_token()
    with anyio.fail_after(180):
        async with day.worker() as running:
            await _morning(day)
            await _trouble(day, number, running)
            await _evening(day, number, running)
        day.state.joinpath("VERSION").write_text("0\n")
        async with day.worker() as running:
            await day.logged("state_directory_upgraded")
            await day.until(lambda: ["handed over"] * ("status:reviewing" in labels(day.engine, number)))
            running.send_signal(signal.SIGTERM)
            assert await running.wait() == 0
    assert b"Traceback" not in day.log.read_bytes()
    assert len(pulls(day.engine)) == 1
    assert calls(day.engine, "write_tests") == calls(day.engine, "implement") == 1, "nothing was paid for twice"
    assert all("state=released" in ack for ack in acks(day.engine, number))
    told = [row.event for row in SqliteStore(day.state / "events.db").read(Query(), 1000)]
    states = [one.data["state"] for one in told if one.kind is EventKind.AGENT]
    disk = ["no_room", "resumed"] if day.own_disk else []
    renewed = ["renewing", "started", "paused"]
    day_long = ["started", "paused", *renewed, "token_refused", *renewed, "resumed", *disk, "drained"]
    assert states == [*day_long, "started", "stopped"]


async def _morning(day: Day) -> None:
    """Check a supervised start; a broken configuration, then a good one; a pause in the middle of a phase."""
    await day.logged("started")
    await day.until(lambda: ["ready"] * ("READY=1" in day.heard()))
    await day.logged("step")
    good = day.config.read_text(encoding="utf-8")
    day.config.write_text("repositories: [{name: a/b, pol_interval: 3}]\n", encoding="utf-8")
    refused = await day.logged("configuration_refused")
    assert "poll_interval" in refused["error"]
    assert day.state.joinpath("config.last-good.yml").read_text(encoding="utf-8") == good
    assert control.pause(control.ControlOptions(state_dir=day.state), {}, "the audit") == 0
    paused = await day.logged("item_ended")
    assert paused["outcome"] == "parked"
    assert "the audit" in paused["sentence"]
    await day.until(
        lambda: [line for line in day.heard() if line.startswith("STATUS=worker: 0 in work, 0 waiting, paused")]
    )
    await day.says("paused (the audit)")
    day.configure(budgets={"issue": 24})
    assert (await day.logged("configuration_read"))["changed"] == ["budgets"]
    await day.logged("paused", 2)
    looked = await day.command("status", "--json")
    assert looked.code == 0, looked.stderr
    board = json.loads(looked.stdout)
    assert "the audit" in board["machine"]["paused"]
    assert [one["stage"] for one in board["repositories"][0]["items"]] == ["implementing"]


async def _trouble(day: Day, number: int, running: Process) -> None:
    """Check a token that is revoked and renewed and a full disk, with nothing claimed meanwhile."""
    day.revoke()
    await day.logged("token_refused")
    await day.says("does not accept the token")
    assert "does not accept the token" in (await day.command("status")).stdout.decode()
    day.new_token()
    running.send_signal(signal.SIGHUP)
    await day.logged("paused", 3)
    await day.says("does not accept the token", no_more=True)
    if day.own_disk:
        ballast = day.state / "ballast"
        ballast.write_bytes(bytes(BALLAST_MIB * 2**20))
        assert control.resume(control.ControlOptions(state_dir=day.state), {}) == 0
        assert str(day.state) in (await day.logged("claims_paused"))["reason"]
        await day.says("0 in work, 0 waiting, Less than 256 MiB are free")
        assert claims(day.engine, number) == 1
        ballast.unlink()
    else:
        assert control.resume(control.ControlOptions(state_dir=day.state), {}) == 0
    assert calls(day.engine, "implement") == 0


async def _evening(day: Day, number: int, running: Process) -> None:
    """Check a drain of the worker in the middle of its second phase, which comes to its end."""
    await day.until(lambda: [one for one in lines(day.log) if one["event"] == "step" and one["phase"] == "green"])
    done: list[Any] = []
    async with anyio.create_task_group() as group:

        async def drain() -> None:
            done.append(await day.command("drain"))

        group.start_soon(drain)
        await day.until(lambda: [True] * ("drained" in day.doing() or bool(done)))
    assert done[0].code == 0, done[0].stderr
    assert b"draining worker-" in done[0].stdout
    assert machine(day.state).agents == ()
    assert await running.wait() == 0
    assert claims(day.engine, number) == 2
    assert "state=released" in acks(day.engine, number)[0]
    assert day.engine.issue(number).open
    assert (await day.command("drain")).code == 3
