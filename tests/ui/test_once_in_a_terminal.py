"""`--once --verbose` for a person at a terminal: sentences with the time, why others are not taken, and no log."""

from __future__ import annotations

import re

from engine import REPOSITORY, Engine
from ui_scene import person

from lab import stub_project


async def test_an_item_is_told_line_by_line_and_logs_are_for_who_asks(engine: Engine) -> None:
    engine.scenario.write_text(stub_project.scenario("kim"))
    paused = engine.ready("Later")
    engine.lab.label(REPOSITORY, paused, "flag:paused", actor="ada")
    number = engine.ready("Greet kim [/kindly]")
    async with person(engine) as one:
        await one.runs("worker-agent", REPOSITORY, "--once", "--verbose")
        await one.ended()
        seen = await one.seen()
        assert f"not taken: {REPOSITORY}#{paused}: it is paused: 'flag:paused'" in seen
        assert f"    #{number} is claimed at implementing" in seen
        assert re.search(r"^ +0:\d\d  Writing the tests\.$", seen, re.MULTILINE)
        assert "[debug" not in seen
        assert "[info" not in seen
        await one.runs("worker-agent", REPOSITORY, "--once", "--log-level", "info")
        await one.ended()
        assert "[info" in await one.seen()
