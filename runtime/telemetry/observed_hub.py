"""GitHub's adapters with eyes: labels that were changed, reviews that were submitted, what CI says anew."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shared.ci.verdict import Verdict, failed, fold
from shared.github.checks import Checks
from shared.github.client import GitHub
from shared.github.labels import LabelBoard
from shared.github.reviews import Reviews
from shared.lock.hold import Held
from shared.lock.write_permit import WritePermit
from shared.models import Check, Finding, Review, ReviewState
from shared.telemetry.event_recorder import EventRecorder
from shared.telemetry.events import Kind
from shared.workflow.labels import Labels

MOST_COMMITS = 1024
"""Commits of which the last verdict is remembered."""


class ObservedLabels(LabelBoard):
    """Tells each change that it made."""

    def __init__(self, github: GitHub, repository: str, names: Labels, event_recorder: EventRecorder) -> None:
        super().__init__(github, repository, names)
        self._scribe = event_recorder

    async def add(self, number: int, names: Collection[str], permit: WritePermit) -> frozenset[str]:
        """Add labels in one request; return all labels of the item."""
        there = await super().add(number, names, permit)
        self._scribe.tell(Kind.LABEL, number=number, change="added", labels=sorted(names))
        return there

    async def remove(self, number: int, name: str, permit: WritePermit) -> None:
        """Remove a label; one that is not there is fine."""
        await super().remove(number, name, permit)
        self._scribe.tell(Kind.LABEL, number=number, change="removed", labels=[name])


class ObservedReviews(Reviews):
    """Tells each review that it submitted."""

    def __init__(self, github: GitHub, repository: str, event_recorder: EventRecorder) -> None:
        super().__init__(github, repository)
        self._scribe = event_recorder

    async def submit(
        self, number: int, sha: str, state: ReviewState, body: str, findings: Sequence[Finding], held: Held
    ) -> Review:
        """Submit one review; `shown` is what GitHub made of it."""
        review = await super().submit(number, sha, state, body, findings, held)
        self._scribe.tell(
            Kind.REVIEW, verdict=state.lower(), shown=review.state.lower(), commit=sha, findings=len(findings)
        )
        return review


class ObservedChecks(Checks):
    """Tells what CI says of a commit, each time that it says something else."""

    def __init__(self, github: GitHub, repository: str, event_recorder: EventRecorder) -> None:
        super().__init__(github, repository)
        self._scribe = event_recorder
        self._said: dict[str, Verdict] = {}

    async def of(self, sha: str) -> tuple[Check, ...]:
        """The newest run of each check and the newest status of each context."""
        found = await super().of(sha)
        verdict = fold(found)
        if self._said.get(sha) is not verdict:
            while len(self._said) >= MOST_COMMITS:
                self._said.pop(next(iter(self._said)))
            self._said[sha] = verdict
            red = [check.name for check in failed(found)]
            self._scribe.tell(Kind.CI, verdict=verdict, commit=sha, checks=len(found), failed=red or None)
        return found
