"""A start defines the labels of one repository after the other, beside its work: hundreds are no burden to it."""

from __future__ import annotations

from dataclasses import replace

import anyio
from daemon_lives import OTHER, Scene, daemon
from engine import ENGINE, REPOSITORY, Engine

from runtime.daemon.serving import serve


async def begun(engine: Engine, scene: Scene) -> None:
    """Make both repositories usable, without our labels in either."""
    await engine.lab.repository(OTHER, {"README.md": "# Other\n"}, collaborators={ENGINE: "write"})
    for name in (REPOSITORY, OTHER):
        for label in list(engine.lab.at(name).labels.values()):
            engine.lab.at(name).labels.remove(label.name)
        scene.answered[name].set()


def defined(engine: Engine) -> list[str]:
    """Return the repositories that have our labels."""
    return [name for name in (REPOSITORY, OTHER) if engine.lab.at(name).labels.find("status:testing") is not None]


async def test_the_second_follows_the_first(engine: Engine) -> None:
    async with daemon(engine, OTHER) as scene:
        await begun(engine, scene)
        seen: list[list[str]] = []
        async with anyio.create_task_group() as group:
            group.start_soon(serve, [scene.life], scene.configuration, scene.orders, scene.hints, scene.process)
            with anyio.fail_after(20):
                while len(seen[-1:] and seen[-1]) < 2:
                    seen.append(defined(engine))
                    await anyio.sleep(0.01)
            scene.orders.drain()
    assert [REPOSITORY] in seen, "not at the same time"


async def test_a_stop_waits_for_no_labels(engine: Engine) -> None:
    async with daemon(engine, OTHER) as scene:
        await begun(engine, scene)
        async with anyio.create_task_group() as group:
            group.start_soon(serve, [scene.life], scene.configuration, scene.orders, scene.hints, scene.process)
            with anyio.fail_after(20):
                while not defined(engine):  # noqa: ASYNC110  # another task does it
                    await anyio.sleep(0.01)
            scene.orders.drain()
    assert defined(engine) == [REPOSITORY]


async def test_what_looks_once_defines_all_of_them(engine: Engine) -> None:
    async with daemon(engine, OTHER) as scene:
        await begun(engine, scene)
        once = scene.settings.model_copy(update={"max_iterations": 1})
        scene.life._process = replace(scene.process, settings=once)
        await scene.life.run(scene.configuration, lambda: None)
    assert defined(engine) == [REPOSITORY, OTHER]
