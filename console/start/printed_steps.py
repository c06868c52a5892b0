"""Sentences of `start` about findings, and the error with which it stops."""

from __future__ import annotations

from collections.abc import Iterable

from console.doctor.finding import Finding, Status, only_passing
from console.doctor.report import line
from shared.errors import EngineError, NotAllowed, Transient

SHOWN = frozenset({Status.WARN, Status.FAIL})


class NotReady(NotAllowed):
    """Something is missing that only the person can give: what was done stays, and the same command goes on."""


def steps_text(findings: Iterable[Finding]) -> str:
    """Return each problem with its next step, one line each."""
    return "\n".join(line(finding) for finding in findings if finding.status in SHOWN)


def failures(findings: Iterable[Finding]) -> str:
    """The same, without warnings."""
    return steps_text(finding for finding in findings if finding.status is Status.FAIL)


def refusal(findings: list[Finding]) -> EngineError:
    """Return the error that stops the start: missing credentials and the like, or a GitHub that does not answer."""
    sentence = f"{failures(findings)}\nDo what stands behind the arrows, and start again: what was done stays."
    return Transient(sentence) if only_passing(findings) else NotReady(sentence)
