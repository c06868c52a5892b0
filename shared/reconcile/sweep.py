"""The sweep for orphans: one fetch of all fences every ten minutes; each suspect is read singly, then dealt with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from shared.clock import Clock
from shared.errors import EngineError, Gone
from shared.git.ports import FenceList
from shared.github.ports import Issues, StatusBoard
from shared.lock.claimant import Claimant
from shared.lock.codec import FENCE_NAMESPACE
from shared.lock.ended_epochs import tell_ends
from shared.lock.fence import Fence, read_fences
from shared.lock.port import Port
from shared.lock.write_permit import Notice, OperatorPermit
from shared.models import Issue
from shared.process import CommandFailed
from shared.reconcile.label_drift import Sign
from shared.reconcile.lost import LostLabels
from shared.reconcile.orphans import OrphanDecision, ReconcileRules, SuspectFence, is_unclear, judge, reason, suspects
from shared.reconcile.tombstones import end_unheld_fence
from shared.workflow import TERMINAL, Stage

log = structlog.get_logger()

SWEEP_SECONDS = 600.0
"""Seconds between two fetches of all fences."""

RETRY_SECONDS = 60.0
"""Seconds until the retry after a failure."""

LEFT_SECONDS = 3600.0
"""Seconds without another look at a suspect that was left as it is, while its fence does not move."""

DOUBT_SECONDS = 120.0
"""Seconds between the first look and the deciding one: replicas learn of a merge or a label some time after it."""

MOST_LOOKS = 20
"""Suspects that are read in one go; the rest waits for the next poll."""

PRUNING = OperatorPermit("forget what was closed long ago")
"""Permit to prune: whoever runs agents wants it; nobody can hold a closed item, and it is a compare-and-swap."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Ports of the sweep: fences, threads, lost labels, status comments and the server's time."""

    fences: FenceList
    issues: Issues
    lost: LostLabels
    status: StatusBoard
    server_time: Callable[[], datetime]


