"""What the reviewer does next: pure decisions on what it saw."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from reviewer_agent.merge.blockers import OF_CARE, ON_ORDER, PASSING, REFUSED, Blocker
from reviewer_agent.merge.queue_exit import Outside
from reviewer_agent.review.verdict import Judgement, PersonOnly, ReviewVerdict
from shared.ci.verdict import Verdict, is_green
from shared.commands.retry_command import reviewed_again
from shared.lock.record import Fence
from shared.models import PullRequest
from shared.workflow import Stage
from shared.workflow.labels import Flag


class Merge(StrEnum):
    """Who merges an approved pull request: people, the engine after `/merge`, or the engine."""

    NEVER = "never"
    APPROVE = "approve"
    AUTO = "auto"


class Action(StrEnum):
    """One step of the reviewer."""

    FINISH = "finish"
    WITHDRAW = "withdraw"
    BEGIN = "begin"
    REVIEW = "review"
    REOPEN = "reopen"
    READ_ANEW = "review again, by another text of its issue"
    LET_GO = "let go of commits that nobody asked about"
    ACCEPT = "accept"
    REQUEST_CHANGES = "request changes"
    SEND_BACK = "send back to have its CI repaired"
    SEND_TO_BASE = "send back to have its base merged in"
    PUT_OFF = "put off until its checks are not red"
    GIVE_UP_ON_ROUNDS = "give up: rounds used up"
    GIVE_UP_ON_REVIEWS = "give up: reviews used up"
    GIVE_UP_ON_SIZE = "give up: too large to judge"
    YIELD = "yield to a person"
    MERGE = "merge"
    ENQUEUE = "have GitHub's merge queue merge it"
    COOL = "wait for the time of the merge"
    WAIT = "wait"
    PARK = "wait for a person's order"
    HAND_OVER = "hand over"
    HAND_BACK = "hand back"
    SHOW_HALT = "show that it halted"


IDLE = frozenset({Action.HAND_OVER, Action.PARK})
"""Actions that only say why nothing happens: no reason to claim."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How often, how long and how much; `reviews` counts the heads of one pull request that are taken up.

    `lines` are the changed lines that are merged without a person's word, None for any number; `cooling_seconds` pass
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
"""So often a request that leads to no new commit is passed on: at the first time its words may not be shown yet."""

