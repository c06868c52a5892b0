"""The reason why an item waits: its stage, its fence and its flags -> for whom, why and until when (pure).

Of an approved pull request it is the next condition for its merge: labels, checks, the reviewer's reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from console.status.row import Waiting, Whom
from reviewer_agent.comments import FORK_MOVED, HEAD_MOVED
from reviewer_agent.merge.blockers import ON_ORDER, Blocker
from shared.ci.verdict import CiVerdict
from shared.github import status_record
from shared.lock.comment import MARK
from shared.lock.fence import Fence
from shared.models import Comment
from shared.text import comment_signatures
from shared.workflow import HALTED, Role, Stage, Track, owner
from shared.workflow.labels import Flag

CONFIGURED = {
    "never": Waiting(Whom.PERSON, "merge it"),
    "approve": Waiting(Whom.PERSON, "/merge"),
    "auto": Waiting(Whom.REVIEWER, "merges it"),
}
"""By the configured word, where nothing else is known."""

_TOLD: Mapping[Blocker, Waiting] = {
    **{reason: Waiting(Whom.PERSON, "/merge") for reason in ON_ORDER - {Blocker.NOT_ORDERED}},
    Blocker.OWN_ORDER: Waiting(Whom.PERSON, "/merge by somebody else"),
    Blocker.REVERT: Waiting(Whom.PERSON, "merge or close it"),
    Blocker.REQUESTED: Waiting(Whom.PERSON, "a request for changes stands"),
    Blocker.CHECKS_MISSING: Waiting(Whom.PERSON, "it has no checks"),
    Blocker.CHECKS_AWAITED: Waiting(Whom.PERSON, "a required check"),
    Blocker.STOPPED: Waiting(Whom.PERSON, "its issue was stopped"),
    Blocker.EDITED: Waiting(Whom.PERSON, "its issue was edited"),
    Blocker.BLOCKED: Waiting(Whom.ITEM, "what blocks its issue"),
    Blocker.REQUIRED: Waiting(Whom.PERSON, "what its base branch requires"),
    Blocker.CONFLICT: Waiting(Whom.PERSON, "merge its base into it"),
    Blocker.TURN: Waiting(Whom.ITEM, "its turn to be brought up to date"),
    Blocker.REFUSED: Waiting(Whom.PERSON, "GitHub refused the merge"),
    Blocker.DEQUEUED: Waiting(Whom.ITEM, "GitHub's merge queue, once more"),
    Blocker.QUEUED: Waiting(Whom.ITEM, "GitHub's merge queue"),
    Blocker.BASE_RED: Waiting(Whom.CI, "the checks of its base"),
}
"""Reasons of the reviewer -> what the merge waits for; labels and checks are read here."""


_NAMED = {Blocker.REQUIRED.name.casefold(): "", Blocker.CHECKS_AWAITED.name.casefold(): "the required check "}
"""Reasons that name what is missing, and what stands before the names."""

UNASKED = frozenset({HEAD_MOVED, FORK_MOVED})
"""Commits that nobody has asked to have reviewed, in the words of the status comment."""


def merging(configured: str, barred: str, ci: CiVerdict | None, word: Mapping[str, object]) -> Waiting:
    """Return what the merge waits for. `barred` is a person's step by labels, `word` the data of the status comment."""
    if configured == "never":
        return CONFIGURED[configured]
    if barred:
        return Waiting(Whom.PERSON, barred)
    why = word.get("why")
    told = next((waiting for reason, waiting in _TOLD.items() if reason.name.casefold() == why), None)
    missing = word.get("for")
    if why in _NAMED and isinstance(missing, list):
        return Waiting(Whom.PERSON, _NAMED[str(why)] + " and ".join(map(str, missing)))
    if told is not None:
        return told
    if configured == "auto" and ci in {CiVerdict.RED, CiVerdict.RUNNING, CiVerdict.UNKNOWN}:
        return Waiting(Whom.CI, "its checks")
    return CONFIGURED[configured]


def last_word(fence: Fence, comments: Iterable[Comment], account: int) -> Mapping[str, object]:
    """Return the reason in the reviewer's status comment why this very commit is not merged; else empty.

    `account` is the one that claimed it: comments of any other account are ignored.
    """
    for comment in comments:
        mark = comment_signatures.find(comment.body.partition("\n")[0])
        ours = comment.number == fence.key.number and comment.author.id == account
        if not ours or mark is None or mark.name != MARK or mark.fields.get("kind") != Role.REVIEWER:
            continue
        try:
            data = status_record.read(comment.body)
        except ValueError:  # somebody has edited it
            continue
        waiting = data.get("waiting")
        if data.get("head") == fence.work_head and isinstance(waiting, Mapping):
            return waiting
    return {}


_AGENTS = {Role.PLANNER: Whom.PLANNER, Role.WORKER: Whom.WORKER, Role.REVIEWER: Whom.REVIEWER}

