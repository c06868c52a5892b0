"""Agents that start together begin with different repositories, and know them in the configured order."""

from __future__ import annotations

import re

from daemon_lives import daemon
from engine import REPOSITORY, Engine

from runtime.arguments import Arguments
from runtime.daemon.start import AT_ONCE, open_usable, own_order

NAMES = (REPOSITORY, *(f"ada/other-{number}" for number in range(30)))


async def test_an_agent_begins_with_the_repositories_of_its_own_order(engine: Engine) -> None:
    asked: dict[str, None] = {}
    async with daemon(engine, *NAMES[1:]) as scene:
        wanted = own_order(NAMES, scene.process.agent.id)
        assert wanted[0] != NAMES[0], "this agent's order is another one"
        engine.lab.exchanges.observe(
            lambda one: asked.update(dict.fromkeys(re.findall(r"^/repos/([^/]+/[^/]+)$", one.path)))
        )
        arguments = Arguments(None, None, once=True, wait=False, verbose=False, agent_id=None)
        stack, usable = await open_usable(scene.process, arguments, None)
        await stack.aclose()
    assert set(list(asked)[:AT_ONCE]) == set(wanted[:AT_ONCE])
    assert [parts.configured.name for parts in usable.parts] == [REPOSITORY]
    assert list(usable.aside) == list(NAMES[1:]), "there is no such repository"
