"""Changes to a pull request that is open already: CI repairs and answers to a review."""

from __future__ import annotations

from collections.abc import Sequence

from shared.git.notes import Note, Phase
from shared.llm.port import Call
from shared.lock.hold import Held
from shared.models import Check, CheckOutcome, Issue, Review, ReviewComment, ReviewState
from shared.prompts import Untrusted
from shared.text import excerpt, printable
from shared.workflow import Event, Stage, Track, move
from worker_agent import decide
from worker_agent.aborts import CycleAborted
from worker_agent.ports import Forge
from worker_agent.tdd.judge import judge_kept
from worker_agent.tdd.old_tests import changes_by_file
from worker_agent.tdd.verdict import ErrorType
from worker_agent.workshop import Job, Turn, Workshop
from worker_agent.worksite import Phased, texts

LOG_BYTES = 12_000
"""How much of the failing jobs' logs a prompt quotes, tail first."""

TRIES = 3
"""How often one repair is asked for again when its result breaks tests."""


class Repairs:
    """One more change on top of a green commit; every test that passed there must still pass."""

    def __init__(self, workshop: Workshop, forge: Forge) -> None:
        self._workshop = workshop
        self._forge = forge

    async def fix_ci(self, held: Held, issue: Issue, fixes: int) -> None:
        """Repair what the failed checks of the current head say."""
        job = await self._workshop.open(held, issue)
        failed = [c for c in await self._forge.checks.of(held.fence.work_head) if c.outcome is CheckOutcome.FAILED]
        log = await self._log(failed)
        diff = excerpt(await job.space.diff(job.base, held.fence.work_head), LOG_BYTES)

        def prompt(problems: Sequence[str]) -> str:
            return self._workshop.prompt(
                "fix_ci", job, log=Untrusted(log), failures=Untrusted(_listed(problems)), diff=Untrusted(diff)
            )

        first = Turn(attempt=fixes + 1, round=held.fence.round)
        await self._change(held, job, Call.FIX_CI, first, f"Fix CI for {issue.title}", prompt)

    async def address_review(self, held: Held, issue: Issue) -> None:
        """Answer the newest requests for changes."""
        job = await self._workshop.open(held, issue)
        findings = await self._findings(held.fence.pr)

        def prompt(problems: Sequence[str]) -> str:
            told = findings if not problems else f"{findings}\n\nYour last change was refused:\n{_listed(problems)}"
            return self._workshop.prompt(
                "address_review", job, findings=Untrusted(told), conventions=job.conventions or "none"
            )

        first = Turn(round=held.fence.round)
        await self._change(held, job, Call.IMPLEMENT, first, f"Address review of {issue.title}", prompt)
