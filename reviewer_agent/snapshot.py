"""The facts that one look at a pull request shows, and the limits by which it is judged: values alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from reviewer_agent.merge.blockers import Blocker, WaitReason
from reviewer_agent.merge.queue_exit import Outside
from reviewer_agent.review.verdict import PersonOnly, ReviewVerdict
from shared.ci.verdict import CiVerdict
from shared.commands.command_rules import reviewed_again
from shared.lock.fence import Fence
from shared.models import PullRequest
from shared.workflow.labels import Flag


class Merge(StrEnum):
    """Mode of merging an approved pull request: by people, by the engine after `/merge`, or by the engine."""

    NEVER = "never"
    APPROVE = "approve"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits in number, time and size; `reviews` counts the heads of one pull request that are taken up.

    `lines` are the changed lines that are merged without a person's order, None for any number; `cooling_seconds` pass
    between an approval and a merge that nobody has ordered.
    """

    rounds: int = 3
    reviews: int = 10
    ci_seconds: float = 600.0
    none_is_green: bool = False
    lines: int | None = 800
    cooling_seconds: float = 0.0


CI_RED = "Ci-Red"
"""The fence's trailer that names the commit which was given back because of its checks: once for each."""

TO_BASE = "To-Base"
"""The fence's trailer that names the commits of head and base for which it was given back: once for each pair."""

ASKED = "Asked"
"""The fence's trailer that names the commit of which changes were requested, the newest request, and how often that was
passed on."""

PASSED_ON = 2
"""Maximum times that a request without a new commit is passed on: at first its words may not be shown yet."""

MERGE_REFUSED = "Merge-Refused"
"""The fence's trailer that names the commit whose merge GitHub refused, and GitHub's word for its state then."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The facts of one look at a pull request."""

    fence: Fence
    pull_request: PullRequest
    flags: frozenset[Flag] = frozenset()
    verdict: ReviewVerdict | None = None
    """Our verdict on the commit that the fence names."""
    review_asked: bool = False
    """True if somebody who may asks for a review of a head that the fence does not name, or for another review of an
    approved one."""
    person_asks: bool = False
    """True if somebody requests changes of what we approved."""
    requested: bool = False
    """True if any request for changes by people stands, however old."""
    request: int = 0
    """Id of the newest of these requests; 0: none stands."""
    remarked_by: tuple[str, ...] = ()
    """Logins of those who have commented on this commit, if nobody has ordered the merge after that."""
    ordered: bool = False
    ordered_by: str = ""
    """Author and place of the merge's order."""
    own_order: bool = False
    """True if its requester ordered the merge: that order does not count."""
    barred: str = ""
    """A label that keeps it from being merged."""
    repairable: bool = False
    """True if its checks are red, and were not when our worker handed it over."""
    checks: CiVerdict = CiVerdict.NONE
    awaited: tuple[str, ...] = ()
    """Required checks that nobody has reported, if nothing else is missing of its checks."""
    no_ci: bool = False
    """True if it has no checks because the repository has no CI at all."""
    base_checks: CiVerdict = CiVerdict.NONE
    base_tip: str = ""
    """The commit of the base branch that `base_checks` are about."""
    settling: bool = False
    """True if the last merge made `base_tip` and its checks have not ended."""
    held_up: Blocker | None = None
    """Blocker on its issue, done or flagged there; only read when nothing else keeps it from being merged."""
    reworded: bool = False
    """True if its issue's text is not the one that this commit was reviewed by; read like `held_up`."""
    updatable: bool = False
    """True if it cannot be merged before its base is merged into it, and our worker can do that."""
    by_turn: bool = False
    """True if it is `updatable` only because of what is new in its base: one pull request after the other."""
    waits_behind: int = 0
    """The pull request whose turn comes before it; 0: none does."""
    unmet: tuple[str, ...] = ()
    """Rules of its base branch that it does not meet."""
    undecided: bool = False
    """True if its base branch has rules, and GitHub has not found out yet if it meets them."""
    queue: bool = False
    """True if GitHub's merge queue merges."""
    called_back: bool = False
    """True if it has left the queue, and since then somebody wants it in there again."""
    merge: Merge = Merge.NEVER
    bounds: Bounds = field(default_factory=Bounds)

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of what it waits for: the pull request whose turn it is, checks, or else GitHub's requirements."""
        return (f"#{self.waits_behind}",) if self.waits_behind else self.awaited or self.unmet

    @property
    def complete(self) -> bool:
        """True if, as far as people are concerned, only being up to date is missing for its merge."""
        return self.pull_request.behind and (self.ordered or not self.needs_order)

    @property
    def head_moved(self) -> bool:
        """True if the head is another commit than the one that the fence names."""
        return self.pull_request.head_sha != self.fence.work_head

    @property
    def again(self) -> bool:
        """True if a person had it go on after its review of this head: one more review, or one more round."""
        return self.fence.phase == reviewed_again(self.fence.work_head)

    @property
    def needs_order(self) -> bool:
        """True if only a person's `/merge` merges it."""
        careful = self.verdict is not None and self.verdict.care is not PersonOnly.NONE
        return self.merge is Merge.APPROVE or careful or self.large or not self.pull_request.from_own_branch

    @property
    def large(self) -> bool:
        """True if it changes more lines than are merged without a person's order; an unknown number counts as more."""
        limit, verdict = self.bounds.lines, self.verdict
        return limit is not None and verdict is not None and (verdict.lines is None or verdict.lines > limit)

    @property
    def sent_back(self) -> bool:
        """True if this very commit was given back before because of its checks."""
        return dict(self.fence.more).get(CI_RED) == self.fence.work_head

    @property
    def times_passed_on(self) -> int:
        """Number of times that the newest request for changes of this very commit was passed on before."""
        told = dict(self.fence.more).get(ASKED, "").rpartition(" ")
        return int(told[2]) if told[0] == f"{self.fence.work_head} {self.request}" and told[2].isdecimal() else 0

    @property
    def sent_to_base(self) -> bool:
        """True if this very commit was given back before to have this very commit of its base merged in."""
        return dict(self.fence.more).get(TO_BASE) == f"{self.fence.work_head} {self.base_tip}"

    @property
    def refused(self) -> bool:
        """True if GitHub refused to merge this commit, and its merge state is still the same."""
        wait, state = self.fence.wait, self.pull_request.merge_state or "unknown"
        told = dict(self.fence.more).get(MERGE_REFUSED)
        return wait is not None and wait.reason == WaitReason.REFUSED and told == f"{self.fence.work_head} {state}"

    @property
    def outside(self) -> Outside | None:
        """Exit of this commit from GitHub's merge queue; None if it has not left, or somebody wants it there again."""
        return Outside.of(self.fence) if self.queue and not self.called_back else None

    @property
    def cool_at(self) -> datetime | None:
        """Time from which it may be merged without anybody's order; None if at once."""
        if self.merge is not Merge.AUTO or self.ordered or self.verdict is None or not self.bounds.cooling_seconds:
            return None
        return self.verdict.at + timedelta(seconds=self.bounds.cooling_seconds)
