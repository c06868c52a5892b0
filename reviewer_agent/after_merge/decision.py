"""Selection of the red checks that a merge caused: its commit's, compared with those of the commit before it (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from shared.ci.verdict import CiVerdict, failed, fold
from shared.lock.record import Fence
from shared.models import Check, CheckOutcome
from shared.workflow import Stage

WATCHED = timedelta(hours=1)
"""Time after a merge during which the checks of the new base are watched."""

FINISHED_WITHIN = timedelta(minutes=30)
"""Time after `WATCHED` in which an answer that was begun is still finished."""


def watched(fences: Sequence[Fence], now: datetime) -> tuple[Fence, ...]:
    """Return the fences of pull requests that were merged so recently that something may have to be done about them."""
    return tuple(one for one in fences if one.stage is Stage.DONE and now - one.at < WATCHED + FINISHED_WITHIN)


def caused_failures(before: Sequence[Check], merged: Sequence[Check], *, patient: bool) -> tuple[Check, ...]:
    """Return the failed checks of `merged` that passed on the commit `before`; also empty if that is not known yet.

    A check that `before` lacks counts if `before` was green without it. With `patient`, running checks are waited for,
    so that all failures are reported at once.
    """
    was = fold(before)
    red = [check for check in failed(merged) if _verdict_before(check, before, was) is not CiVerdict.NONE]
    unsure = any(_verdict_before(check, before, was) is CiVerdict.RUNNING for check in red)
    if patient and (unsure or any(check.outcome is CheckOutcome.RUNNING for check in merged)):
        return ()
    return tuple(check for check in red if _verdict_before(check, before, was) is CiVerdict.GREEN)


def _verdict_before(check: Check, before: Sequence[Check], whole: CiVerdict) -> CiVerdict:
    """Return the verdict of the check on the commit before; `NONE` if it was neither green nor running."""
    same = [one for one in before if one.name == check.name]
    found = fold(same) if same else whole
    return found if found in {CiVerdict.GREEN, CiVerdict.RUNNING} else CiVerdict.NONE
