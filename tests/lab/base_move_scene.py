"""A base branch that moves before a merge."""

from __future__ import annotations

from engine import Engine
from worker_scene import pulls

from lab.github.world.pulls import PullRecord
from shared.workflow import Role

RESOLVED = """
- call: resolve_conflict
  round: any
  edits:
    - path: directory/greeting.py
      content: |
        def part(name):
            return f'Bye, {name}'


        def greet(name):
            return f'Hello, {name}'
"""

PARTING = {"directory/greeting.py": "def part(name):\n    return f'Bye, {name}'\n"}


async def handed_over(engine: Engine) -> PullRecord:
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    (pull,) = pulls(engine)
    return pull


def merged(engine: Engine) -> bool:
    return all(pull.merged_at is not None for pull in pulls(engine))


def merges_asked(engine: Engine) -> int:
    return sum(one.method == "PUT" and one.path.endswith("/merge") for one in engine.lab.exchanges)
