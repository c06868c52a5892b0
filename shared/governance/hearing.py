"""What people say to the engine in a thread: whose commands count, which are news, and what was ignored and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from shared import marks
from shared.governance.commands import Command, Unknown, Verb, commands, unknown
from shared.lock.codec import Fence, read_ack
from shared.models import Comment, Issue, Permission

INTERRUPTIONS = frozenset({Verb.PAUSE, Verb.RESUME, Verb.STOP})
"""What counts as long as the epoch in which it was given lasts; anything else is about the stage it was given at."""

NO_WRITE = "not by somebody with write access"


class Threads(Protocol):
    """The comments of a repository."""

    def known(self, number: int) -> tuple[Comment, ...] | None: ...

    async def thread(self, number: int) -> tuple[Comment, ...]: ...


class People(Protocol):
    """Who may do what."""

    async def permission(self, login: str) -> Permission: ...


class Record(Protocol):
    """What the status comment in a thread says of commands."""

    def record_in(self, number: int, thread: Iterable[Comment]) -> Mapping[str, Sequence[Mapping[str, Any]]]: ...


@dataclass(frozen=True, slots=True)
class Heard:
    """What a thread says that nobody has dealt with yet. `ignored` are comments and why."""

    orders: tuple[Command, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    ignored: tuple[tuple[int, str], ...] = ()


class Hearing:
    """Reads threads only where a count that GitHub gives for nothing shows comments that nobody has read."""

    def __init__(self, threads: Threads, people: People, record: Record) -> None:
        self._threads = threads
        self._people = people
        self._record = record
        self._counts: dict[int, int] = {}
        self._last: dict[int, int] = {}

    def has_news(self, listed: Issue) -> bool:
        """Whether somebody else than the engine may have spoken there since the last hearing; asks nobody."""
        number = listed.number
        if listed.comments <= self._counts.get(number, 0):
            return False
        known = self._threads.known(number)
        if known is None or len(known) < listed.comments:
            return True
        return any(comment.id > self._last.get(number, 0) for comment in spoken(known))

    def skip(self, listed: Issue) -> None:
        """What stands there now is not for us."""
        self._counts[listed.number] = listed.comments

    async def hear(self, listed: Issue, fence: Fence | None, *, held: bool = False) -> Heard:
        """What is new in a thread; `fence` is that of its stage. Raises `Transient`; then it is heard again."""
        number = listed.number
        known = self._threads.known(number)
        complete = known is not None and len(known) >= listed.comments
        thread = known if known is not None and complete else await self._threads.thread(number)
        said = spoken(thread)
        record = self._record.record_in(number, thread)
        dealt = {one.get("id") for kind in record.values() for one in kind}
        orders, ignored = [], []
        for command in commands(said):
            comment = next(one for one in said if one.id == command.comment_id)
            if comment.id in dealt or is_stale(comment, command.verb, fence, held=held):
                continue
            if await self._may_write(command.author.login):
                orders.append(command)
            else:
                ignored.append((comment.id, NO_WRITE))
        new = [word for word in unknown(said) if word.comment_id > self._last.get(number, 0)]
        strange = [word for word in new if await self._may_write(word.author.login)]
        self._counts[number] = listed.comments
        self._last[number] = max((comment.id for comment in thread), default=0)
        return Heard(tuple(orders), tuple(strange), tuple(ignored))

    def forget(self, number: int) -> None:
        """Something that was heard could not be carried out: hear it again."""
        self._counts.pop(number, None)
        self._last.pop(number, None)

    async def _may_write(self, login: str) -> bool:
        return (await self._people.permission(login)).may_write


def spoken(thread: Iterable[Comment]) -> tuple[Comment, ...]:
    """The comments that are people's own words; with one account, what carries no mark is its owner's."""
    return tuple(one for one in thread if read_ack(one) is None and marks.find(one.body.partition("\n")[0]) is None)


def is_stale(comment: Comment, verb: Verb, fence: Fence | None, *, held: bool) -> bool:
    """Whether a command was given about what is over."""
    if fence is None:
        return False
    if held or verb in INTERRUPTIONS:
        return comment.id < fence.ack_id
    return comment.created_at < fence.at
