"""Faults that must not end a process with other work: one bad repository, or one missing file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from daemon_lives import OTHER, Scene, daemon
from engine import ENGINE, REPOSITORY, WRITES, Engine
from structlog.testing import capture_logs

from runtime.arguments import Arguments
from runtime.building.assembly import RepositoryAdapters
from runtime.daemon.serving import serve
from shared.errors import Misconfigured
from shared.telemetry.event_log import NoEventLog
from shared.telemetry.events import EventKind, Query
from shared.telemetry.metrics import Figures
from shared.telemetry.sqlite_store import SqliteStore
from shared.workflow import Role

pytestmark = pytest.mark.long


async def until(done: Callable[[], object]) -> None:
    with anyio.fail_after(20):
        while not done():  # noqa: ASYNC110  # other tasks do it
            await anyio.sleep(0.01)


def told(scene: Scene, name: str) -> list[str]:
    """Return the recorded states of one repository."""
    rows = SqliteStore(scene.settings.state_dir / "events.db").read(Query(repository=name), 100)
    return [one.event.data["state"] for one in rows if one.event.kind is EventKind.AGENT]


async def test_a_repository_that_does_not_exist_is_set_aside_and_taken_up_when_it_does(engine: Engine) -> None:
    async with daemon(engine, OTHER) as scene:
        health = scene.process.telemetry.health
        for name in (REPOSITORY, OTHER):
            scene.answered[name].set()
        with capture_logs() as logs:
            async with anyio.create_task_group() as group:
                group.start_soon(serve, [scene.life], scene.configuration, scene.orders, scene.hints, scene.process)
                await until(lambda: scene.life.live)
                assert set(health.pulses) == {REPOSITORY}, "the other one is worked on"
                assert OTHER in health.aside[OTHER]
                assert scene.life.status().endswith(f", set aside: {OTHER}")
                figures = Figures("worker-a", Role.WORKER, scene.process.telemetry.tallies, health, NoEventLog())
                assert f'repository_set_aside{{repository="{OTHER}"}} 1.0' in figures.text().decode()
                scene.clock.due.set()  # it is tried again, in vain: nothing more is said
                await until(lambda: not scene.clock.due.is_set())
                await engine.lab.repository(OTHER, {"README.md": "# Other\n"}, collaborators={ENGINE: "write"})
                scene.clock.due.set()
                await until(lambda: set(health.pulses) == {REPOSITORY, OTHER})
                assert health.aside == {}
                scene.orders.drain()
    events = [one["event"] for one in logs]
    assert events.count("repository_set_aside") == events.count("repository_taken_up") == 1
    assert told(scene, OTHER) == ["set_aside", "taken_up", "drained"]


async def test_what_is_wrong_with_the_only_repository_ends_the_start(engine: Engine) -> None:
    async with daemon(engine) as scene:
        (one,) = scene.settings.repositories
        only = scene.settings.model_copy(update={"repositories": (one.model_copy(update={"name": OTHER}),)})
        scene.life._process = replace(scene.process, settings=only)
        with pytest.raises(Misconfigured, match=OTHER):
            await scene.life.run(scene.configuration, lambda: None)


async def test_a_disk_in_the_way_of_one_repository_sets_it_aside_and_keeps_nobody_else(engine: Engine) -> None:
    """The same holds for the retry, long after the start."""
    async with daemon(engine, "eve/other") as scene:
        health = scene.process.telemetry.health
        for answered in scene.answered.values():
            answered.set()
        async with anyio.create_task_group() as group:
            group.start_soon(serve, [scene.life], scene.configuration, scene.orders, scene.hints, scene.process)
            await until(lambda: scene.life.live)
            (host,) = (scene.settings.state_dir / "mirrors").iterdir()
            (host / "eve").write_text("where its mirror was to be", encoding="ascii")
            await engine.lab.repository("eve/other", {"README.md": "# Other\n"}, collaborators={ENGINE: "write"})
            scene.clock.due.set()
            await until(lambda: "File exists" in health.aside["eve/other"])
            assert scene.life.live
            (host / "eve").unlink()
            scene.clock.due.set()
            await until(lambda: set(health.pulses) == {REPOSITORY, "eve/other"})
            scene.orders.drain()


async def test_a_disk_in_the_way_of_a_new_configuration_brings_the_one_before_back(engine: Engine) -> None:
    async def prepare(parts: RepositoryAdapters, arguments: Arguments) -> RepositoryAdapters:
        if parts.configured.poll_interval == 7.0:
            raise OSError(28, "No space left on device")
        return parts

    async with daemon(engine) as scene:
        scene.life.job = replace(scene.life.job, prepare=prepare)
        then = [lambda: scene.life.renew(scene.polling(7.0)), scene.orders.drain]
        scene.answered[REPOSITORY].set()
        with capture_logs() as logs:
            await scene.life.run(scene.configuration, lambda: then.pop(0)())
    assert scene.generations == [0.05, 0.05]
    (refused,) = [one for one in logs if one["event"] == "configuration_refused"]
    assert "No space left on device" in refused["error"]


async def test_a_token_file_that_is_gone_at_a_reload_changes_nothing(engine: Engine, tmp_path: Path) -> None:
    token = with_token_file(engine, tmp_path)
    async with daemon(engine) as scene:
        with capture_logs() as logs:
            async with anyio.create_task_group() as group:
                group.start_soon(serve, [scene.life], scene.configuration, scene.orders, scene.hints, scene.process)
                await until(lambda: scene.life.live)
                token.unlink()
                scene.orders.reload()
                scene.orders.reload()
                await anyio.sleep(0.1)
                assert scene.life.live
                scene.answered[REPOSITORY].set()
                scene.orders.drain()
    assert len(scene.generations) == 1, "it never left the old configuration"
    (refused,) = [one for one in logs if one["event"] == "configuration_refused"]
    assert str(token) in refused["error"]


async def test_the_configuration_before_comes_back_although_its_token_file_is_gone(
    engine: Engine, tmp_path: Path
) -> None:
    token = with_token_file(engine, tmp_path)
    async with daemon(engine) as scene:
        bad = tmp_path / "other-token"
        bad.touch(mode=0o600)
        bad.write_text("nobody-knows-it", encoding="ascii")

        def rotate() -> None:
            token.unlink()
            scene.life.renew(scene.polling(7.0, token_file=bad))

        then = [rotate, scene.orders.drain]
        scene.answered[REPOSITORY].set()
        with capture_logs() as logs:
            await scene.life.run(scene.configuration, lambda: then.pop(0)())
    assert scene.generations == [0.05, 0.05]
    assert [one["event"] for one in logs].count("configuration_refused") == 1


def with_token_file(engine: Engine, directory: Path) -> Path:
    """Write the engine's token to a file that the configuration names."""
    token = directory / "token"
    token.touch(mode=0o600)
    token.write_text(engine.lab.token(ENGINE, WRITES), encoding="ascii")
    github = {"api_url": engine.lab.url, "write_interval_seconds": 0.0, "token_file": token}
    engine.more_settings |= {"github": github}
    return token
