"""The finding of a probe: one status, one sentence, and the next step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

AGAIN = "Try again; if it stays so, look at https://www.githubstatus.com, or ask who runs your GitHub server."


class Status(StrEnum):
    """Status of one subject."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor's table. `where` is a repository, or empty for this machine.

    A finding that does not pass has a next step, if only that nothing has to be done; one that passes has none: else
    ValueError.
    """

    status: Status
    subject: str
    sentence: str
    next_step: str
    where: str = ""
    passing: bool = False
    """It failed because GitHub did not answer: nothing is known to be wrong here."""

    def __post_init__(self) -> None:
        if (self.status is Status.PASS) is bool(self.next_step.strip()):
            raise ValueError(f"{self.subject}: {self.status} with the next step {self.next_step!r}")


def passed(subject: str, sentence: str, where: str = "") -> Finding:
    """All is well."""
    return Finding(Status.PASS, subject, sentence, "", where)


def warned(subject: str, sentence: str, next_step: str, where: str = "") -> Finding:
    """It works, but somebody should know."""
    return Finding(Status.WARN, subject, sentence, next_step, where)


def failed(subject: str, sentence: str, next_step: str, where: str = "") -> Finding:
    """The engine cannot work like this."""
    return Finding(Status.FAIL, subject, sentence, next_step, where)


def unanswered(subject: str, sentence: str, where: str = "") -> Finding:
    """GitHub did not answer, so it could not be tried."""
    return Finding(Status.FAIL, subject, sentence, AGAIN, where, passing=True)


def skipped(subject: str, sentence: str, next_step: str, where: str = "") -> Finding:
    """It was not tried, and why."""
    return Finding(Status.SKIP, subject, sentence, next_step, where)


def only_passing(findings: Iterable[Finding]) -> bool:
    """Return whether every failure was only GitHub that did not answer."""
    return all(finding.passing for finding in findings if finding.status is Status.FAIL)


def healthy(findings: Iterable[Finding]) -> bool:
    """Return whether nothing failed."""
    return all(finding.status is not Status.FAIL for finding in findings)
