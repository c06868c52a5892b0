"""The watch over the base's CI for an hour after each merge, found by the fences of merged pull requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from reviewer_agent.after_merge import merge_commit
from reviewer_agent.after_merge.answering import Answering
from reviewer_agent.after_merge.merge_commit import MergeCommit
from reviewer_agent.links import is_revert
from reviewer_agent.ports import Forge
from shared.ci.verdict import CiVerdict, failed, fold
from shared.errors import EngineError
from shared.git.mirror import Mirror
from shared.git.ports import Fences
from shared.lock.codec import FENCE_NAMESPACE
from shared.lock.fence import Fence, read_fences
from shared.models import Check, CheckOutcome
from shared.process import CommandFailed
from shared.workflow import Role, Stage

log = structlog.get_logger()

LOOK_SECONDS = 60.0
"""Seconds between two looks; a look that finds nothing changed is not charged."""

PREFIX = f"{FENCE_NAMESPACE}/{Role.REVIEWER}/"

WATCHED = timedelta(hours=1)
"""Time after a merge during which the checks of the new base are watched."""

FINISHED_WITHIN = timedelta(minutes=30)
"""Time after `WATCHED` in which an answer that was begun is still finished."""


@dataclass(frozen=True, slots=True)
class Sources:
    """The watch's sources and clocks; `patience` is how long checks that still run after a merge are waited for."""

    forge: Forge
    fences: Fences
    mirror: Mirror
    server_time: Callable[[], datetime]
    boot: Callable[[], float]
    patience: timedelta


class AfterMerge:
    """The merges of one repository within the last hour."""

    def __init__(self, sources: Sources, answering: Answering) -> None:
        self._sources = sources
        self._answering = answering
        self._next = float("-inf")
        self._merges: dict[int, MergeCommit] = {}
        self._over: dict[int, str] = {}
        """Pull request that needs no further look -> the commit of the fence that it had then."""

    async def look(self) -> None:
        """Look at each merge of the last hour if a look is due; a look that fails is retried at the next one.

        Raises `Transient` and `Blocked` if it cannot be read what was merged.
        """
        if self._sources.boot() < self._next:
            return
        self._next = self._sources.boot() + LOOK_SECONDS
        fences = read_fences(Role.REVIEWER, await self._sources.fences.read_all(PREFIX))
        now = self._sources.server_time()
        found = {fence.key.number: fence for fence in watched(fences, now)}
        self._over = {number: oid for number, oid in self._over.items() if number in found}
        self._merges = {number: merge for number, merge in self._merges.items() if number in found}
        for number, fence in found.items():
            if self._over.get(number) == fence.oid:
                continue
            try:
                if await self._is_over(fence, now):
                    self._over[number] = fence.oid
            except (EngineError, CommandFailed) as error:
                log.warning("merge_not_watched", outcome="retrying", pr=number, error=str(error))

    async def _is_over(self, fence: Fence, now: datetime) -> bool:
        """Return whether this merge needs no further look: its hour is over, it was answered, or it is a revert."""
        number, age = fence.key.number, now - fence.at
        if age >= WATCHED and not await self._answering.is_begun(number):
            return True
        merge = self._merges.get(number)
        if merge is None:
            pull_request = await self._sources.forge.pulls.pull_request(number)
            if is_revert(pull_request):
                return True
            merge = await merge_commit.find(self._sources.mirror, pull_request)
            if merge is None:
                return False
            self._merges[number] = merge
        checks = self._sources.forge.checks
        merged = await checks.of(merge.oid)
        before = await checks.of(merge.before) if merged else ()
        red = caused_failures(before, merged, patient=age < self._sources.patience)
        return bool(red) and await self._answering.answer(merge, red)


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