class Sweep:
    """Finds the items of one kind of agent that the lists lack. Ends those itself that need only their fence."""

    def __init__(self, rules: ReconcileRules, sources: Sources, port: Port, claimant: Claimant, clock: Clock) -> None:
        self._rules = rules
        self._sources = sources
        self._port = port
        self._claimant = claimant
        self._clock = clock
        self._next = float("-inf")
        self._queue: list[Fence] = []
        self._left: dict[int, tuple[str, float]] = {}
        self._doubted: dict[int, tuple[Fence, float]] = {}
        self._orphans: dict[int, Issue] = {}
        self._foreign: dict[str, str] = {}

    @property
    def orphans(self) -> Mapping[int, Issue]:
        """Items that a claim continues or finishes, as they were read; kept until the next sweep."""
        return self._orphans

    def dismiss(self, number: int) -> None:
        """Forget an orphan, because it has ended."""
        self._orphans.pop(number, None)

    async def look(self, items: Mapping[int, Issue]) -> None:
        """Fetch and judge fences when it is time. Failures are logged and retried: nothing else waits for a sweep."""
        if self._clock.boot() >= self._next:
            self._next = self._clock.boot() + RETRY_SECONDS
            try:
                await self._fetch(items)
            except (EngineError, CommandFailed) as error:
                log.warning("sweep_failed", outcome="retrying", error=str(error))
                return
            self._next = self._clock.boot() + SWEEP_SECONDS
        self._queue += [
            fence for fence, _ in self._doubted.values() if self._is_due(fence) and fence not in self._queue
        ]
        batch, self._queue = self._queue[:MOST_LOOKS], self._queue[MOST_LOOKS:]
        for fence in batch:
            try:
                await self._settle(fence)
            except (EngineError, CommandFailed) as error:
                log.warning("orphan_not_settled", outcome="retrying", lock=fence.key.ref, error=str(error))
                self._next = min(self._next, self._clock.boot() + RETRY_SECONDS)

    async def _fetch(self, items: Mapping[int, Issue]) -> None:
        prefix = f"{FENCE_NAMESPACE}/{self._rules.role}/"
        refs = await self._sources.fences.read_all(prefix)
        fences = read_fences(self._rules.role, refs)
        self._tell_of_newer({ref: refs[ref][0] for ref in refs.keys() - {fence.key.ref for fence in fences}})
        now = self._sources.server_time()
        if told := await tell_ends(self._port, fences, self._claimant, now):
            log.info("ends_told", outcome="completed", count=told)
        found = suspects(fences, items, self._rules, now)
        self._queue = [fence for fence in found if not self._was_left(fence)]
        self._doubted = {
            fence.key.number: self._doubted[fence.key.number] for fence in found if self._is_doubted(fence)
        }
        self._left = {n: left for n, left in self._left.items() if self._clock.boot() < left[1]}
        self._orphans = {}

    def _tell_of_newer(self, foreign: Mapping[str, str]) -> None:
        """Log the items that only a newer agent can look after, each once."""
        for ref in sorted(ref for ref, oid in foreign.items() if self._foreign.get(ref) != oid):
            step = "upgrade this agent, or delete the ref if no newer one is at work"
            log.warning("fence_cannot_be_read", outcome="skipped", lock=ref, commit=foreign[ref], next_step=step)
        self._foreign = dict(foreign)

    def _was_left(self, fence: Fence) -> bool:
        oid, until = self._left.get(fence.key.number, ("", 0.0))
        return oid == fence.oid and self._clock.boot() < until

    def _is_doubted(self, fence: Fence) -> bool:
        return self._doubted.get(fence.key.number, (None, 0.0))[0] == fence

    def _is_due(self, fence: Fence) -> bool:
        """Return whether a doubted fence has waited long enough, so that the next look decides."""
        return self._is_doubted(fence) and self._clock.boot() >= self._doubted[fence.key.number][1] + DOUBT_SECONDS

    def _decide(self, fence: Fence, verdict: OrphanDecision, now: datetime) -> OrphanDecision:
        """Return the decision: look again at an unclear fence; withdraw one that is still unclear after the wait."""
        unclear, was_due = is_unclear(verdict, now - fence.at, timedelta(seconds=DOUBT_SECONDS)), self._is_due(fence)
        if was_due or not unclear:
            self._doubted.pop(fence.key.number, None)
        elif not self._is_doubted(fence):
            self._doubted[fence.key.number] = fence, self._clock.boot()
        if unclear:
            return OrphanDecision.WITHDRAW if was_due else OrphanDecision.LOOK_AGAIN
        return verdict

    async def _settle(self, fence: Fence) -> None:
        number, now = fence.key.number, self._sources.server_time()
        found = await self._read_item(fence, now)
        verdict = self._decide(fence, judge(found, self._rules, now), now)
        match verdict:
            case OrphanDecision.LOOK_AGAIN:
                return
            case OrphanDecision.LEAVE:
                self._left[number] = fence.oid, self._clock.boot() + LEFT_SECONDS
                return
            case OrphanDecision.CONTINUE:
                self._adopt(found)
                done = True
            case OrphanDecision.FINISH if fence.stage in self._rules.finish_by_claim:
                self._adopt(found)
                done = True
            case OrphanDecision.FINISH:
                done = await self._end(fence, found, Stage.DONE)
            case OrphanDecision.WITHDRAW:
                done = await self._end(fence, found, Stage.WITHDRAWN)
                if done and found.item is not None:
                    await self._tell_people(fence, found.item)
            case OrphanDecision.PRUNE:
                done = await self._sources.fences.remove(fence.key.ref, fence.oid, PRUNING)
        log.info("orphan_found", outcome="completed" if done else "skipped", lock=fence.key.ref, verdict=str(verdict))

    async def _end(self, fence: Fence, found: SuspectFence, stage: Stage) -> bool:
        """End a fence; the labels of a closed item come off before, because nobody looks at it afterwards."""
        if found.item is not None and not found.item.open:
            item = found.item
            return await end_unheld_fence(
                self._port, self._claimant, fence, stage, before=lambda: self._rules.closed(fence, item)
            )
        return await end_unheld_fence(self._port, self._claimant, fence, stage)

    async def _tell_people(self, fence: Fence, item: Issue) -> None:
        """Revise a status comment that says that somebody works there; posts none where there is none."""
        told = await self._rules.status_for(replace(fence, stage=Stage.WITHDRAWN), item, reason(item))
        await self._sources.status.revise(item.number, told, Notice(item.number, "withdrawn"))

    async def _read_item(self, fence: Fence, now: datetime) -> SuspectFence:
        """Read the item itself: lists and fences may be out of date."""
        rules = self._rules
        try:
            item = await self._sources.issues.issue(fence.key.number)
        except Gone:
            return SuspectFence(fence, None)
        if fence.stage in TERMINAL:
            return SuspectFence(fence, item)
        if not item.open:
            return SuspectFence(fence, item, outcome=await rules.outcome(fence))
        if rules.sign(item, fence) is not Sign.BARE:
            return SuspectFence(fence, item)
        restored = await self._sources.lost.restored(item, rules.expected_stage(fence), now)
        return SuspectFence(fence, item, lost=restored.labels != item.labels)

    def _adopt(self, found: SuspectFence) -> None:
        if found.item is not None:
            self._orphans[found.fence.key.number] = found.item
