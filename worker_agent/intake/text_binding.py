"""A check that the text a claim would be bound to is the one that a person saw when they asked for it."""

from __future__ import annotations

from datetime import datetime

from shared.github.status import Status
from shared.lock.claim import Intent
from shared.lock.record import Fence
from shared.lock.write_permit import Notice
from shared.models import Issue
from shared.workflow import Stage
from shared.workflow.labels import Labels
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
        if self._writers.are(issue.author) or await self._writers.include(issue.author):
            return ""
        told = doubtful(self._names, issue)
        await self._forge.status.show(issue.number, told, Notice(issue.number, "wording"))
        return told.sentence


def doubtful(names: Labels, issue: Issue) -> Status:
    """Return the status for a text that may have been edited between a person's label and its first reading."""
    ready = names.of(Stage.READY)
    asks = ready if Stage.READY in names.read(issue.labels).stages else names.of(Stage.CHANGES_REQUESTED)
    sentence = (
        f"Not started: after `{asks}` was set, {issue.author.login}, without write access, may have edited the text. "
        f"Please read it, then remove `{asks}` and set it again."
    )
    return Status(sentence, data={"waiting": {"why": "approval"}})
