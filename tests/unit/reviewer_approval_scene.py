"""A pull request that was approved."""

from __future__ import annotations

from fakes.reviewer_forge import tick
from fakes.reviewer_world import World, answer

from shared.workflow import Stage


async def approved() -> World:
    """Run the review to its end and release the lease, then let some time pass."""
    world = World(answers=[answer()])
    await tick(world)
    assert world.stage is Stage.APPROVED
    world.server.seconds += 3600
    return world