MERGE_REFUSED = "Merge-Refused"
"""The fence's trailer that names the commit whose merge GitHub refused, and GitHub's word for its state then."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one look at a pull request showed; `opinion` is ours on the commit that the fence names.

    `asked`: somebody who may asks for a review of a head that the fence does not name, or of what is approved for one
    more. `person_asks`:
    somebody requests changes of what we approved. `requested`: any such request stands, however old; the newest has the
    id `request`. `remarked_by` have commented on this commit, and nobody has ordered the merge after that.
    `ordered_by` is who ordered the merge, and where. `own_order`: that was its requester, whose word does not count.
    `barred` is a label that keeps it from being merged. `repairable`: its checks are red, and our worker handed it over
    before they were.
    `no_ci`: it has no checks because the repository has no CI at all.
    `awaited` are required checks that nobody has reported, where that is all that its checks lack.
    `base_tip` is the commit of the base branch that `base_checks` are about; `settling`: the last merge made it
    and its checks have not ended. `updatable`: it cannot be merged before its base is merged into it, and our worker
    can do that; `by_turn`: only because of what is new there, one after the other, and `first` comes before it (0: none
    does). `unmet`: what its base branch requires and it lacks. `queue`: GitHub's merge queue merges; `called_back`:
    since it has left that, somebody wants it in there again.
    `held_up`: what was done to its issue, or is flagged there; `reworded`: its issue says something else than when this
    commit was reviewed; both are only read when nothing else keeps it from being merged.
    """

    fence: Fence
    pull_request: PullRequest
    flags: frozenset[Flag] = frozenset()
    opinion: ReviewVerdict | None = None
    asked: bool = False
    person_asks: bool = False
    requested: bool = False
    request: int = 0
    remarked_by: tuple[str, ...] = ()
    ordered: bool = False
    ordered_by: str = ""
    own_order: bool = False
    barred: str = ""
    repairable: bool = False
    checks: Verdict = Verdict.NONE
    awaited: tuple[str, ...] = ()
    no_ci: bool = False
    base_checks: Verdict = Verdict.NONE
    base_tip: str = ""
    settling: bool = False
    held_up: Blocker | None = None
    reworded: bool = False
    updatable: bool = False
    by_turn: bool = False
    first: int = 0
    unmet: tuple[str, ...] = ()
    queue: bool = False
    called_back: bool = False
    merge: Merge = Merge.NEVER
    bounds: Bounds = field(default_factory=Bounds)

    @property
    def missing(self) -> tuple[str, ...]:
        """What it waits for by name: whose turn comes first, checks, or else what GitHub asks for."""
        return (f"#{self.first}",) if self.first else self.awaited or self.unmet

    @property
    def complete(self) -> bool:
        """Whether nothing but being up to date keeps it from its merge, as far as people are concerned."""
        return self.pull_request.behind and (self.ordered or not self.needs_order)

    @property
    def head_moved(self) -> bool:
        """Whether the head is another commit than the one that the fence names."""
        return self.pull_request.head_sha != self.fence.work_head

    @property
    def again(self) -> bool:
        """Whether a person had it go on after its review of this head: one more review, or one more round."""
        return self.fence.phase == reviewed_again(self.fence.work_head)

    @property
    def needs_order(self) -> bool:
        """Whether only a person's `/merge` merges it."""
        careful = self.opinion is not None and self.opinion.care is not PersonOnly.NONE
        return self.merge is Merge.APPROVE or careful or self.large or not self.pull_request.from_own_branch

    @property
    def large(self) -> bool:
        """Whether it changes more lines than are merged without a person's word; not known counts as more."""
        limit, opinion = self.bounds.lines, self.opinion
        return limit is not None and opinion is not None and (opinion.lines is None or opinion.lines > limit)

    @property
    def sent_back(self) -> bool:
        """Whether this very commit was given back before because of its checks."""
        return dict(self.fence.more).get(CI_RED) == self.fence.work_head

    @property
    def times_passed_on(self) -> int:
        """How often the newest request for changes of this very commit was passed on before."""
        told = dict(self.fence.more).get(ASKED, "").rpartition(" ")
        return int(told[2]) if told[0] == f"{self.fence.work_head} {self.request}" and told[2].isdecimal() else 0

    @property
    def sent_to_base(self) -> bool:
        """Whether this very commit was given back before to have this very commit of its base merged in."""
        return dict(self.fence.more).get(TO_BASE) == f"{self.fence.work_head} {self.base_tip}"

    @property
    def refused(self) -> bool:
        """Whether GitHub refused to merge this commit, and says the same of it since."""
        wait, state = self.fence.wait, self.pull_request.merge_state or "unknown"
        told = dict(self.fence.more).get(MERGE_REFUSED)
        return wait is not None and wait.reason == REFUSED and told == f"{self.fence.work_head} {state}"

    @property
    def outside(self) -> Outside | None:
        """Why this commit has left GitHub's merge queue; None when it has not, or somebody wants it in there again."""
        return Outside.of(self.fence) if self.queue and not self.called_back else None

    @property
    def cool_at(self) -> datetime | None:
        """When it may be merged without anybody's order; None when at once."""
        if self.merge is not Merge.AUTO or self.ordered or self.opinion is None or not self.bounds.cooling_seconds:
            return None
        return self.opinion.at + timedelta(seconds=self.bounds.cooling_seconds)


def decide(s: Snapshot, *, now: datetime) -> Action:
    """The next step of a pull request whose fence stands at `s.fence`."""
    if s.pull_request.merged:
        return Action.FINISH
    if not s.pull_request.open:
        return Action.WITHDRAW
    match s.fence.stage:
        case Stage.REVIEWING | Stage.IN_REVIEW | Stage.APPROVED if s.head_moved:
            # Whoever can push to a pull request may be anybody: a push alone does not buy a review.
            return Action.REOPEN if s.asked else Action.LET_GO
        case Stage.APPROVED if s.asked:
            return Action.REOPEN
        case Stage.REVIEWING:
            return Action.BEGIN
        case Stage.IN_REVIEW:
            return _in_review(s)
        case Stage.APPROVED:
            return _approved(s, now)
        case Stage.CHANGES_REQUESTED:
            return Action.HAND_BACK
        case _:
            return Action.SHOW_HALT


