"""A whole life under the lock, as a worker leads it: look, claim, four phases with a heartbeat in each, release.

Also what must be true of the server afterwards, whatever happened in between.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import pairwise

from fakes.lock_port import KEY, FakeAgent, Run
from fakes.lock_server import Server
from lock_world import TERMS

from shared.errors import Lost, Transient
from shared.lock.claim import Intent, claim
from shared.lock.comment import read_ack
from shared.lock.fence import FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held, beat, begin, release
from shared.lock.port import RefUpdate
from shared.lock.view import observe
from shared.workflow import Stage

BRANCH = "refs/heads/auto/issue-42"
PHASES = ("red", "green", "pull request", "handed over")
LAST = PHASES[-1]
NEXT = dict(zip(("", *PHASES), PHASES, strict=False))
BEFORE = {phase: {"", *PHASES[:place]} for place, phase in enumerate(PHASES)}
TICK_SECONDS = 60.0


@dataclass
class Office:
    """One issue, and what was paid for it: phase, and the fence of that moment."""

    server: Server = field(default_factory=Server)
    paid: list[tuple[str, str]] = field(default_factory=list)

    def agent(self, name: str) -> FakeAgent:
        """Return an agent of this name."""
        return FakeAgent(self.server, name)

    def begin(self, agent: FakeAgent) -> Run[None]:
        """Begin one life, to be driven by the test."""
        return Run(agent.port, self._life(agent))

    def finish(self, *agents: FakeAgent, ticks: int = 60) -> None:
        """Tick each agent every minute until the issue is handed over; fail if that never happens."""
        for _ in range(ticks):
            if self.finished:
                return
            for agent in agents:
                drain(self.begin(agent))
            self.server.seconds += TICK_SECONDS
        raise AssertionError(f"it is lost: {self.server.fence(KEY)}")

    @property
    def finished(self) -> bool:
        """True if the issue has been handed over."""
        fence = self.server.fence(KEY)
        return fence is not None and fence.phase == LAST

    def expect_in_order(self, repeats: int = 1) -> None:
        """Assert that nothing is lost, done twice, or locked; at most `repeats` phases were paid for in vain."""
        fences = self.server.lineage(KEY)[::-1]
        assert all(newer.epoch >= older.epoch for older, newer in pairwise(fences)), "epochs only grow"
        recorded = [newer.phase for older, newer in pairwise(fences) if newer.phase != older.phase]
        assert recorded == list(PHASES), "each phase is recorded once, in order"
        assert self.server.refs[BRANCH] == fences[-1].work_head, "the branch is what the fence says"
        phase_at = {fence.oid: fence.phase for fence in fences}
        assert all(phase_at[at] in BEFORE[phase] for phase, at in self.paid), "what is recorded is not paid for again"
        assert len(self.paid) <= len(PHASES) + repeats
        self.server.seconds += TERMS.certain
        last = self.agent("worker-z")
        last.observe()
        self.server.seconds += TERMS.look_again
        assert not last.observe().is_live, "no lock is left"
        assert len([one for one in self.server.comments().values() if read_ack(one)]) <= 2

    async def _life(self, agent: FakeAgent) -> None:
        view = await observe(agent.port, KEY, agent.claimant)
        fence = view.fence
        if view.other_holder or (fence and fence.phase == LAST):
            return
        intent = Intent(fence.stage, fence.phase) if fence else Intent(Stage.IMPLEMENTING)
        lease = await claim(agent.port, view, agent.claimant, intent)
        if lease is None:
            return
        held = begin(agent.port, lease, agent.claimant)
        while held.fence.phase != LAST:
            await self._work(held)
        await release(held)

    async def _work(self, held: Held) -> None:
        phase = NEXT[held.fence.phase]
        held.check()
        self.paid.append((phase, self.server.refs[KEY.ref]))
        await beat(held)
        change, updates = _facts(held, phase)
        await advance(held, change, updates=updates)


def drain(attempt: Run[None]) -> None:
    """Run an attempt to its end; raise its error unless it is one that the next tick handles."""
    while not attempt.finished:
        attempt.step()
    if attempt.error is not None and not isinstance(attempt.error, Transient | Lost):
        raise attempt.error


def _facts(held: Held, phase: str) -> tuple[FenceChange, tuple[RefUpdate, ...]]:
    commit = hashlib.sha1(f"{held.ack.nonce} {phase}".encode()).hexdigest()
    match phase:
        case "red":
            return FenceChange(phase=phase, work_head=commit), ()
        case "green":
            return FenceChange(phase=phase, work_head=commit), (RefUpdate(BRANCH, None, commit),)
        case "pull request":
            return FenceChange(phase=phase, stage=Stage.TESTING, pr=57), ()
        case _:
            return FenceChange(phase=phase, stage=Stage.REVIEWING), ()
