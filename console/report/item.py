"""One piece of work, from the chains of its fences: outcome, tries, times, and help by people (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import pairwise

from console.history.fences import Chain
from shared.ci.ci_round import BASE_MOVED, SENT_BACK
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.workflow import HALTED, TERMINAL, Role, Stage, Track


class WorkState(StrEnum):
    """State of a piece of work."""

    MERGED = "merged"
    WITHDRAWN = "withdrawn"
    HALTED = "halted"
    OPEN = "open"


class Touch(StrEnum):
    """Act by which a person helped a piece of work before its merge."""

    COMMAND = "command"
    """A command or a decision that its fence records: `/retry`, `/reset-attempts`, `/close-and-reset`, a consent."""
    RESUMPTION = "resumption"
    """It had halted or was stopped, and somebody had it go on."""
    COMMIT = "commit"
    """A commit on its branch that no agent made."""
    REQUEST = "change request"
    """Changes were requested that the engine's own review did not request."""


Durations = Mapping[Stage, timedelta]


@dataclass(frozen=True, slots=True)
class Item:
    """One specification with its pull request; 0 where it has none.

    `ended_at` is when it was merged, or since when it stands as `outcome` says. `tries` are the implementations
    that were tried, `rounds` those of review and changes. `stages` maps a track to the time in each stage.
    """

    number: int
    pull_request: int
    began_at: datetime
    ended_at: datetime
    outcome: WorkState
    tries: int = 0
    rounds: int = 0
    touches: frozenset[Touch] = frozenset()
    stages: Mapping[Track, Durations] = field(default_factory=dict)
    reopened_at: datetime | None = None

    @property
    def lead(self) -> timedelta:
        """From the first claim to its end."""
        return self.ended_at - self.began_at


def items(chains: Mapping[ItemKey, Chain]) -> tuple[Item, ...]:
    """Every specification that a worker ever claimed, by number."""
    working = sorted((key.number, chain) for key, chain in chains.items() if key.kind is Role.WORKER)
    return tuple(_item(chain, _review_of(chain, chains)) for _, chain in working)


def stories(chains: Mapping[ItemKey, Chain]) -> tuple[tuple[datetime, Durations], ...]:
    """Every story: when its fence moved last, and the time in each stage."""
    told = (chain.fences for key, chain in chains.items() if key.kind is Role.PLANNER)
    return tuple((fences[-1].at, durations(fences)) for fences in told)


def durations(fences: tuple[Fence, ...]) -> Durations:
    """Return the time in each stage, from one fence to the next; the last one's has no end yet."""
    found: dict[Stage, timedelta] = {}
    for one, other in pairwise(fences):
        found[one.stage] = found.get(one.stage, timedelta()) + (other.at - one.at)
    return {stage: span for stage, span in found.items() if stage not in TERMINAL}


def _review_of(chain: Chain, chains: Mapping[ItemKey, Chain]) -> Chain | None:
    number = next((fence.pr for fence in reversed(chain.fences) if fence.pr), 0)
    return chains.get(ItemKey(Role.REVIEWER, number)) if number else None


def _item(chain: Chain, review: Chain | None) -> Item:
    merged_at = _merged_at(chain, review)
    work, reviewing = _until(chain.fences, merged_at), _until(review.fences if review else (), merged_at)
    newest = work[-1]
    return Item(
        number=newest.key.number,
        pull_request=next((fence.pr for fence in reversed(work) if fence.pr), 0),
        began_at=work[0].at,
        ended_at=merged_at or newest.at,
        outcome=_outcome(newest) if merged_at is None else WorkState.MERGED,
        tries=_tries(work),
        rounds=max(fence.round for fence in work),
        touches=frozenset(_touches(work, reviewing, bool(chain.foreign or (review and review.foreign)))),
        stages={Track.SPECIFICATION: durations(work), Track.PULL_REQUEST: durations(reviewing)},
        reopened_at=_reopened_at(chain.fences, merged_at),
    )


def _merged_at(chain: Chain, review: Chain | None) -> datetime | None:
    """The first end as done, of either fence: a closed issue that was not merged ends as withdrawn."""
    both = (*chain.fences, *(review.fences if review else ()))
    return min((fence.at for fence in both if fence.stage is Stage.DONE), default=None)


def _until(fences: tuple[Fence, ...], merged_at: datetime | None) -> tuple[Fence, ...]:
    """Return the fences up to the merge, the one that ends it included."""
    if merged_at is None:
        return fences
    found: list[Fence] = []
    for fence in fences:
        found.append(fence)
        if fence.stage is Stage.DONE:
            break
    return tuple(found)


def _outcome(newest: Fence) -> WorkState:
    if newest.stage is Stage.WITHDRAWN:
        return WorkState.WITHDRAWN
    return WorkState.HALTED if newest.stage in HALTED else WorkState.OPEN


def _tries(fences: tuple[Fence, ...]) -> int:
    """Each step up of the counter is one try, however often it was set back in between."""
    steps = [0, *(fence.attempt for fence in fences)]
    return sum(max(0, after - before) for before, after in pairwise(steps))


def _touches(work: tuple[Fence, ...], reviewing: tuple[Fence, ...], foreign: bool) -> Iterator[Touch]:
    if _is_ordered(fence.approved_by for fence in work) or _is_ordered(map(_command, reviewing)):
        yield Touch.COMMAND
    halts = HALTED | {Stage.WITHDRAWN}
    if any(one.stage in halts and other.stage not in halts for f in (work, reviewing) for one, other in pairwise(f)):
        yield Touch.RESUMPTION
    if foreign:
        yield Touch.COMMIT
    moves = [(one.stage, other.stage, other.phase in {BASE_MOVED, SENT_BACK}) for one, other in pairwise(reviewing)]
    back = [(before, by_ci) for before, after, by_ci in moves if after is Stage.CHANGES_REQUESTED and before != after]
    # Its checks begin a round only where there was none before.
    own = sum(before is Stage.IN_REVIEW for before, by_ci in back if not by_ci) + bool(back and back[0][1])
    overruled = (Stage.APPROVED, False) in back
    if overruled or max(fence.round for fence in work) > own:
        yield Touch.REQUEST


def _command(review: Fence) -> str:
    """The command that a review goes on by; the other word in its fence is an order to merge, which is no touch."""
    return review.approved_by if review.approved_by.startswith("/") else ""


def _is_ordered(said: Iterable[str]) -> bool:
    """Return whether any fence names a command that the fence before it does not name."""
    words = ["", *said]
    return any(after and after != before for before, after in pairwise(words))


def _reopened_at(fences: tuple[Fence, ...], merged_at: datetime | None) -> datetime | None:
    """Return when an agent took it up again after its merge; None if none did."""
    ends = [place for place, fence in enumerate(fences) if fence.stage is Stage.DONE]
    if merged_at is None or not ends:
        return None
    return next((fence.at for fence in fences[ends[0] + 1 :] if fence.stage not in TERMINAL), None)
