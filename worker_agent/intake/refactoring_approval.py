"""A person's answer on a refactoring that waits: `/approve` takes it, `/reject` goes on without it."""

from __future__ import annotations

from shared.commands.command import Verb, commands
from shared.github.ports import Comments
from shared.lock.claim import Intent
from shared.lock.record import Fence
from shared.models import Issue
from shared.workflow import Stage
from shared.workflow.labels import Flag, Labels
from worker_agent.decide import NextStep
from worker_agent.intake.trusted_writers import TrustedWriters

_MEANS = {Verb.APPROVE: NextStep.CONFIRMED, Verb.REJECT: NextStep.DECLINED}

WAITS = "its refactoring waits for /approve or /reject by somebody with write access"


class RefactoringApproval:
    """Reads the threads of issues whose refactoring waits; the newest trusted command decides."""

    def __init__(self, comments: Comments, writers: TrustedWriters, names: Labels) -> None:
        self._comments = comments
        self._writers = writers
        self._names = names

    async def intent(self, issue: Issue, fence: Fence | None) -> Intent | str | None:
        """Return the work that a claim would continue, or why it waits; None if no refactoring of this issue waits."""
        labels = self._names.read(issue.labels)
        if fence is None or fence.stage is not Stage.AWAITING_APPROVAL or labels.stages != {fence.stage}:
            return None
        if not issue.open or issue.locked or Flag.PAUSED in labels.flags:
            return None
        if fence.phase in set(_MEANS.values()):  # said already, and not carried out
            return Intent(fence.stage, fence.phase)
        since = [one for one in await self._comments.thread(issue.number) if one.created_at >= fence.at]
        for command in reversed(commands(since)):
            if command.verb in _MEANS and await self._writers.may_order(command.author):
                return Intent(fence.stage, _MEANS[command.verb], approved_by=command.author.login)
        return WAITS
