"""One item in work."""

from __future__ import annotations

from dataclasses import dataclass, field

from fakes.agent import INTERVAL, FakeAgent, lease, own_slot
from fakes.clock import HandClock

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.loop.item_task import ItemTask
from shared.scheduling.agent_contract import Ended
from shared.workflow import Role, Stage


@dataclass
class Work:
    """One pursuit in a task of its own, and what it ended with."""

    agent: FakeAgent
    clock: HandClock = field(default_factory=HandClock)
    ended: Ended | None = None

    def __post_init__(self) -> None:
        self.item = ItemTask(4, self.agent, self.clock, INTERVAL, lambda: None)

    async def run(self) -> None:
        """Run the item to its end."""
        self.ended = await self.item.run(lease(4), own_slot())

    @property
    def stage(self) -> Stage | None:
        """The stage that the fence records."""
        fence = self.agent.server.fence(ItemKey(Role.WORKER, 4))
        return fence.stage if fence else None

    @property
    def fence(self) -> Fence:
        """The fence as the server has it."""
        fence = self.agent.server.fence(ItemKey(Role.WORKER, 4))
        assert fence is not None
        return fence

    @property
    def steps(self) -> int:
        """The number of steps taken."""
        return self.agent.count("step 4")


async def ended(agent: FakeAgent) -> Ended:
    """Run an item that never rests, and return its end."""
    return await ItemTask(4, agent, HandClock(), INTERVAL, lambda: None).run(lease(4), own_slot())
