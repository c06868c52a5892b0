"""The units under a systemd that was booted: ready, watched, reloaded, drained and stopped, with bubblewrap inside."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from deploy.conftest import AGENTS, DEPLOY

from image.building import Image
from image.machine import Machine, booted
from image.waiting import until
from lab import target_project
from lab.__main__ import ENGINE, PERMISSIONS, REVIEWER
from lab.demo.setup import REPOSITORY
from lab.github.server import Lab
from runtime.exit_codes import MISCONFIGURED

WORKER = "worker-agent@team"


@pytest.fixture(scope="module")
def host(machine: Image) -> Iterator[Machine]:
    """Yield the booted machine with the units."""
    with booted(machine.root) as host:
        yield host


@dataclass
class Team:
    """The configuration `team` on that machine, beside a GitHub on loopback."""

    host: Machine
    told: dict[str, Any]

    def configure(self, **changes: Any) -> None:
        """Write `team.yml` with these keys changed."""
        self.told |= changes
        (self.host.root / "etc/workflow-engine/team.yml").write_text(yaml.safe_dump(self.told), encoding="utf-8")

    async def drop_in(self, text: str) -> None:
        """Change the worker's unit until the machine is switched off."""
        place = self.host.root / f"etc/systemd/system/{WORKER}.service.d"
        place.mkdir(exist_ok=True)
        (place / "changed.conf").write_text(text, encoding="utf-8")
        await self.host.systemctl("daemon-reload")

    async def said(self, word: str) -> None:
        """Return when the worker's journal has this word."""
        await until(lambda: word in self.host.journal(WORKER), lambda: self.host.told(WORKER))


@pytest.fixture
async def team(host: Machine, tmp_path: Path) -> AsyncIterator[Team]:
    """Yield agents installed as the documentation says; assert at the end that nothing of them runs or is left."""
    async with Lab(tmp_path / "github") as lab:
        people = {ENGINE: "write", REVIEWER: "write"}
        await lab.repository(REPOSITORY, target_project.files(), collaborators=people)
        given = {"github-token": lab.token(ENGINE, PERMISSIONS[ENGINE]), "lock-key": secrets.token_hex(32)}
        given["reviewer-token"] = lab.token(REVIEWER, PERMISSIONS[REVIEWER])
        place = host.root / "etc/workflow-engine/team"
        place.mkdir(parents=True)
        for name, secret in given.items():
            (place / name).touch(mode=0o600)
            (place / name).write_text(secret, encoding="ascii")
        (place.parent / "scenario.yml").write_text("[]\n", encoding="ascii")
        team = Team(host, yaml.safe_load((DEPLOY / "systemd/repos.yml").read_text(encoding="utf-8")))
        repository = {"name": REPOSITORY, "poll_interval": 0.5, "llm_backend": "scripted"}
        github = team.told["github"] | {"api_url": lab.url, "write_interval_seconds": 0}
        team.configure(repositories=[repository], github=github, llm={"scenario": "/etc/workflow-engine/scenario.yml"})
        try:
            yield team
        finally:
            for agent in AGENTS:
                await host.systemctl("stop", f"{agent}-agent@team")
            await host.systemctl("reset-failed")
            shutil.rmtree(place.parent)
            shutil.rmtree(host.root / f"etc/systemd/system/{WORKER}.service.d", ignore_errors=True)
            shutil.rmtree(host.root / "var/lib/workflow-engine", ignore_errors=True)
            host.run("journalctl", "--rotate")
            host.run("journalctl", "--vacuum-time=1us")
            await host.systemctl("daemon-reload")


async def test_all_three_are_ready_when_they_poll_and_stop_in_order(team: Team) -> None:
    """The agents run in mode bubblewrap, under all restrictions of the units."""
    units = [f"{agent}-agent@team" for agent in AGENTS]
    assert await team.host.systemctl("start", *units) == (0, "")
    proofs = sum(team.host.journal(unit).count("git_server_proved") for unit in units)
    assert proofs == 1, "those that start together prove the git server once"
    for agent, unit in zip(AGENTS, units, strict=True):
        assert '"event": "started"' in team.host.journal(unit)
        await team.host.until(unit, "StatusText", f"{agent}: 0 in work, 0 waiting")
    assert await team.host.systemctl("stop", *units) == (0, "")
    for unit in units:
        assert await team.host.property(unit, "Result") == "success"
        assert await team.host.property(unit, "ExecMainStatus") == "0"


async def test_one_that_hangs_is_killed_and_started_again(team: Team) -> None:
    await team.drop_in("[Service]\nWatchdogSec=5s\nTimeoutAbortSec=2s\nRestartSec=1s\n")
    assert await team.host.systemctl("start", WORKER) == (0, "")
    first = await team.host.property(WORKER, "MainPID")
    assert await team.host.systemctl("kill", "--kill-whom=main", "--signal=STOP", WORKER) == (0, "")
    await team.host.until(WORKER, "NRestarts", "1")
    await team.host.until(WORKER, "ActiveState", "active")
    assert "Watchdog timeout" in team.host.journal(WORKER)
    assert await team.host.property(WORKER, "MainPID") != first


async def test_a_reload_reads_the_configuration_and_ends_when_it_was_read(team: Team) -> None:
    assert await team.host.systemctl("start", WORKER) == (0, "")
    process = await team.host.property(WORKER, "MainPID")
    team.configure(cooldown=7)
    assert await team.host.systemctl("reload", WORKER) == (0, "")
    await team.said("configuration_read")
    team.configure(cooldown="soon")
    assert await team.host.systemctl("reload", WORKER) == (0, "")
    await team.said("configuration_refused")
    assert await team.host.property(WORKER, "ActiveState") == "active"
    assert await team.host.property(WORKER, "MainPID") == process


async def test_one_that_was_drained_stays_away(team: Team) -> None:
    assert await team.host.systemctl("start", WORKER) == (0, "")
    assert await team.host.systemctl("kill", "--kill-whom=main", "--signal=USR1", WORKER) == (0, "")
    await team.host.until(WORKER, "ActiveState", "inactive")
    assert '"event": "draining"' in team.host.journal(WORKER)
    assert await team.host.property(WORKER, "NRestarts") == "0"
    assert await team.host.property(WORKER, "Result") == "success"


async def test_one_that_dies_comes_back_and_one_that_a_person_must_correct_does_not(team: Team) -> None:
    await team.drop_in("[Service]\nRestartSec=1s\n")
    assert await team.host.systemctl("start", WORKER) == (0, "")
    assert await team.host.systemctl("kill", "--kill-whom=main", "--signal=KILL", WORKER) == (0, "")
    await team.host.until(WORKER, "NRestarts", "1")
    await team.host.until(WORKER, "ActiveState", "active")
    await team.host.systemctl("stop", WORKER)
    team.configure(cooldown="soon")
    code, _ = await team.host.systemctl("start", WORKER)
    assert code != 0
    assert await team.host.property(WORKER, "ActiveState") == "failed"
    assert await team.host.property(WORKER, "ExecMainStatus") == str(MISCONFIGURED)
    assert await team.host.property(WORKER, "NRestarts") == "0"
