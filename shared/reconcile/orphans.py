"""Decisions about items whose fence says that there is work, but that no list shows (pure)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, StrEnum

from shared.github.status import Status
from shared.lock.fence import Fence
from shared.lock.write_permit import OperatorPermit
from shared.models import Issue, PullRequest
from shared.reconcile.label_drift import Sign, sign
from shared.workflow import HALTED, TERMINAL, Role, Stage
from shared.workflow.labels import Flag, Labels

KEPT = timedelta(days=30)
"""Time for which the fence of a closed item is kept, by GitHub's clock."""


TIDYING = OperatorPermit("tidy up what has ended")
"""Permit to tidy up: whoever runs agents wants it; nobody holds ended items, and every effect on them is convergent."""


class ItemEnd(Enum):
    """The outcome of a closed item."""

    DONE = "done"
    DROPPED = "dropped"
    UNCLEAR = "its pull request is shown as open: it was left open, or this is older than the merge that closed both"

    @classmethod
    def of(cls, pull_request: PullRequest) -> ItemEnd:
        """Return the outcome by the item's pull request: a merge closes it, so no older answer shows it closed."""
        if pull_request.merged:
            return cls.DONE
        return cls.UNCLEAR if pull_request.open else cls.DROPPED


@dataclass(frozen=True, slots=True)
class ReconcileRules:
    """The reconciler's rules for one kind of agent.

    `owned_stages`: the stages in which labels that disagree with a resting fence are a person's order; in any
    other stage somebody else may have moved them. `unlabelled`: stages that a crash may leave without a
    label; `ended_when_bare`: stages that are not the agent's alone, and that end where a person has taken every stage
    label off. `finish_by_claim`: stages from which what has ended is finished by a claim, because more than the fence
    is to be done. `outcome` asks how an item that is closed ended; `needs_followup(item, listed)` is true if the
    disappearance of a listed item requires work, given those still listed; `belongs(item, known)` is true for an item
    that is followed because of listed ones, whatever its labels. `status_for` makes the status comment of an item
    that is withdrawn, from its fence as it is then, the item and the reason. `closed` shows that a closed item has
    ended: reports the end if nothing else will, and takes its labels off.
    """

    role: Role
    names: Labels
    expected_stage: Callable[[Fence], Stage | None]
    before: Callable[[Stage], frozenset[Stage]]
    outcome: Callable[[Fence], Awaitable[ItemEnd]]
    status_for: Callable[[Fence, Issue, str], Awaitable[Status]]
    closed: Callable[[Fence, Issue], Awaitable[None]]
    owned_stages: frozenset[Stage]
    unlabelled: frozenset[Stage] = frozenset()
    ended_when_bare: frozenset[Stage] = frozenset()
    finish_by_claim: frozenset[Stage] = frozenset()
    needs_followup: Callable[[Issue, Mapping[int, Issue]], bool] = lambda issue, listed: True
    belongs: Callable[[Issue, Mapping[int, Issue]], bool] = lambda issue, known: False

    def sign(self, item: Issue, fence: Fence) -> Sign:
        """Compare the stage labels of `item` with its fence."""
        recorded, shown = self.expected_stage(fence), self.names.read(item.labels).stages
        return Sign.AGREES if recorded is None else sign(shown, recorded, self.before(recorded))


class OrphanDecision(StrEnum):
    """The action for one fence."""

    LEAVE = "leave"
    CONTINUE = "continue"
    FINISH = "finish"
    WITHDRAW = "withdraw"
    LOOK_AGAIN = "look again"
    PRUNE = "prune"


@dataclass(frozen=True, slots=True)
class SuspectFence:
    """One fence and its item, read singly. `item` is None if it is gone. `lost`: its label went with the definition."""

    fence: Fence
    item: Issue | None
    outcome: ItemEnd = ItemEnd.DROPPED
    lost: bool = False


def suspects(
    fences: Iterable[Fence], items: Mapping[int, Issue], rules: ReconcileRules, now: datetime
) -> tuple[Fence, ...]:
    """Return the fences that need a closer look, by number; `items` are the items that lists show as open."""
    found = []
    for fence in fences:
        if fence.stage in TERMINAL:
            if now - fence.at >= KEPT:
                found.append(fence)
            continue
        listed = items.get(fence.key.number)
        expected = {Sign.AGREES, Sign.LAGS} | ({Sign.BARE} if fence.stage in rules.unlabelled else set())
        if listed is None or rules.sign(listed, fence) not in expected:
            found.append(fence)
    return tuple(sorted(found, key=lambda fence: fence.key.number))


def judge(found: SuspectFence, rules: ReconcileRules, now: datetime) -> OrphanDecision:
    """Decide what is done about a suspect."""
    item, stage = found.item, found.fence.stage
    if stage in TERMINAL:
        return OrphanDecision.PRUNE if _is_long_closed(found, now) else OrphanDecision.LEAVE
    if item is None:
        return OrphanDecision.WITHDRAW
    if not item.open:
        return _OF_CLOSED[found.outcome]
    if stage in HALTED or Flag.PAUSED in rules.names.read(item.labels).flags:
        return OrphanDecision.LEAVE
    if item.locked:
        return OrphanDecision.WITHDRAW if stage in rules.owned_stages else OrphanDecision.LEAVE
    return _by_labels(found, item, rules)


def is_unclear(verdict: OrphanDecision, age: timedelta, doubt: timedelta) -> bool:
    """Return whether only a second look, `doubt` later, decides; `age` is the fence's.

    Labels that disagree with a fence that has moved just now may be older than its move.
    """
    return verdict is OrphanDecision.LOOK_AGAIN or (verdict is OrphanDecision.WITHDRAW and age < doubt)


_OF_CLOSED = {
    ItemEnd.DONE: OrphanDecision.FINISH,
    ItemEnd.DROPPED: OrphanDecision.WITHDRAW,
    ItemEnd.UNCLEAR: OrphanDecision.LOOK_AGAIN,
}


def _by_labels(found: SuspectFence, item: Issue, rules: ReconcileRules) -> OrphanDecision:
    stage, shown = found.fence.stage, rules.sign(item, found.fence)
    if found.lost or (shown is Sign.BARE and stage in rules.unlabelled):
        return OrphanDecision.CONTINUE
    if shown is Sign.BARE and stage in rules.ended_when_bare:
        return OrphanDecision.WITHDRAW
    if stage not in rules.owned_stages:
        return OrphanDecision.LEAVE
    return OrphanDecision.CONTINUE if shown in {Sign.AGREES, Sign.LAGS} else OrphanDecision.WITHDRAW


def reason(item: Issue) -> str:
    """Return the reason why an item was withdrawn, as a part of a sentence."""
    if not item.open:
        return "it was closed while no agent worked on it"
    if item.locked:
        return "it was locked while no agent worked on it"
    return "a person moved or removed the stage label"


def _is_long_closed(found: SuspectFence, now: datetime) -> bool:
    """Return whether an item closed long ago; if it is gone, the fence's own time counts: nobody knows a better one."""
    if found.item is None:
        return now - found.fence.at >= KEPT
    closed_at = found.item.closed_at
    return not found.item.open and closed_at is not None and now - closed_at >= KEPT
