"""The worker's reactions to a red CI that the change did not cause: run the jobs again, or wait for the base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import structlog

from shared.ci.ci_round import Rerun
from shared.errors import Blocked, Transient, UnknownOutcome
from shared.github.ports import Checks, StatusComments
from shared.lock.fence import FenceChange, Wait
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.models import Check
from shared.scheduling.agent_contract import Ended, Rest, Result
from worker_agent.ci import ci_comments
from worker_agent.ci.ci_reader import PARK_SECONDS, rerun_forgotten, rerun_noted
from worker_agent.decide import RED_BASE, NextStep, Snapshot

log = structlog.get_logger()


class CiReactions:
    """Reruns and waits; none of them spends an attempt."""

    def __init__(self, checks: Checks, status: StatusComments) -> None:
        self._checks = checks
        self._status = status

    async def rerun(self, held: Held, seen: Snapshot) -> Rest:
        """Rerun the failed jobs of this commit once; that is recorded first, so that a crash does not rerun them twice.

        A refusal (the token lacks `actions: write`, the run is too old) is recorded and posted; the next look goes on
        without those jobs.
        """
        jobs = [finding.failure.check for finding in (seen.ci.diagnosis.findings if seen.ci.diagnosis else ())]
        mark = Rerun.of(jobs)
        await advance(held, FenceChange(phase=str(mark), more=rerun_noted(held.fence)))
        refusals = await self._request_reruns(held, jobs)
        partly = any(job.run_id not in refusals for job in jobs if job.run_id is not None)
        if refusals:
            only = frozenset(refusals) if partly else frozenset[int]()
            await advance(held, FenceChange(phase=str(replace(mark, refused=True, only=only))))
        log.info("ci_rerun", outcome="retrying" if partly else "skipped", checks=[job.name for job in jobs])
        told = ci_comments.rerun(held.fence, seen.ci, next(iter(refusals.values()), ""), partly=partly)
        await self._status.show(held.fence.key.number, told, held)
        return Rest("ci")

    async def _request_reruns(self, held: Held, jobs: Sequence[Check]) -> dict[int, str]:
        """Request a rerun of every workflow run with failed jobs; return the reason for each that was refused."""
        runs = sorted({job.run_id for job in jobs if job.run_id is not None})
        refusals: dict[int, str] = {}
        for run in runs:
            try:
                await self._checks.rerun(run, held)
            except Blocked as error:
                refusals[run] = str(error)
            except UnknownOutcome:
                raise
            except Transient:  # nothing was sent: the next look asks again
                await advance(held, FenceChange(phase=NextStep.CI, more=rerun_forgotten(held.fence)))
                raise
        return refusals

    async def park_for_base(self, held: Held, seen: Snapshot) -> Ended:
        """Release the item until the base passes the checks that it fails as well, and post that once."""
        first = held.fence.phase != RED_BASE
        until = held.server_now() + timedelta(seconds=PARK_SECONDS)
        await advance(held, FenceChange(phase=RED_BASE, wait=Wait(RED_BASE, until)))
        if first:
            await self._status.show(held.fence.key.number, ci_comments.base_red(held.fence, seen.ci), held)
        return Ended(Result.PARKED, "the checks of the base branch are red as well")
