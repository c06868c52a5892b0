"""Which red checks a merge has brought: those of its commit, beside those of the commit before it (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from shared.ci.verdict import CiVerdict, failed, fold
from shared.lock.record import Fence
from shared.models import Check, CheckOutcome
from shared.workflow import Stage

WATCHED = timedelta(hours=1)
"""So long after a merge the checks of what it made of the base are looked at."""

FINISHED_WITHIN = timedelta(minutes=30)
"""An answer that was begun within that hour is still finished for so long."""


def watched(fences: Sequence[Fence], now: datetime) -> tuple[Fence, ...]:
    """The fences of pull requests that were merged so lately that something may have to be done about them."""
    return tuple(one for one in fences if one.stage is Stage.DONE and now - one.at < WATCHED + FINISHED_WITHIN)


def ours(before: Sequence[Check], merged: Sequence[Check], *, patient: bool) -> tuple[Check, ...]:
    """The failed checks of `merged` that passed on the commit `before` it; empty too where nobody can tell yet.

    A check that `before` lacks counts where `before` was green without it. `patient`: what still runs is waited for,
    so that all that fails is told at once.
    """
    was = fold(before)
    red = [check for check in failed(merged) if _was(check, before, was) is not CiVerdict.NONE]
    unsure = any(_was(check, before, was) is CiVerdict.RUNNING for check in red)
    if patient and (unsure or any(check.outcome is CheckOutcome.RUNNING for check in merged)):
        return ()
    return tuple(check for check in red if _was(check, before, was) is CiVerdict.GREEN)


def _was(check: Check, before: Sequence[Check], whole: CiVerdict) -> CiVerdict:
    """How the check stood before; `NONE` where it was not green."""
    same = [one for one in before if one.name == check.name]
    found = fold(same) if same else whole
    return found if found in {CiVerdict.GREEN, CiVerdict.RUNNING} else CiVerdict.NONE
