"""A thread in which people give commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from fakes.unasked import UnaskedComments, UnaskedStatus

from shared.commands.command_reader import CommandReader
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Account, Comment, Issue, Permission
from shared.workflow import Role, Stage

AT = datetime(2026, 1, 5, tzinfo=UTC)

ADA, MALLORY, TRIAGE, BOT = Account(1, "ada"), Account(2, "mallory"), Account(3, "tom"), Account(99, "engine-bot")

FENCE = Fence(ItemKey(Role.WORKER, 7), 5, "n" * 32, "worker-a", Stage.FAILED, AT, seen=5, seen_before=5)

ISSUE = Issue(7, "Title", "", frozenset(), ADA, AT, AT)


@dataclass
class Thread(UnaskedComments, UnaskedStatus):
    """One thread, who may do what, and how often either was asked for."""

    said: list[Comment] = field(default_factory=list)
    recorded: list[int | str] = field(default_factory=list)
    readings: int = 0
    asked: list[str] = field(default_factory=list)
    cached: bool = False
    boot: float = 0.0
    touched: datetime = AT
    title: str = ISSUE.title

    def known(self, number: int) -> tuple[Comment, ...] | None:
        return tuple(self.said) if self.cached else None

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        self.readings += 1
        return tuple(self.said)

    async def permission(self, login: str) -> Permission:
        self.asked.append(login)
        return Permission.WRITE if login in {"ada", "engine-bot"} else Permission.READ

    def record_in(self, number: int, thread: Iterable[Comment]) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        return {"commands": [{"id": id} for id in self.recorded]}

    def say(self, id: int, body: str, author: Account = ADA, at: datetime = AT + timedelta(seconds=9)) -> None:
        self.said.append(Comment(id, 7, author, body, at, at))

    @property
    def listed(self) -> Issue:
        """The issue as a list shows it: last changed with the newest comment, or at `touched`."""
        last = max([AT, self.touched, *(one.updated_at for one in self.said)])
        return replace(ISSUE, comments=len(self.said), updated_at=last, title=self.title)


def reader(thread: Thread) -> CommandReader:
    return CommandReader(thread, thread, thread, lambda: thread.boot)
