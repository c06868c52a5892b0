"""The one status comment per thread and kind of agent: found by its mark, edited in place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from shared import marks
from shared.creation import making
from shared.github import status_record
from shared.lock.hold import Held
from shared.marks import Authenticity, Keyring
from shared.models import Comment
from shared.text import neutralise
from shared.warrant import Warrant
from shared.workflow import AGENTS, Role

MARK = "engine-status"

_CREDIT, _CREDIT_END = "<!-- credit -->", "<!-- end of credit -->"
"""Around figures that change by themselves with time: no reason to edit a comment."""


@dataclass(frozen=True, slots=True)
class Status:
    """What a status comment says: one sentence, a small table, and data for programs."""

    sentence: str
    rows: Sequence[tuple[str, str]] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    notes: str = ""


class Thread(Protocol):
    """What the status comment needs of the comments adapter."""

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]: ...

    async def lately(self, number: int, *, witness: int = 0) -> tuple[Comment, ...]: ...

    async def post(self, number: int, body: str, warrant: Warrant) -> Comment: ...

    async def edit(self, id: int, body: str, warrant: Warrant) -> Comment | None: ...


Ignored = Callable[[Iterable[Comment]], Awaitable[Sequence[Mapping[str, Any]]]]


class StatusBoard:
    """Writes the status comments of one kind of agent in one repository."""

    def __init__(
        self,
        comments: Thread,
        role: Role,
        accounts: Collection[int],
        keys: Keyring,
        credit: Callable[[int], str] | None = None,
        ignored: Ignored | None = None,
    ) -> None:
        """`credit` makes the table of what may be spent, as Markdown; empty when there is nothing to show.

        `ignored` tells which comments of a thread nobody heeds, as entries `{id, why}`.
        """
        self._comments = comments
        self._ignored = ignored
        self._credit = credit
        self._role = role
        self._accounts = accounts
        self._keys = keys
        self._shown: dict[int, tuple[Held, Comment]] = {}

    async def show(self, number: int, status: Status, warrant: Warrant) -> None:
        """Post it, or edit the one that stands there; nothing is sent when it says the same.

        While a lease lasts nobody else of this kind writes there: what was shown under it is remembered,
        and a reading of the thread that has its ACK shows what stood there before.
        """
        found, revision = self._remembered(number, warrant), 1
        if found is None:
            thread = await self._thread(number, warrant)
            found, status = self._pick(number, thread), await self._with_ignored(status, thread)
        if found is not None:
            revision = _next(found.body)
            status = replace(status, data=status_record.added(status.data, status_record.kept(found.body), older=True))
            if _content(found.body) == _content(self._body(number, status, revision)):
                return
            edited = await self._comments.edit(found.id, self._body(number, status, revision), warrant)
            if edited is not None:
                self._remember(number, warrant, edited)
                return
        if isinstance(warrant, Held):
            async with making(warrant, f"status-{number}", seen=found is not None):
                posted = await self._comments.post(number, self._body(number, status, revision), warrant)
        else:
            posted = await self._comments.post(number, self._body(number, status, revision), warrant)
        self._remember(number, warrant, posted)

    async def revise(self, number: int, status: Status, warrant: Warrant) -> None:
        """`show`, but only where a status comment stands already: for news that GitHub itself shows to people."""
        if self._remembered(number, warrant) or await self._find(number, warrant):
            await self.show(number, status, warrant)

    async def note(
        self,
        number: int,
        warrant: Warrant,
        *,
        commands: Sequence[Mapping[str, Any]] = (),
        ignored: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Record commands and what was ignored, each by its comment's id; what the comment says beside stays.

        What was only ignored is no reason to post one. Raises `Transient`, `Blocked`.
        """
        found, new = await self._find(number), {"commands": commands, "ignored": ignored}
        if found is None:
            if commands:
                await self.show(number, Status("Commands:", data=status_record.merged({}, new)), warrant)
            return
        data = {**_data(found.body), **status_record.merged(status_record.kept(found.body), new)}
        if data == _data(found.body):
            return
        lines = [self._head(number, _next(found.body)), status_record.beginning(found.body), *status_record.end(data)]
        edited = await self._comments.edit(
            found.id, self._keys.sign(_purpose(self._role), number, "\n".join(lines)), warrant
        )
        lease, _ = self._shown.get(number, (None, None))
        if lease is not None and edited is not None:
            self._shown[number] = lease, edited

    def record_in(self, number: int, thread: Iterable[Comment]) -> status_record.Record:
        """What the status comments of all kinds of agent in a thread that was read whole record of commands."""
        ours = [one.body for one in thread if one.author.id in self._accounts]
        records = [status_record.kept(body) for body in ours if any(self._is_of(kind, number, body) for kind in AGENTS)]
        return {key: [entry for one in records for entry in one.get(key, ())] for key in status_record.KEPT}

    async def data(self, number: int) -> Mapping[str, Any]:
        """The data of the status comment that stands there; empty when there is none."""
        found = await self._find(number)
        return _data(found.body) if found else {}

    def _remembered(self, number: int, warrant: Warrant) -> Comment | None:
        lease, comment = self._shown.get(number, (None, None))
        return comment if lease is warrant else None

    def _remember(self, number: int, warrant: Warrant, comment: Comment) -> None:
        self._shown = {other: known for other, known in self._shown.items() if not known[0].lost}
        if isinstance(warrant, Held):
            self._shown[number] = warrant, comment

    async def _find(self, number: int, warrant: Warrant | None = None) -> Comment | None:
        return self._pick(number, await self._thread(number, warrant))

    async def _thread(self, number: int, warrant: Warrant | None) -> tuple[Comment, ...]:
        if isinstance(warrant, Held):
            return await self._comments.lately(number, witness=warrant.ack.id)
        return await self._comments.thread(number)

    async def _with_ignored(self, status: Status, thread: tuple[Comment, ...]) -> Status:
        """The same, and what strangers have said in its own thread."""
        told = await self._ignored(thread) if self._ignored is not None else ()
        if not told:
            return status
        return replace(status, data=status_record.added(status.data, {"ignored": told}))

    def _pick(self, number: int, thread: Iterable[Comment]) -> Comment | None:
        ours = (one for one in thread if one.author.id in self._accounts and self._is_of(self._role, number, one.body))
        return next(ours, None)

    def _is_of(self, kind: Role, number: int, body: str) -> bool:
        mark = marks.find(body.partition("\n")[0])
        if mark is None or mark.name != MARK or mark.fields.get("kind") != kind:
            return False
        return self._keys.verify(_purpose(kind), number, body) is Authenticity.VALID

    def _body(self, number: int, status: Status, revision: int) -> str:
        lines = [self._head(number, revision), neutralise(status.sentence)]
        if status.rows:
            lines += ["", "| | |", "|---|---|", *(f"| {name} | {_cell(value)} |" for name, value in status.rows)]
        if status.notes:
            lines += ["", neutralise(status.notes)]
        if credit := self._credit(number) if self._credit else "":
            lines += ["", _CREDIT, credit, _CREDIT_END]
        lines += status_record.end(status.data)
        return self._keys.sign(_purpose(self._role), number, "\n".join(lines))

    def _head(self, number: int, revision: int) -> str:
        return marks.render(MARK, {"kind": self._role, "n": str(number), "rev": str(revision)})


def _purpose(kind: Role) -> str:
    return f"status:{kind}"


def _cell(value: str) -> str:
    return neutralise(" ".join(value.split())).replace("|", "\\|")


def _data(body: str) -> Mapping[str, Any]:
    return status_record.read(body)


def _next(body: str) -> int:
    """The revision after that of a body."""
    mark = marks.find(body)
    return int(mark.fields.get("rev", "0")) + 1 if mark else 1


def _content(body: str) -> str:
    said, _, rest = body.replace("\r\n", "\n").partition("\n")[2].partition(_CREDIT)
    return f"{said.rstrip()}\n{rest.rpartition(_CREDIT_END)[2].strip()}".strip()
