"""Questions that are found beside the planner's looks, and answered one after the other while the planner goes on.

No issue is claimed for an answer: two planners cannot have the same place in the register.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

import anyio
import structlog

from planner_agent.assistant import replies
from planner_agent.assistant.answer_call import AnswerCall, Sources
from planner_agent.assistant.question import LOST, Due, Entry, State, due, places, questions
from planner_agent.ports import Forge
from planner_agent.register import Register
from shared.clock import Clock
from shared.commands.start_signals import NewIssues
from shared.errors import Blocked, EngineError, Gone
from shared.models import Comment, Issue
from shared.process import CommandFailed
from shared.scheduling.order import exclusion_reason

log = structlog.get_logger()

LATE_SECONDS = 120.0
"""Seconds after a thread has grown in which the newest comments are read: a replica may not have all at once."""

AGAIN_SECONDS = 60.0
"""Seconds until a question that failed, or that another planner took, is looked at again."""

CLOSING_TRIES = 3
"""Attempts to note that a question is over when other planners write at the same time."""


@dataclass(frozen=True, slots=True)
class AnsweringAccount:
    """The account that answers, its limit for a day, and the labels to leave alone; `login` is how it is mentioned."""

    login: str
    accounts: frozenset[int]
    agent: str
    per_day: int
    exclude: frozenset[str]
    clock: Clock
    server_time: Callable[[], datetime]


@dataclass(slots=True)
class _Waiting:
    question: Comment
    next_look: float = float("-inf")
    unposted: tuple[Entry, str] | None = None
    """Its place in the register and the reply, from the payment until it is posted."""


class Assistant:
    """The questions of one repository."""

    def __init__(
        self,
        forge: Forge,
        listed: NewIssues,
        answering: AnsweringAccount,
        register: Register[Entry],
        sources: Sources,
        asking: AnswerCall,
    ) -> None:
        self._forge, self._listed, self._answering, self._register = forge, listed, answering, register
        self._sources, self._asking = sources, asking
        self._counted: dict[int, int] = {}
        self._until = float("-inf")
        self._waiting: dict[int, _Waiting] = {}
        self._known: set[int] = set()
        self._due = anyio.Event()

    async def look(self, known: Mapping[int, Issue]) -> None:
        """Find new questions if a thread has grown. Raises `Transient`."""
        now = self._answering.clock.boot()
        counted = {number: one.comments for number, one in self._listed.commented.items()}
        if any(count > self._counted.get(number, 0) for number, count in counted.items()):
            self._until = now + LATE_SECONDS
        self._counted = counted
        if now < self._until:
            newest, answering = await self._forge.comments.newest(), self._answering
            found = questions(newest, answering.login, answering.server_time(), answering.accounts)
            self._waiting |= {one.id: _Waiting(one) for one in found if one.id not in self._known}
            self._known = {one.id for one in found}
        if any(one.next_look <= now for one in self._waiting.values()):
            self._due.set()

    async def run(self, holding_back: Callable[[], str]) -> None:
        """Answer the questions found, until it is cancelled; none is begun while `holding_back` returns a reason."""
        while True:
            await self._due.wait()
            self._due = anyio.Event()
            now = self._answering.clock.boot()
            for one in [one for one in self._waiting.values() if one.next_look <= now]:
                if holding_back():
                    break
                one.next_look = now + AGAIN_SECONDS
                await self._attend(one)

    async def _attend(self, waiting: _Waiting) -> None:
        question = waiting.question
        with structlog.contextvars.bound_contextvars(issue=question.number):
            try:
                if await self._take_step(waiting):
                    del self._waiting[question.id]
            except (EngineError, CommandFailed) as error:
                log.warning("answer_put_off", outcome="retrying", comment=question.id, error=str(error))

    async def _take_step(self, waiting: _Waiting) -> bool:
        """Take the next step; return whether nothing is left to do. Raises `Transient`, `Outdated`, `Blocked`."""
        question, now = waiting.question, self._answering.server_time()
        entries = await self._register.read()
        found = due(question.id, entries, now)
        if found is Due.WAIT:
            return waiting.unposted is not None and await self._post_reply(waiting)
        thread = await self._thread(question) if found is not Due.OVER else None
        if thread is None:
            return True
        if await self._forge.replies.is_posted(question.number, replies.purpose(question.id)):
            return await self._close(question)  # whoever posted it did not come to note that
        if found is Due.GIVE_UP:
            await self._reply(question, replies.unanswered(question))
            return await self._close(question)
        if not places(entries, self._answering.per_day, now):
            await self._forge.replies.once(
                thread.number, replies.LIMIT_PURPOSE, replies.limited(self._answering.per_day)
            )
            return True
        taken = self._entry(question, State.TAKEN)
        if not await self._register.append(taken):
            return False
        waiting.unposted = taken, await self._text(question, thread)
        return await self._post_reply(waiting)

    async def _thread(self, question: Comment) -> Issue | None:
        """Return the thread of a question; None if it gets no answer, by the thread's state or because of who asks."""
        try:
            thread = await self._forge.issues.issue(question.number)
        except Gone:
            return None
        if thread.locked or exclusion_reason(thread.labels, self._answering.exclude):
            return None
        may_ask = (await self._forge.people.permission(question.author.login)).may_write
        return thread if may_ask else None

    async def _post_reply(self, waiting: _Waiting) -> bool:
        """Post what was paid for; return False if that took so long that another planner may be answering."""
        if waiting.unposted is None:
            return False
        question, (taken, text) = waiting.question, waiting.unposted
        entries = [one for one in await self._register.read() if one.comment == question.id]
        if entries[-1:] != [taken] or self._answering.server_time() - taken.at >= LOST:
            waiting.unposted = None
            return False
        await self._reply(question, text)
        log.info("question_answered", outcome="completed", comment=question.id)
        return await self._close(question)

    async def _text(self, question: Comment, thread: Issue) -> str:
        background = await self._sources.about(question, thread)
        try:
            answer = await self._asking.answer(question, background)
        except Blocked as error:
            return replies.failed(question, error)
        return replies.answered(question, answer, self._sources.base)

    async def _reply(self, question: Comment, text: str) -> None:
        await self._forge.replies.once(question.number, replies.purpose(question.id), text)

    async def _close(self, question: Comment) -> bool:
        """Note that it is over; return whether that is noted. If not, the next look finds the reply for free."""
        for _ in range(CLOSING_TRIES):
            if await self._register.append(self._entry(question, State.OVER)):
                return True
            await self._register.read()
        return False

    def _entry(self, question: Comment, state: State) -> Entry:
        run = secrets.token_hex(16)
        return Entry(question.id, question.number, state, self._answering.agent, run, self._answering.server_time())
