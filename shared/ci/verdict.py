"""What GitHub says of one SHA, folded to one verdict (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from shared.models import Check, CheckOutcome


class Verdict(StrEnum):
    """All checks and statuses of one commit in one word."""

    NONE = "none"
    RUNNING = "running"
    GREEN = "green"
    RED = "red"


def fold(checks: Iterable[Check]) -> Verdict:
    """One failed check is red at once; no checks at all is `NONE`, which is not green."""
    outcomes = {check.outcome for check in checks}
    if CheckOutcome.FAILED in outcomes:
        return Verdict.RED
    if CheckOutcome.RUNNING in outcomes:
        return Verdict.RUNNING
    return Verdict.GREEN if CheckOutcome.PASSED in outcomes else Verdict.NONE


def failed(checks: Iterable[Check]) -> tuple[Check, ...]:
    """The checks that failed, by name."""
    return tuple(sorted((c for c in checks if c.outcome is CheckOutcome.FAILED), key=lambda c: c.name))
