"""The reason why an item waits: its stage, its fence and its flags -> for whom, why and until when (pure)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from console.status.merging import CONFIGURED
from console.status.row import Waiting, Whom
from shared.lock.record import Fence
from shared.workflow import HALTED, Role, Stage, Track, owner
from shared.workflow.labels import Flag

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
