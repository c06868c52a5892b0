"""A thread with the status comments of one kind of agent."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from shared.github.status import StatusBoard
from shared.lock.write_permit import OperatorPermit, WritePermit
from shared.models import Account, Comment
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role

AT = datetime(2026, 1, 5, tzinfo=UTC)

BOT, MALLORY = Account(99, "engine-bot"), Account(666, "mallory")

KEYS = Keyring(5, (Key.of(b"k" * 32),))

US = OperatorPermit("a test")


@dataclass
class FakeThread:
    """The comments of one repository."""

    comments: dict[int, Comment] = field(default_factory=dict)
    writes: list[str] = field(default_factory=list)
    gone: bool = False
    reads: int = 0
    remembers: bool = False
    refuses: Exception | None = None

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        self.reads += 1
        return tuple(one for one in self.comments.values() if one.number == number)

    def known(self, number: int) -> tuple[Comment, ...] | None:
        return tuple(one for one in self.comments.values() if one.number == number) if self.remembers else None

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment:
        self.writes.append("post")
        return self.add(number, body, BOT)

    async def edit(self, id: int, body: str, permit: WritePermit) -> Comment | None:
        self.writes.append(f"edit {id}")
        if self.gone:
            del self.comments[id]
            return None
        self.comments[id] = replace(self.comments[id], body=body)
        return self.comments[id]

    async def delete(self, id: int, permit: WritePermit) -> None:
        if self.refuses is not None:
            raise self.refuses
        self.writes.append(f"delete {id}")
        del self.comments[id]

    def add(self, number: int, body: str, author: Account) -> Comment:
        """Add a comment of a person."""
        comment = Comment(len(self.comments) + 1, number, author, body, AT, AT)
        self.comments[comment.id] = comment
        return comment


def board(thread: FakeThread, role: Role = Role.WORKER, keys: Keyring = KEYS) -> StatusBoard:
    return StatusBoard(thread, role, {BOT.id}, keys)
