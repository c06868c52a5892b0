"""The checks and statuses of one commit, reduced to one verdict (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum

from shared.models import Check, CheckOutcome


class CiVerdict(StrEnum):
    """The result of all checks and statuses of one commit."""

    NONE = "none"
    RUNNING = "running"
    GREEN = "green"
    RED = "red"
    UNKNOWN = "unknown"
    """A check ended without passing or failing: a person has to let it go on."""


def fold(checks: Iterable[Check], required: Collection[str] = ()) -> CiVerdict:
    """Return the verdict: one failed check is red at once; no checks at all is `NONE`, which is not green.

    A required check that nobody has reported yet counts as running: GitHub expects it. So do stale checks, if no other
    check has passed.
    """
    found = tuple(checks)
    outcomes = {check.outcome for check in found}
    if CheckOutcome.FAILED in outcomes:
        return CiVerdict.RED
    if CheckOutcome.RUNNING in outcomes:
        return CiVerdict.RUNNING
    if CheckOutcome.UNKNOWN in outcomes:
        return CiVerdict.UNKNOWN
    if missing(found, required):
        return CiVerdict.RUNNING
    if required or CheckOutcome.PASSED in outcomes:
        return CiVerdict.GREEN
    return CiVerdict.RUNNING if CheckOutcome.STALE in outcomes else CiVerdict.NONE


def missing(checks: Iterable[Check], required: Collection[str]) -> tuple[str, ...]:
    """Return the names of the required checks that nobody has reported, or that went stale."""
    reported = {check.name for check in checks if check.outcome not in {CheckOutcome.STALE, CheckOutcome.SUPERSEDED}}
    return tuple(sorted(set(required) - reported))


def failed(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return the failed checks, sorted by name."""
    return tuple(sorted((c for c in checks if c.outcome is CheckOutcome.FAILED), key=lambda c: c.name))


def unfinished(checks: Sequence[Check], required: Collection[str] = ()) -> tuple[str, ...]:
    """Return the names of checks that a commit, if not red, waits for: running, held by a person, or unreported."""
    waiting = {c.name for c in checks if c.outcome in {CheckOutcome.RUNNING, CheckOutcome.UNKNOWN}}
    found = waiting | set(missing(checks, required))
    return tuple(sorted(found or {c.name for c in checks if c.outcome is CheckOutcome.STALE}))


def is_green(verdict: CiVerdict, *, none_is_green: bool) -> bool:
    """Return whether a commit may be merged, and handed over without a warning; this is green for both agents."""
    return verdict is CiVerdict.GREEN or (none_is_green and verdict is CiVerdict.NONE)
