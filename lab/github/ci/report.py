"""How a job of the lab's CI tells GitHub what comes of it: as a check run, or as a commit status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lab.github.ci.behaviours import CiBehaviour
from lab.github.world.checks import AnnotationRecord, Checks

OUTSIDE = "external-ci"
"""The account that sets commit statuses: such a CI is not GitHub's own."""

_STATES = {"success": "success", "neutral": "success", "skipped": "success", "failure": "failure"}
"""What a conclusion is called as the state of a commit status; everything else is an `error`."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended: GitHub's word, a summary, its last words, what its command printed."""

    conclusion: str
    summary: str
    says: str
    output: str


class Report(Protocol):
    """Queued when it is made; `attempt` counts the runs of this job on this commit, from 1."""

    attempt: int

    def begin(self) -> None:
        """The job runs."""

    def finish(self, outcome: Outcome, log: str | None, remarks: Sequence[AnnotationRecord], mood: CiBehaviour) -> None:
        """The job has ended."""


class CheckReport:
    """A check run, which is a job of GitHub Actions."""

    def __init__(self, checks: Checks, sha: str, name: str, branch: str) -> None:
        self._checks = checks
        self.attempt = 1 + sum(check.name == name for check in checks.of(sha, latest=False))
        self._id = checks.start(sha, name, branch).id
        checks.checks.change(self._id, status="queued")

    def begin(self) -> None:
        """The job runs."""
        self._checks.checks.change(self._id, status="in_progress")

    def finish(self, outcome: Outcome, log: str | None, remarks: Sequence[AnnotationRecord], mood: CiBehaviour) -> None:
        """The job has ended."""
        check = self._checks.checks.change(self._id, log_gone=mood.log_gone, log_filler=mood.log_bytes)
        self._checks.finish(check, outcome.conclusion, outcome.summary, log, remarks)


class StatusReport:
    """A commit status, set by a CI outside GitHub: it has no log and no annotations there."""

    def __init__(self, checks: Checks, sha: str, context: str) -> None:
        self._checks, self._sha, self._context = checks, sha, context
        known = checks.statuses.values()
        self.attempt = 1 + sum((one.sha, one.context, one.state) == (sha, context, "pending") for one in known)
        self._say("pending", "Queued")

    def begin(self) -> None:
        """A status knows only that it is pending."""

    def finish(self, outcome: Outcome, log: str | None, remarks: Sequence[AnnotationRecord], mood: CiBehaviour) -> None:
        """The job has ended."""
        self._say(_STATES.get(outcome.conclusion, "error"), outcome.summary)

    def _say(self, state: str, description: str) -> None:
        self._checks.say(self._sha, self._context, state, description=description, creator=OUTSIDE)
