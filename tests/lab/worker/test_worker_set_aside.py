"""A new test that passes at once is set aside: the work goes on, and people see it."""

from __future__ import annotations

import pytest
from engine import Engine
from worker_scene import CODE, TESTS, labels, status

from shared.workflow import Role

pytestmark = pytest.mark.long

PASSES = """
    - path: tests/test_at_once.py
      content: |
        def test_at_once():
            assert 1 + 1 == 2
"""


async def test_a_problematic_test_is_flagged_and_the_others_are_implemented(engine: Engine) -> None:
    engine.script(TESTS.rstrip() + PASSES + CODE)
    number = engine.ready("Greet people", "A greeting.")
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        await engine.until(lambda: bool(worker.ended), worker)
    assert labels(engine, number) == {"status:reviewing", "flag:problematic-test"}
    assert "waits for review" in status(engine, number)
