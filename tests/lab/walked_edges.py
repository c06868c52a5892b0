"""The edges of the state machine that a test has walked, read from the embedded GitHub's events of each thread."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine import ENGINE, REVIEWER

from lab.github.world.issues import EventRecord
from lab.github.world.repository import RepositoryRecord
from shared.workflow import TRANSITIONS, UNLABELLED, Event, Stage, Track
from shared.workflow.labels import Labels

Edge = tuple[Track, Stage, Event]
Step = tuple[Track, Stage, Stage]
"""One item's move from one stage to another; which event it was is not on the labels."""

NAMES = Labels()
ENGINES = frozenset({ENGINE, REVIEWER})
_STAGES = {NAMES.of(stage).casefold(): stage for stage in Stage if stage not in UNLABELLED}


def edge(text: str) -> Edge:
    """Return an edge as marks name it: `story: planning, plan posted`."""
    track, _, rest = text.partition(": ")
    stage, _, event = rest.partition(", ")
    return Track(track), Stage(stage), Event(event)


def step_of(walked: Edge) -> Step:
    """Return the step of an edge: its track and both stages, by the table."""
    track, stage, _ = walked
    return track, stage, TRANSITIONS[walked].to


def steps(repository: RepositoryRecord) -> set[Step]:
    """Return every move of every thread of a repository."""
    events: dict[int, list[EventRecord]] = {}
    for one in repository.issues.events:
        events.setdefault(one.number, []).append(one)
    found: set[Step] = set()
    for thread in repository.issues.records.values():
        history = events.get(thread.number, [])
        track = _track(thread.is_pull, history)
        pull = repository.pulls.records.get(thread.number) if thread.is_pull else None
        merged = pull is not None and pull.merged_at is not None
        found |= {(track, old, new) for old, new in _moves(history, merged=merged)}
        if merged and (track, Stage.IN_REVIEW, Stage.DONE) in found and _is_approved(repository, thread.number):
            found |= {(track, Stage.IN_REVIEW, Stage.APPROVED), (track, Stage.APPROVED, Stage.DONE)}
    return found


def _is_approved(repository: RepositoryRecord, number: int) -> bool:
    """Return whether our review approves a pull request: one merged in the same step shows no label in between."""
    reviews = repository.pulls.reviews_of(number)
    return any(one.state == "APPROVED" and one.author in ENGINES for one in reviews)


def _track(is_pull: bool, history: Iterable[EventRecord]) -> Track:
    """Return the track of a thread."""
    labels = {one.detail["name"].casefold() for one in history if one.event == "labeled"}
    if is_pull:
        return Track.PULL_REQUEST
    return Track.STORY if NAMES.story.casefold() in labels else Track.SPECIFICATION


def _moves(history: Sequence[EventRecord], *, merged: bool) -> Iterable[tuple[Stage, Stage]]:
    """Yield moves from label to label; a closing is the end of one, a label that is only removed is a person's stop."""
    shown: list[Stage] = []
    last = Stage.NEW
    for one in history:
        stage = _STAGES.get(one.detail.get("name", "").casefold())
        if one.event == "labeled" and stage is not None:
            if stage is not last:
                yield last, stage
            shown, last = [*(other for other in shown if other is not stage), stage], stage
        elif one.event == "unlabeled" and stage is not None:
            shown = [other for other in shown if other is not stage]
            last = shown[-1] if shown else last
        elif one.event == "closed":
            done = merged or "commit_id" in one.detail or one.actor in ENGINES
            yield last, Stage.DONE if done else Stage.WITHDRAWN
    if last is not Stage.NEW and not shown:
        yield last, Stage.WITHDRAWN


def check(repository: RepositoryRecord, claimed: Iterable[str]) -> None:
    """Fail a test that says it walks an edge, and does not."""
    walked = steps(repository)
    assert [one for one in claimed if step_of(edge(one)) not in walked] == [], f"walked: {sorted(walked)}"
