"""The stages, the moves between them and the roles that make them: the only place a stage is defined.

`TRANSITIONS` is the only source; the diagrams in README and docs are printed from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from shared.errors import Blocked


class Track(StrEnum):
    """The kind of item that moves."""

    STORY = "story"
    SPECIFICATION = "specification"
    PULL_REQUEST = "pull_request"


class Role(StrEnum):
    """The maker of a move. Agents are planner, worker and reviewer."""

    PLANNER = "planner"
    WORKER = "worker"
    REVIEWER = "reviewer"
    PERSON = "person"
    GITHUB = "github"


TRACKS = {Role.PLANNER: Track.STORY, Role.WORKER: Track.SPECIFICATION, Role.REVIEWER: Track.PULL_REQUEST}
"""The track of the items that each kind of agent locks."""

AGENTS = frozenset(TRACKS)


class Stage(StrEnum):
    """The stage of an item. The value is the label without its prefix."""

    NEW = "new"
    PLANNING = "planning"
    AWAITING_APPROVAL = "awaiting-approval"
    SPECIFIED = "specified"
    READY = "ready"
    IMPLEMENTING = "implementing"
    TESTING = "testing"
    REVIEWING = "reviewing"
    IN_REVIEW = "in-review"
    APPROVED = "approved"
    CHANGES_REQUESTED = "changes-requested"
    CI_FAILED = "ci-failed"
    FAILED = "failed"
    DONE = "done"
    WITHDRAWN = "withdrawn"


UNLABELLED = frozenset({Stage.NEW, Stage.DONE, Stage.WITHDRAWN})
"""Stages that no label shows: not started, closed, stopped by a person."""

TERMINAL = frozenset({Stage.DONE, Stage.WITHDRAWN})

HALTED = frozenset({Stage.CI_FAILED, Stage.FAILED})
"""Stages that only a person can leave."""


class Event(StrEnum):
    """The event that causes a move, in the past tense."""

    CREATED = "created"
    CLAIMED = "claimed"
    PLAN_POSTED = "plan posted"
    QUESTIONS_ASKED = "questions asked"
    ANSWERED = "answered"
    REJECTED = "rejected"
    EDITED = "edited"
    SPECIFICATIONS_CREATED = "specifications created"
    SPECIFICATIONS_CLOSED = "specifications closed"
    TESTS_PASSED = "tests passed"
    APPROVAL_NEEDED = "approval needed"
    CONFIRMED = "confirmed"
    CI_PASSED = "CI passed"
    CI_OVERDUE = "CI overdue"
    CI_BROKE = "CI red"
    CI_GIVEN_UP = "CI given up"
    BASE_MOVED = "base moved"
    APPROVED = "approved"
    CHANGES_REQUESTED = "changes requested"
    HEAD_MOVED = "head moved"
    MERGED = "merged"
    GAVE_UP = "gave up"
    RETRIED = "retried"
    RETRIED_PULL_REQUEST = "retried, pull request open"
    REVIEW_RETRIED = "review retried"
    WITHDREW = "withdrew"


@dataclass(frozen=True, slots=True)
class Move:
    """The stage to which an event leads, and the role that causes it."""

    to: Stage
    by: Role


class IllegalMove(Blocked):
    """This event cannot happen in this stage."""

    def __init__(self, track: Track, stage: Stage, event: Event) -> None:
        super().__init__(f"A {track} at '{stage}' has no move for '{event}'.")
        self.track, self.stage, self.event = track, stage, event


def _story() -> Iterator[tuple[Stage, Event, Stage, Role]]:
    planner, person = Role.PLANNER, Role.PERSON
    yield Stage.NEW, Event.CLAIMED, Stage.PLANNING, planner
    yield Stage.PLANNING, Event.PLAN_POSTED, Stage.AWAITING_APPROVAL, planner
    yield Stage.PLANNING, Event.QUESTIONS_ASKED, Stage.AWAITING_APPROVAL, planner
    yield Stage.PLANNING, Event.SPECIFICATIONS_CREATED, Stage.SPECIFIED, planner
    yield Stage.PLANNING, Event.GAVE_UP, Stage.FAILED, planner
    yield Stage.AWAITING_APPROVAL, Event.SPECIFICATIONS_CREATED, Stage.SPECIFIED, planner
    yield Stage.AWAITING_APPROVAL, Event.ANSWERED, Stage.PLANNING, planner
    yield Stage.AWAITING_APPROVAL, Event.REJECTED, Stage.PLANNING, planner
    yield Stage.AWAITING_APPROVAL, Event.EDITED, Stage.PLANNING, planner
    yield Stage.AWAITING_APPROVAL, Event.GAVE_UP, Stage.FAILED, planner
    yield Stage.SPECIFIED, Event.SPECIFICATIONS_CLOSED, Stage.DONE, planner
    yield Stage.FAILED, Event.RETRIED, Stage.PLANNING, person


def _specification() -> Iterator[tuple[Stage, Event, Stage, Role]]:
    worker, person = Role.WORKER, Role.PERSON
    yield Stage.NEW, Event.CREATED, Stage.READY, Role.PLANNER
    yield Stage.READY, Event.CLAIMED, Stage.IMPLEMENTING, worker
    yield from _building(Stage.REVIEWING)
    yield Stage.IMPLEMENTING, Event.APPROVAL_NEEDED, Stage.AWAITING_APPROVAL, worker
    yield Stage.AWAITING_APPROVAL, Event.CONFIRMED, Stage.TESTING, worker
    yield Stage.REVIEWING, Event.MERGED, Stage.DONE, Role.GITHUB
    yield Stage.TESTING, Event.MERGED, Stage.DONE, Role.GITHUB
    yield Stage.REVIEWING, Event.CI_GIVEN_UP, Stage.CI_FAILED, worker
    yield Stage.REVIEWING, Event.GAVE_UP, Stage.FAILED, worker
    for halted in sorted(HALTED):
        yield halted, Event.RETRIED, Stage.READY, person
        yield halted, Event.RETRIED_PULL_REQUEST, Stage.REVIEWING, person


def _pull_request() -> Iterator[tuple[Stage, Event, Stage, Role]]:
    worker, reviewer, person = Role.WORKER, Role.REVIEWER, Role.PERSON
    yield Stage.NEW, Event.CI_PASSED, Stage.REVIEWING, worker
    yield Stage.NEW, Event.CI_OVERDUE, Stage.REVIEWING, worker
    yield Stage.NEW, Event.CI_GIVEN_UP, Stage.CI_FAILED, worker
    yield Stage.NEW, Event.GAVE_UP, Stage.FAILED, worker
    yield Stage.REVIEWING, Event.CLAIMED, Stage.IN_REVIEW, reviewer
    yield Stage.IN_REVIEW, Event.APPROVED, Stage.APPROVED, reviewer
    yield Stage.IN_REVIEW, Event.CHANGES_REQUESTED, Stage.CHANGES_REQUESTED, reviewer
    yield Stage.IN_REVIEW, Event.CI_BROKE, Stage.CHANGES_REQUESTED, reviewer
    yield Stage.IN_REVIEW, Event.BASE_MOVED, Stage.CHANGES_REQUESTED, reviewer
    yield Stage.IN_REVIEW, Event.HEAD_MOVED, Stage.REVIEWING, reviewer
    yield Stage.IN_REVIEW, Event.GAVE_UP, Stage.FAILED, reviewer
    yield Stage.APPROVED, Event.HEAD_MOVED, Stage.REVIEWING, reviewer
    yield Stage.APPROVED, Event.MERGED, Stage.DONE, reviewer
    yield Stage.APPROVED, Event.GAVE_UP, Stage.FAILED, reviewer
    yield Stage.APPROVED, Event.CI_BROKE, Stage.CHANGES_REQUESTED, reviewer
    yield Stage.APPROVED, Event.BASE_MOVED, Stage.CHANGES_REQUESTED, reviewer
    yield Stage.APPROVED, Event.CHANGES_REQUESTED, Stage.CHANGES_REQUESTED, person
    yield Stage.CHANGES_REQUESTED, Event.CLAIMED, Stage.IMPLEMENTING, worker
    yield Stage.TESTING, Event.CHANGES_REQUESTED, Stage.IMPLEMENTING, worker
    yield from _building(Stage.REVIEWING)
    for halted in sorted(HALTED):
        yield halted, Event.RETRIED, Stage.CHANGES_REQUESTED, person
    yield Stage.FAILED, Event.REVIEW_RETRIED, Stage.REVIEWING, person
    for stage in (Stage.REVIEWING, Stage.IN_REVIEW, Stage.CHANGES_REQUESTED, Stage.TESTING, *sorted(HALTED)):
        yield stage, Event.MERGED, Stage.DONE, person


def _building(handed_to: Stage) -> Iterator[tuple[Stage, Event, Stage, Role]]:
    """Yield the worker's moves between code and CI, the same for an issue and a fix round.

    The engine's own tests run at `implementing`: a failure there is tried again without a move, and costs no label.
    """
    worker = Role.WORKER
    yield Stage.IMPLEMENTING, Event.TESTS_PASSED, Stage.TESTING, worker
    yield Stage.TESTING, Event.CI_BROKE, Stage.IMPLEMENTING, worker
    yield Stage.TESTING, Event.CI_PASSED, handed_to, worker
    yield Stage.TESTING, Event.CI_OVERDUE, handed_to, worker
    yield Stage.TESTING, Event.CI_GIVEN_UP, Stage.CI_FAILED, worker
    yield Stage.TESTING, Event.GAVE_UP, Stage.FAILED, worker
    yield Stage.IMPLEMENTING, Event.GAVE_UP, Stage.FAILED, worker


def _table() -> dict[tuple[Track, Stage, Event], Move]:
    rows = ((Track.STORY, _story()), (Track.SPECIFICATION, _specification()), (Track.PULL_REQUEST, _pull_request()))
    table: dict[tuple[Track, Stage, Event], Move] = {}
    for track, moves in rows:
        for stage, event, to, by in moves:
            if (track, stage, event) in table:
                raise AssertionError(f"two rows for {track}, {stage}, {event}")
            table[track, stage, event] = Move(to, by)
        for stage in {stage for tr, stage, _ in tuple(table) if tr is track}:
            table[track, stage, Event.WITHDREW] = Move(Stage.WITHDRAWN, Role.PERSON)
    return table


TRANSITIONS: dict[tuple[Track, Stage, Event], Move] = _table()
"""Every allowed move; a pair that is not listed is refused by `move`."""


def move(track: Track, stage: Stage, event: Event) -> Move:
    """Return the move that `event` makes from `stage`; raise `IllegalMove` if the table has no such row."""
    found = TRANSITIONS.get((track, stage, event))
    if found is None:
        raise IllegalMove(track, stage, event)
    return found


HANDED_OVER: Mapping[Role, frozenset[Stage]] = {
    Role.PLANNER: frozenset({Stage.SPECIFIED}),
    Role.WORKER: frozenset({Stage.REVIEWING}),
    Role.REVIEWER: frozenset({Stage.CHANGES_REQUESTED}),
}
"""Stages that the next kind of agent leaves: the agent that has reached one has only texts and labels left to write."""


def works_at(kind: Role, stage: Stage) -> bool:
    """Return whether an agent of this kind may have more to do: not if handed over, ended, or waiting for a person."""
    return stage not in TERMINAL | HALTED | HANDED_OVER[kind]


def owner(track: Track, stage: Stage) -> Role | None:
    """Return the one agent that works on items in `stage`; None if only a person or GitHub makes the next move."""
    owners = {m.by for (t, s, _), m in TRANSITIONS.items() if t is track and s is stage and m.by in AGENTS}
    if len(owners) > 1:
        raise AssertionError(f"{track} at {stage} has owners {sorted(owners)}")
    return next(iter(owners), None)


def stages(track: Track) -> tuple[Stage, ...]:
    """Return the stages of one track, in the order in which they are defined."""
    used = {s for t, s, _ in TRANSITIONS if t is track} | {m.to for (t, _, _), m in TRANSITIONS.items() if t is track}
    return tuple(s for s in Stage if s in used)
