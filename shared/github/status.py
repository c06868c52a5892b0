"""The status comment: an agent's words on a thread, in the one comment that it shares with its lock; edited in place.

The holder writes by `shared.lock.hold.tell`, so that edits count as heartbeats and wait for each other; an agent that
writes without holding changes the words and leaves the lock's lines as they are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

import structlog

from shared.errors import NotAllowed
from shared.github import status_record
from shared.lock.codec import AckState, ItemKey
from shared.lock.comment import NO_WORDS, NOTHING_SHOWN, Shown, Words, carried, shown, write_ack, write_words
from shared.lock.fence import Fence
from shared.lock.hold import Held, beat, tell
from shared.lock.write_permit import WritePermit
from shared.models import Comment, Issue
from shared.text import neutralise, one_line
from shared.text.comment_signatures import Keyring
from shared.workflow import AGENTS, TERMINAL, Role, Stage

log = structlog.get_logger()

_BUDGET, _BUDGET_END = "<!-- credit -->", "<!-- end of credit -->"
"""Markers around figures that change by themselves with time: no reason to edit a comment."""


@dataclass(frozen=True, slots=True)
class Status:
    """The content of a status comment: one sentence, a small table, and data for programs."""

    sentence: str
    rows: Sequence[tuple[str, str]] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    notes: str = ""


def waiting_status(fence: Fence, sentence: str, rows: Sequence[tuple[str, str]], data: Mapping[str, object]) -> Status:
    """Return the status after a failed run, which is repeated later, by whichever agent comes first then.

    `rows` and `data` are those of all statuses of this agent.
    """
    wait = fence.wait
    until = f"{wait.until:%Y-%m-%d %H:%M} UTC" if wait else "the next look"
    why = {"why": wait.reason, "until": wait.until.isoformat()} if wait else {}
    told = f"Waiting until {until}, this uses no attempt: {one_line(sentence, 400)}"
    return Status(told, rows, {**data, "waiting": why, "failures": fence.failures})


def before_any_label(item: Issue | None) -> str:
    """Return the step of a person without which no label on `item` counts, and "then"; empty if none is needed."""
    if item is None or (item.open and not item.locked):
        return ""
    kind = "pull request" if item.is_pull_request else "issue"
    return f"{'unlock' if item.open else 'reopen'} this {kind}, then "


class Thread(Protocol):
    """The part of the comments adapter that the status comment uses."""

    def known(self, number: int) -> tuple[Comment, ...] | None: ...

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]: ...

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment: ...

    async def edit(self, id: int, body: str, permit: WritePermit) -> Comment | None: ...

    async def delete(self, id: int, permit: WritePermit) -> None: ...


Ignored = Callable[[Iterable[Comment]], Awaitable[Sequence[Mapping[str, Any]]]]


class StatusBoard:
    """The status comments of one kind of agent on the threads of one repository."""

    def __init__(
        self,
        comments: Thread,
        role: Role,
        accounts: Collection[int],
        keys: Keyring,
        budget_table: Callable[[int], str] | None = None,
        ignored: Ignored | None = None,
    ) -> None:
        """`budget_table` makes the table of what may be spent, as Markdown; empty if there is nothing to show.

        `ignored` returns the comments of a thread that nobody heeds, as entries `{id, why}`.
        """
        self._comments = comments
        self._ignored = ignored
        self._budget_table = budget_table
        self._role = role
        self._accounts = accounts
        self._keys = keys
        self._holding: Mapping[ItemKey, Held] = {}

    def write_by_leases(self, holding: Mapping[ItemKey, Held]) -> None:
        """Write comments of items that this process holds by their leases, for every caller."""
        self._holding = holding

    async def show(self, number: int, status: Status, permit: WritePermit) -> None:
        """Put the status into the existing comment, or post one; nothing is sent if it says the same.

        The holder's comment exists since its claim. Raises `Lost`, `Transient`, `Blocked`.
        """
        held = self._lease_for(number, permit)
        if held is not None:
            await self._show_held(number, status, held)
            return
        thread = await self._comments.thread(number)
        found = self._pick(number, thread)
        before = NO_WORDS if found is None else found[1].words
        words = await self._words(number, status_record.read_record(before.details), status, thread)
        if found is None:
            await self._comments.post(number, write_words(ItemKey(self._role, number), 1, words, self._keys), permit)
        elif _content(before) != _content(words):
            await self._edit(number, *found, words, permit)

    async def _show_held(self, number: int, status: Status, held: Held) -> None:
        """Put the status into the lock's comment. Twins, posted by agents that were not shown it, are deleted."""
        thread = self._comments.known(number) or ()
        twins = self._twins(held, thread)
        record = status_record.read_record((await _read_words(held)).details)
        for _, its in twins:
            record = status_record.merged(status_record.read_record(its.words.details), record)
        await self._tell_lock(held, await self._words(number, record, status, thread))
        for twin, _ in twins:
            with suppress(NotAllowed):  # another account's, which may be its own alone to delete
                await self._comments.delete(twin.id, held)

    def _twins(self, held: Held, thread: Iterable[Comment]) -> list[tuple[Comment, Shown]]:
        """Return comments of this kind without a lock or of an earlier epoch: only the holder knows they are unused."""
        read = ((one, shown(one, self._role, self._accounts, self._keys)) for one in thread if one.id != held.ack.id)
        return [
            (one, found)
            for one, found in read
            if held.ack.id and found is not None and (found.ack is None or found.ack.epoch < held.fence.epoch)
        ]

    async def revise(self, number: int, status: Status, permit: WritePermit) -> None:
        """Call `show`, but only if a comment exists already: for news that GitHub itself shows to people."""
        if self._lease_for(number, permit) is not None or await self._find(number) is not None:
            await self.show(number, status, permit)

    async def note(
        self,
        number: int,
        permit: WritePermit,
        *,
        commands: Sequence[Mapping[str, Any]] = (),
        ignored: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Record commands and ignored comments, each by its comment's id; the comment's other content stays.

        Ignored comments alone are no reason to post one. Raises `Transient`, `Blocked`.
        """
        new = {"commands": commands, "ignored": ignored}
        held = self._lease_for(number, permit)
        found = await self._find(number) if held is None else None
        before = await _read_words(held) if held is not None else found[1].words if found is not None else None
        if before is None:
            if commands:
                await self.show(number, Status("Commands:", data=status_record.merged({}, new)), permit)
            return
        data = {**_data(before), **status_record.merged(status_record.read_record(before.details), new)}
        if data == _data(before):
            return
        words = _with_data(before, data)
        if held is not None:
            await self._tell_lock(held, words)
        elif found is not None:
            await self._edit(number, *found, words, permit)

    def record_in(self, number: int, thread: Iterable[Comment]) -> status_record.Record:
        """Return the commands recorded by all agents' status comments; needs the complete thread."""
        keys = [ItemKey(kind, number) for kind in AGENTS]
        told = [carried(one, key, self._accounts, self._keys).words.details for one in thread for key in keys]
        records = [status_record.read_record(folded) for folded in told if folded]
        return {key: [entry for one in records for entry in one.get(key, ())] for key in status_record.KEPT}

    async def data(self, number: int) -> Mapping[str, Any]:
        """Return the data of the existing comment; empty if there is none."""
        held = self._holding.get(ItemKey(self._role, number))
        if held is not None:
            return _data(await _read_words(held))
        found = await self._find(number)
        return {} if found is None else _data(found[1].words)

    def _lease_for(self, number: int, permit: WritePermit) -> Held | None:
        """Return the lease under which this process writes this thread's comment; None if there is none."""
        key = ItemKey(self._role, number)
        if isinstance(permit, Held) and permit.fence.key == key:
            return permit
        held = self._holding.get(key)
        return held if held is not None and not held.lost else None

    async def _tell_lock(self, held: Held, words: Words) -> None:
        if not held.ack.id:
            log.info("status_not_shown", outcome="skipped", lock=held.fence.key.ref)
        elif held.posted_words is None or _content(held.posted_words) != _content(words):
            stage = _data(words).get("stage")
            await tell(held, words, Stage(stage) if stage in frozenset(Stage) else None)

    async def _find(self, number: int) -> tuple[Comment, Shown] | None:
        return self._pick(number, await self._comments.thread(number))

    def _pick(self, number: int, thread: Iterable[Comment]) -> tuple[Comment, Shown] | None:
        """Return the comment of this kind with the lowest id, and its content."""
        key = ItemKey(self._role, number)
        read = ((one, carried(one, key, self._accounts, self._keys)) for one in thread)
        return next(((one, shown) for one, shown in read if shown != NOTHING_SHOWN), None)

    async def _edit(self, number: int, found: Comment, shown: Shown, words: Words, permit: WritePermit) -> None:
        """Edit the comment to other words; those that tell of an end also end its lock: nobody holds an ended item."""
        if shown.ack is None:
            body = write_words(ItemKey(self._role, number), shown.revision + 1, words, self._keys)
        else:
            ended = _data(words).get("stage") in TERMINAL and shown.ack.state is AckState.ACTIVE
            state = AckState.DONE if ended else shown.ack.state
            body = write_ack(replace(shown.ack, state=state, revision=shown.revision + 1), self._keys, words)
        if await self._comments.edit(found.id, body, permit) is None:
            await self._comments.post(number, write_words(ItemKey(self._role, number), 1, words, self._keys), permit)

    async def _words(
        self, number: int, record: status_record.Record, status: Status, thread: tuple[Comment, ...]
    ) -> Words:
        """Return the words of a status, with the record of commands that stood there before."""
        data = status_record.added(status.data, record, older=True)
        if self._ignored is not None and thread and (told := await self._ignored(thread)):
            data = status_record.added(data, {"ignored": told})
        table = ""
        if status.rows:
            table = "\n".join(["| | |", "|---|---|", *(f"| {name} | {_cell(value)} |" for name, value in status.rows)])
        budget_table = self._budget_table(number) if self._budget_table else ""
        figures = f"{_BUDGET}\n{budget_table}\n{_BUDGET_END}" if budget_table else ""
        said = (neutralise(status.sentence), neutralise(status.notes), status_record.record_text(data))
        folded = (table, figures, status_record.machine_readable(data))
        return Words(_paragraphs(said), _paragraphs(folded))


def _with_data(words: Words, data: Mapping[str, Any]) -> Words:
    """Return the same words with other data: nothing else changes."""
    said = status_record.without_record_text(words.text) or status_record.beginning(words.details)
    rest = words.details.partition("```json\n")[0].rstrip() if words.text else ""
    folded = _paragraphs((rest, status_record.machine_readable(data)))
    return Words(_paragraphs((said, status_record.record_text(data))), folded, words.doing)


def _paragraphs(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _cell(value: str) -> str:
    return neutralise(" ".join(value.split())).replace("|", "\\|")


def _data(words: Words) -> Mapping[str, Any]:
    return status_record.read(words.details)


async def _read_words(held: Held) -> Words:
    """Return the words of a lease; a comment that could not be read when the epoch began is read now."""
    if held.unread:
        await beat(held)
    return held.words


def _content(words: Words) -> tuple[str, str]:
    """Return what makes two words differ: text and data (commands, ignored comments), without the budget figures."""
    before, _, rest = words.details.partition(_BUDGET)
    return words.text, f"{before.rstrip()}\n{rest.rpartition(_BUDGET_END)[2].strip()}".strip()