_ASKS = {Track.STORY: Role.PLANNER, Track.SPECIFICATION: Role.WORKER, Track.PULL_REQUEST: Role.REVIEWER}
"""Agents that carry out a person's decision, by track."""

_FOR_CI = frozenset({"ci", "red-base"})
"""Reasons of a fence's wait that end when CI says something else."""

_PUT_OFF: Mapping[str, Waiting] = {
    "red-head": Waiting(Whom.CI, "its checks are red"),
    "edited": Waiting(Whom.PERSON, "its issue was edited"),
    "stopped": Waiting(Whom.PERSON, "its issue was stopped"),
}
"""Reasons of a review that is put off: until the time in its fence it is not looked at, afterwards as good as never."""


@dataclass(frozen=True, slots=True)
class WaitingItem:
    """An item as it stands. `blockers` are open items that it depends on; `related` open ones block it on GitHub.

    `passed_over` is what a person has to do before any agent takes it, `merging` whom its merge waits for.
    """

    track: Track
    stage: Stage
    at: datetime
    fence: Fence | None = None
    held: bool = False
    flags: Collection[Flag] = ()
    blockers: Collection[int] = ()
    related: int = 0
    pull_request: int = 0
    passed_over: str = ""
    merging: Waiting = CONFIGURED["never"]
    ours: bool = True
    unasked: bool = False
    """True if the reviewer says that nobody has asked for a review of the newest commits."""
    decision: str = ""
    """A person's decision that no agent has read yet; empty without one."""


def waiting(s: WaitingItem) -> Waiting | None:
    """Return what the item waits for; None while an agent works on it."""
    asked = _waits_for_person(s)
    if asked is not None:
        return asked
    if s.passed_over and not s.held:
        return Waiting(Whom.PERSON, s.passed_over)
    if s.pull_request:
        return Waiting(Whom.ITEM, f"PR #{s.pull_request}")
    if s.unasked and not s.held:
        return Waiting(Whom.PERSON, "nobody has asked for a review of the newest commits")
    wait = s.fence.wait if s.fence is not None else None
    if wait is not None and wait.reason in _PUT_OFF and s.stage is Stage.IN_REVIEW and not s.held:
        return _PUT_OFF[wait.reason]
    if wait is not None and wait.until > s.at:
        return Waiting(Whom.CI if wait.reason in _FOR_CI else Whom.TIME, wait.reason, wait.until)
    if s.stage is Stage.TESTING:
        return Waiting(Whom.CI, "its checks")
    if s.held:
        return None
    return _waits_for_issues(s) or _next_party(s)


def _waits_for_issues(s: WaitingItem) -> Waiting | None:
    """For which other issues it waits, by its text or by GitHub's relationships."""
    if s.blockers:
        return Waiting(Whom.ITEM, ", ".join(f"#{number}" for number in sorted(s.blockers)))
    related = s.related and s.track is Track.SPECIFICATION
    return Waiting(Whom.ITEM, "what blocks it on GitHub") if related else None


def _waits_for_person(s: WaitingItem) -> Waiting | None:
    """Return the step of a person without which nothing goes on."""
    if Flag.PAUSED in s.flags:
        return Waiting(Whom.PERSON, "paused")
    if Flag.NEEDS_ANSWER in s.flags:
        return Waiting(Whom.PERSON, "questions to answer")
    if s.stage in HALTED:
        return Waiting(Whom.PERSON, next((_FLAGS[flag] for flag in s.flags if flag in _FLAGS), "it has failed"))
    if s.stage is Stage.AWAITING_APPROVAL and not s.decision:
        return Waiting(Whom.PERSON, "the plan" if s.track is Track.STORY else "the refactoring")
    if s.stage is Stage.WITHDRAWN:
        return Waiting(Whom.PERSON, "it was stopped")
    return None


_FLAGS: Mapping[Flag, str] = {
    Flag.SPEC_REVIEW_NEEDED: "its text to be corrected",
    Flag.BUDGET_EXCEEDED: "its budget is used up",
    Flag.PROBLEMATIC_TEST: "does it exist already?",
}


def _next_party(s: WaitingItem) -> Waiting:
    """Return the agent, or the person, that goes on with an item that nobody holds."""
    if s.stage is Stage.SPECIFIED:
        return Waiting(Whom.ITEM, "its specifications")
    if s.decision and (s.stage is not Stage.APPROVED or s.merging == CONFIGURED["approve"]):
        asks = _AGENTS[_ASKS[s.track]]
        return Waiting(asks, f"an idle {asks}: {s.decision}")
    if s.stage is Stage.APPROVED:
        return s.merging
    if s.stage is Stage.CHANGES_REQUESTED and not s.ours:
        return Waiting(Whom.PERSON, "its author")
    if s.stage is Stage.NEW and s.track is not Track.STORY:  # a flag alone begins nothing
        return Waiting(Whom.PERSON, "a status label")
    role = owner(s.track, s.stage) or Role.WORKER  # a `ready` specification: only its worker can begin it
    return Waiting(_AGENTS[role], f"an idle {_AGENTS[role]}")