def _in_review(s: Snapshot) -> Action:
    if s.opinion is None and s.repairable:
        return Action.PUT_OFF if s.sent_back else Action.SEND_BACK
    if s.opinion is None and s.updatable and not s.sent_to_base:
        return Action.SEND_TO_BASE
    if s.opinion is None:
        return Action.REVIEW if s.fence.attempt < s.bounds.reviews else Action.GIVE_UP_ON_REVIEWS
    if s.opinion.judgement is Judgement.APPROVED:
        return Action.ACCEPT
    if s.opinion.judgement is Judgement.INCOMPLETE:
        return Action.REVIEW if s.again else Action.GIVE_UP_ON_SIZE
    return Action.REQUEST_CHANGES if s.again or s.fence.round + 1 < s.bounds.rounds else Action.GIVE_UP_ON_ROUNDS


def _approved(s: Snapshot, now: datetime) -> Action:
    if s.person_asks and s.times_passed_on < PASSED_ON:
        return Action.YIELD
    if s.repairable and not s.sent_back and Flag.MANUAL_INTERVENTION not in s.flags:
        return Action.SEND_BACK
    if s.updatable and not s.sent_to_base and not s.first and Flag.MANUAL_INTERVENTION not in s.flags:
        return Action.SEND_TO_BASE
    reason = hindrance(s)
    if reason is Blocker.REFUSED and s.fence.wait is not None and s.fence.wait.until <= now:
        reason = None  # once more
    if reason is None and s.reworded:
        return Action.READ_ANEW
    if reason is None:
        merge = Action.ENQUEUE if s.queue else Action.MERGE
        return Action.COOL if s.cool_at is not None and now < s.cool_at else merge
    if reason in ON_ORDER:
        return Action.PARK
    overdue = now - s.fence.at > timedelta(seconds=s.bounds.ci_seconds)
    return Action.WAIT if reason in PASSING and not overdue else Action.HAND_OVER


def hindrance(s: Snapshot) -> Blocker | None:
    """The first reason not to merge the head that the fence names; None when it may be merged, once it has cooled.

    Nothing is merged without our own approval of exactly this commit and without green checks.
    """
    if s.merge is Merge.NEVER:
        return Blocker.NEVER
    if s.flags:
        return Blocker.RESOLVED if s.flags == {Flag.HAD_CONFLICT} else Blocker.FLAGGED
    if s.barred:
        return Blocker.BARRED
    if s.opinion is None or s.opinion.sha != s.fence.work_head or s.opinion.judgement is not Judgement.APPROVED:
        return Blocker.UNSEEN
    if s.requested:
        return Blocker.REQUESTED
    if s.first:
        return Blocker.TURN
    missing = _missing_order(s, s.opinion.care)
    conflict = s.held_up or Blocker.CONFLICT if s.pull_request.out_of_step else None
    remarked = Blocker.REMARKED if s.remarked_by else None
    return missing or conflict or _ci(s) or _required(s) or s.held_up or remarked or _unread(s)


def _unread(s: Snapshot) -> Blocker | None:
    """A text that no review is left for."""
    return Blocker.REWORDED if s.reworded and s.fence.attempt + 1 >= s.bounds.reviews else None


def _required(s: Snapshot) -> Blocker | None:
    """What GitHub would refuse the merge for."""
    if s.unmet:
        return Blocker.REQUIRED
    if s.outside is not None and s.outside.held:
        return Blocker.TAKEN_OUT
    return Blocker.REFUSED if s.refused else None


def _missing_order(s: Snapshot, care: PersonOnly) -> Blocker | None:
    if s.ordered or not s.needs_order:
        return None
    if s.own_order:
        return Blocker.OWN_ORDER
    if not s.pull_request.from_own_branch:
        return Blocker.FORK
    large = Blocker.LARGE if s.large and s.merge is Merge.AUTO else Blocker.NOT_ORDERED
    return OF_CARE.get(care, large)


def _ci(s: Snapshot) -> Blocker | None:
    if s.checks is Verdict.RED:
        return Blocker.CHECKS_RED
    if s.checks in {Verdict.RUNNING, Verdict.UNKNOWN}:
        return Blocker.CHECKS_AWAITED if s.awaited else Blocker.CHECKS_RUNNING
    if not is_green(s.checks, none_is_green=s.bounds.none_is_green):
        if not s.no_ci:
            return Blocker.CHECKS_MISSING
        if not s.ordered:
            return Blocker.OWN_ORDER if s.own_order else Blocker.NO_CI
    if s.base_checks is Verdict.RED:
        return Blocker.BASE_RED
    return Blocker.BASE_RUNNING if s.settling else None
