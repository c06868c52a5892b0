"""The cause of a red commit: the base, the machines, chance or the change itself (pure).

Evidence in this order: the base's own checks, GitHub's conclusion, the log and the annotations. A failure that names
nothing of this change may be chance, until the same commit is red again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from shared.models import Check, CheckOutcome


class Cause(StrEnum):
    """The cause of a check's failure."""

    BASE = "red on the base too"
    INFRASTRUCTURE = "infrastructure"
    FLAKY = "flaky"
    TESTS = "ours: tests"
    QUALITY = "ours: quality"


OURS = frozenset({Cause.TESTS, Cause.QUALITY})
"""Causes that a change of ours can repair."""

_WEIGHT = (Cause.TESTS, Cause.QUALITY, Cause.FLAKY, Cause.INFRASTRUCTURE, Cause.BASE)
"""Causes in order of precedence when checks fail for several reasons: the need for a repair comes before all others."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed check and its output: the failing step of its log or, without a log, summary and annotations."""

    check: Check
    output: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One failed check and the cause of its failure."""

    failure: Failure
    cause: Cause


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The cause of a red commit: the deciding one, and that of each check."""

    cause: Cause
    findings: tuple[Finding, ...]

    def of(self, *causes: Cause) -> tuple[Failure, ...]:
        """Return the failures with one of these causes."""
        return tuple(finding.failure for finding in self.findings if finding.cause in causes)


def triage(
    failures: Sequence[Failure], base: Iterable[Check] = (), *, touched: Collection[str] = (), again: bool = False
) -> Diagnosis:
    """Return the cause of a red commit with these `failures`.

    `base` are the checks of the base branch's tip, `touched` the paths that the change has. `again` is true if another
    run of this very commit is not possible any more: that rules out chance.
    """
    red = {check.name for check in base if check.outcome is CheckOutcome.FAILED}
    findings = tuple(Finding(one, _cause(one, red, touched, again)) for one in failures)
    causes = {finding.cause for finding in findings}
    return Diagnosis(next((cause for cause in _WEIGHT if cause in causes), Cause.TESTS), findings)


_MACHINES = frozenset({"cancelled", "timed_out", "startup_failure", "stale", "error"})
"""Conclusions of checks, and a state of commit statuses, that say nothing about the code."""

_MACHINE_TROUBLE = re.compile(
    r"lost communication with the server"
    r"|received a shutdown signal"
    r"|runner (?:has been )?(?:lost|evicted|terminated)"
    r"|no space left on device"
    r"|(?:failed|unable) to (?:download|resolve) action"
    r"|could not resolve host"
    r"|temporary failure in name resolution"
    r"|(?:connection (?:reset by peer|refused|timed out)|network is unreachable)"
    r"|\b(?:ETIMEDOUT|ECONNRESET|EAI_AGAIN)\b"
    r"|(?:502 bad gateway|503 service unavailable|504 gateway time-?out|429 too many requests)"
    r"|toomanyrequests|pull rate limit"
    r"|internal server error",
    re.IGNORECASE,
)
_TEST_FAILED = re.compile(
    r"^(?:FAILED|ERROR) (?P<pytest>[\w./-]+\.py)(?=::| |$)"
    r"|^--- FAIL: |^not ok \d+|^(?:FAIL|✕|×|✗) +(?P<script>[\w./-]+\.[cm]?[jt]sx?)?"
    r"|^(?:=+ )?\d+ (?:failed|failing)\b|^Tests: +\d+ failed|\bAssertionError\b|^error: test failed",
    re.MULTILINE,
)
_COMPLAINT = re.compile(
    r"^(?:error: )?(?P<path>[\w./-]+\.\w+):\d+(?::\d+)?: (?:error|warning|failure|note|[A-Z]+\d+|[a-z])"
    r"|^(?P<tsc>[\w./-]+\.[cm]?tsx?)[(:]\d+[,:]\d+\)?:? .*error TS\d+"
    r"|^Found \d+ errors?\b|^would reformat |^✖ \d+ problems?|^error\[E\d+\]|^All checks failed",
    re.MULTILINE,
)
_QUALITY_NAME = re.compile(
    r"\b(?:lint|ruff|flake8|mypy|pyright|types?|typecheck|format|fmt|style|eslint|tsc|clippy|vet|quality)\b"
)


def _cause(failure: Failure, red: Collection[str], touched: Collection[str], again: bool) -> Cause:
    if failure.check.name in red:
        return Cause.BASE
    if failure.check.conclusion in _MACHINES:
        return Cause.INFRASTRUCTURE
    ours = _own_cause(failure)
    if ours is None and _MACHINE_TROUBLE.search(failure.output):
        return Cause.INFRASTRUCTURE
    if again or ours is Cause.QUALITY:
        return ours or Cause.TESTS
    return Cause.TESTS if ours and _names(failure.output) & set(touched) else Cause.FLAKY


def _own_cause(failure: Failure) -> Cause | None:
    """Return whether the log complains about tests or only about code quality; None if it names neither."""
    if _TEST_FAILED.search(failure.output):
        return Cause.TESTS
    quality = _COMPLAINT.search(failure.output) or _QUALITY_NAME.search(failure.check.name.casefold())
    return Cause.QUALITY if quality else None


def _names(output: str) -> set[str]:
    """Return the paths of the files whose tests failed."""
    found = _TEST_FAILED.finditer(output)
    return {path for match in found for path in (match["pytest"], match["script"]) if path}
