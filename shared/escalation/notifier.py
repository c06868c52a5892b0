"""Messages that call for people: an item was given up, a decision is asked for, or one has waited too long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import structlog

from shared.commands.command_rules import fitting
from shared.errors import Blocked, Transient, Unexplained
from shared.escalation.approvals import Approvals, PendingDecision
from shared.escalation.delivery import Escalation
from shared.github.ports import Replies
from shared.lock.hold import Held
from shared.models import Issue
from shared.scheduling.agent_contract import Ended, Result, Step
from shared.text import one_line
from shared.workflow import HALTED, TRACKS

log = structlog.get_logger()

SENTENCE_CHARS = 500


class Sink(Protocol):
    """Takes messages for delivery; never raises."""

    def put(self, escalation: Escalation) -> None: ...


@dataclass(frozen=True, slots=True)
class Whom:
    """The repository's name and web page, and the logins to mention in comments."""

    repository: str
    page: str
    mention: tuple[str, ...] = ()


class Notifier:
    """Notifies people, once per occasion. No error here reaches an item."""

    def __init__(
        self, sink: Sink, replies: Replies, approvals: Approvals, whom: Whom, server_time: Callable[[], datetime]
    ) -> None:
        self._sink = sink
        self._replies = replies
        self._approvals = approvals
        self._whom = whom
        self._server_time = server_time

    async def failed(self, held: Held, error: Blocked) -> None:
        """Call for a person when an item was given up; its status comment has the details."""
        await self._call_person(held, error, held.fence.nonce)

    async def halted(self, held: Held, step: Step, before: str) -> None:
        """Call for a person if epoch `before` (a nonce) gave the item up: its agent may have ended before that."""
        if isinstance(step, Ended) and step.result is Result.FAILED and held.fence.stage in HALTED:
            await self._call_person(held, Unexplained(), before or held.fence.nonce)

    async def _call_person(self, held: Held, error: Blocked, gave_up: str) -> None:
        """`gave_up` is the nonce of the epoch in which it was given up: the occasion's id on every machine."""
        fence = held.fence
        number, epoch = fence.key.number, gave_up[:12]
        commands = tuple(f"/{verb}" for verb in fitting(TRACKS[held.fence.key.kind], fence.stage))
        self._put_message(number, epoch, "failed", str(error), (fence.stage, error.category, commands))
        told = f"Needs a maintainer: {_first_line(error)} The status comment says what was kept and what you can do."
        await self._mention(number, f"failed-{epoch}", told)

    async def parked(self, held: Held, step: Step) -> None:
        """Ask people for the decision that the item now waits for, if it waits for one."""
        wanted = (
            await self._pending_decision(held) if isinstance(step, Ended) and step.result is Result.PARKED else None
        )
        if wanted is None:
            return
        sentence = f"The {wanted.what} waits for your decision."
        commands = tuple(f"/{verb}" for verb in fitting(TRACKS[held.fence.key.kind], held.fence.stage))
        self._put_message(wanted.number, wanted.epoch, "approval", sentence, (held.fence.stage, "approval", commands))
        await self._mention(wanted.number, wanted.epoch, sentence)

    async def _pending_decision(self, held: Held) -> PendingDecision | None:
        """Return the pending decision; None on an error, which is logged: `watch` escalates the decision later."""
        try:
            return await self._approvals.pending(held.fence)
        except (Transient, Blocked) as error:
            log.warning("approvals_not_looked_at", outcome="skipped", error=str(error))
            return None

    async def watch(self, items: Mapping[int, Issue]) -> None:
        """Escalate each decision that has waited too long, once."""
        async for late in self._approvals.overdue(items, self._server_time()):
            await self._overdue(late)

    async def _overdue(self, late: PendingDecision) -> None:
        self._approvals.settle(late)
        sentence = late.sentence(self._approvals.hours)
        self._put_message(late.number, late.epoch, "overdue", sentence, ("", late.category, ()))
        await self._post(late.number, f"overdue-{late.epoch}", sentence)

    def _put_message(
        self, number: int, epoch: str, kind: str, sentence: str, more: tuple[str, str, tuple[str, ...]]
    ) -> None:
        stage, category, commands = more
        url = f"{self._whom.page}/issues/{number}"
        told = one_line(sentence, SENTENCE_CHARS)
        one = Escalation(self._whom.repository, number, epoch, kind, told, url, stage, category, commands)
        log.info("escalation", outcome="completed", kind=kind, number=number, id=one.id)
        self._sink.put(one)

    async def _mention(self, number: int, purpose: str, sentence: str) -> None:
        if self._whom.mention:
            await self._post(number, purpose, sentence)

    async def _post(self, number: int, purpose: str, sentence: str) -> None:
        try:
            await self._replies.once(number, purpose, sentence, self._whom.mention)
        except (Transient, Blocked) as error:
            log.warning("escalation_not_posted", outcome="skipped", number=number, error=str(error))


def _first_line(error: Blocked) -> str:
    return one_line(str(error).partition("\n")[0], 300)
