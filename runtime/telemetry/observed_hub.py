"""Emits events of what the GitHub adapters change and see: labels, reviews, and what CI says anew."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shared.ci.verdict import CiVerdict, failed, fold, unfinished
from shared.github.checks import Checks
from shared.github.client import GitHub
from shared.github.item_changes import ItemChange, Names
from shared.github.label_board import LabelBoard
from shared.github.reviews import Reviews
from shared.lock.hold import Held
from shared.lock.write_permit import WritePermit
from shared.models import Check, Finding, Review, ReviewState
from shared.newest import Newest
from shared.telemetry.event_recorder import EventRecorder
from shared.telemetry.events import EventKind
from shared.workflow.labels import Labels

MOST_COMMITS = 1024
"""Maximum number of commits whose last verdict is remembered."""


class ObservedLabels(LabelBoard):
    """Records an event for each change of labels that it made."""

    def __init__(self, github: GitHub, repository: str, names: Labels, event_recorder: EventRecorder) -> None:
        super().__init__(github, repository, names)
        self._recorder = event_recorder

    async def at_once(
        self, changes: Sequence[ItemChange], permit: WritePermit
    ) -> tuple[tuple[Names, Names], ...] | None:
        """Make all of them in one request; return None if REST has to do it."""
        made = await super().at_once(changes, permit)
        for one in changes if made is not None else ():
            self._tell(one.number, "added", one.on)
            self._tell(one.number, "removed", one.off)
        return made

    async def add(self, number: int, names: Collection[str], permit: WritePermit) -> Names:
        """Add labels in one request; return all labels of the item."""
        there = await super().add(number, names, permit)
        self._tell(number, "added", names)
        return there

    async def remove(self, number: int, name: str, permit: WritePermit) -> None:
        """Remove a label; one that is not there is fine."""
        await super().remove(number, name, permit)
        self._tell(number, "removed", [name])

    def _tell(self, number: int, change: str, names: Collection[str]) -> None:
        if names:
            self._recorder.tell(EventKind.LABEL, number=number, change=change, labels=sorted(names))


class ObservedReviews(Reviews):
    """Records an event for each review that it submitted."""

    def __init__(self, github: GitHub, repository: str, event_recorder: EventRecorder) -> None:
        super().__init__(github, repository)
        self._recorder = event_recorder

    async def submit(
        self, number: int, sha: str, state: ReviewState, body: str, findings: Sequence[Finding], held: Held
    ) -> Review:
        """Submit one review; `shown` in the event is the state that GitHub gave it."""
        review = await super().submit(number, sha, state, body, findings, held)
        self._recorder.tell(
            EventKind.REVIEW, verdict=state.lower(), shown=review.state.lower(), commit=sha, findings=len(findings)
        )
        return review


class ObservedChecks(Checks):
    """Records an event for what CI says of a commit, each time that it says something else."""

    def __init__(self, github: GitHub, repository: str, event_recorder: EventRecorder) -> None:
        super().__init__(github, repository)
        self._recorder = event_recorder
        self._said: Newest[str, CiVerdict] = Newest(MOST_COMMITS)

    async def of(self, sha: str) -> tuple[Check, ...]:
        """Return the newest run of each check and the newest status of each context."""
        found = await super().of(sha)
        verdict = fold(found)
        if self._said.get(sha) is not verdict:
            self._said[sha] = verdict
            red = [check.name for check in failed(found)]
            awaited = unfinished(found) if verdict is CiVerdict.RUNNING else ()
            self._recorder.tell(
                EventKind.CI,
                verdict=verdict,
                commit=sha,
                checks=len(found),
                failed=red or None,
                unfinished=awaited or None,
            )
        return found
