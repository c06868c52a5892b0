"""A check that the text a claim would be bound to is the one that a person saw when they asked for it."""

from __future__ import annotations

from datetime import datetime

from shared.lock.claim import Intent
from shared.lock.record import Fence
from shared.lock.write_permit import Notice
from shared.models import Issue
from shared.workflow.labels import Labels
from worker_agent.intake import intake_comments
from worker_agent.intake.intents import UNAPPROVED
from worker_agent.intake.trusted_writers import TrustedWriters
from worker_agent.ports import Forge


class TextBinding:
    """Checks the texts of people without write access; an edit by a person with write access needs no approval."""

    def __init__(self, forge: Forge, writers: TrustedWriters, names: Labels) -> None:
        self._forge = forge
        self._writers = writers
        self._names = names

    async def doubt(self, issue: Issue, fence: Fence | None, intent: Intent, asked_at: datetime) -> str:
        """Return why `intent` is not begun, which is posted once; empty if there is no doubt about the text.

        `asked_at` is when the label was set, by server time. Raises `Transient`.
        """
        known = {"", UNAPPROVED, fence.body_sha256 if fence else ""}
        if intent.body_sha256 in known or self._forge.texts.stood(issue, asked_at):
            return ""
        if self._writers.is_engine(issue.author) or await self._writers.may_order(issue.author):
            return ""
        told = intake_comments.doubtful(self._names, issue)
        await self._forge.status.show(issue.number, told, Notice(issue.number, "wording"))
        return told.sentence
