"""The reader of commands in a thread: those of people with write access, those that are new, and those ignored."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from shared.commands.command import Command, Unknown, Verb, commands, unknown
from shared.commands.discussion import talked
from shared.commands.untrusted_comments import NO_WRITE, ignored_entry, spoken
from shared.github.ports import Comments, People, StatusBoard
from shared.lock.comment import read_ack
from shared.lock.fence import Fence
from shared.models import Comment, Issue

INTERRUPTIONS = frozenset({Verb.PAUSE, Verb.RESUME, Verb.STOP})
"""Commands that stay valid through the next epoch until answered; others concern the stage at which they were given."""

LATER_SECONDS = 600.0
"""Longest time in seconds without reading a thread whose item has changed in other ways as well."""

LATE_SECONDS = 120.0
"""Seconds for which a thread with fewer comments than its item counts is read again: a replica may lack some."""

SAME_MOMENT = timedelta(seconds=1)
"""Tolerance in comparing times: GitHub counts whole seconds, and may count a comment or a label with the next one."""

MOST_UNLISTED = 100
"""Most readings of threads that are kept although no list shows them any more."""

EDITED = "edited comments are not obeyed: post the command as a new comment"


@dataclass(frozen=True, slots=True)
class NewCommands:
    """The unanswered part of a thread. `ignored` are entries of the record for comments with commands."""

    orders: tuple[Command, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    ignored: tuple[Mapping[str, Any], ...] = ()
    edited: tuple[tuple[Command, int | str], ...] = ()
    """Commands in comments that were edited, with the names of these in the record: they are refused."""
    talk: tuple[Comment, ...] = ()
    """Comments without a command since the last reading, by anybody: see `CommandReader.by_writers`."""


@dataclass(frozen=True, slots=True)
class _Baseline:
    """An item as it was listed when its thread was read, and the versions of the comments that were read then.

    `short_since` is when the thread was first found to lack some of the comments that are counted; else infinite.
    """

    listed: Issue
    comments: Mapping[int, datetime]
    at: float
    short_since: float = math.inf


class CommandReader:
    """Reads threads only if GitHub's lists show that somebody may have written something that nobody has read.

    A new comment shows in the count. An edited comment, or a deleted one with a new one in its place, shows only in the
    time of the item's last change: then a thread is read once, at once if nothing else explains that time, and
    after `LATER_SECONDS` if labels, the text or comments of ours have changed as well.
    """

    def __init__(self, comments: Comments, people: People, status: StatusBoard, boot: Callable[[], float]) -> None:
        """`boot` is the boot clock in seconds."""
        self._comments = comments
        self._people = people
        self._status = status
        self._boot = boot
        self._baselines: dict[int, _Baseline] = {}

    def forget_unlisted(self, listed: Collection[int]) -> None:
        """Forget the readings of items that are not listed, which are closed, once there are many of them."""
        if len(self._baselines) > len(listed) + MOST_UNLISTED:
            self._baselines = {number: one for number, one in self._baselines.items() if number in listed}

    def has_news(self, listed: Issue) -> bool:
        """Return whether somebody else than the engine may have written there since the last reading; no request."""
        number = listed.number
        baseline, comments = self._baselines.get(number), self._comments.known(number)
        if baseline is None:
            if not listed.comments:
                return False
            if comments is None or len(comments) < listed.comments or spoken(comments):
                return True
            baseline = self._baselines[number] = _Baseline(listed, {}, self._boot())
        if comments is not None and any(baseline.comments.get(one.id) != one.updated_at for one in spoken(comments)):
            return True
        before, unread = baseline.listed, comments is None or len(comments) < listed.comments
        late = 0 <= self._boot() - baseline.short_since < LATE_SECONDS
        if unread and (late or listed.comments > before.comments):
            return True
        if listed.comments < before.comments:
            return True
        return self._is_doubtful(listed, baseline, comments or ())

    def _is_doubtful(self, listed: Issue, baseline: _Baseline, comments: Iterable[Comment]) -> bool:
        """Return whether a comment may have been edited, or have replaced another, since the last reading."""
        before = baseline.listed
        if listed.updated_at <= before.updated_at:
            return False
        if self._boot() - baseline.at >= LATER_SECONDS:
            return True
        otherwise = replace(listed, updated_at=before.updated_at) != before
        return not otherwise and not _is_explained(listed, comments)

    async def hear(self, listed: Issue, fence: Fence | None, *, held: bool = False) -> NewCommands:
        """Read a thread and return what is new; `fence` is that of its stage. On `Transient` it stays unread."""
        number = listed.number
        thread = await self._read(listed)
        said, before = spoken(thread), self._baselines.get(number)
        record = self._status.record_in(number, thread)
        dealt = {one.get("id") for kind in record.values() for one in kind}
        by_id = {one.id: one for one in said}
        orders: list[Command] = []
        edited: list[tuple[Command, int | str]] = []
        ignored: list[Mapping[str, Any]] = []
        for command in commands(said):
            comment = by_id[command.comment_id]
            name = version(comment)
            if name in dealt or await self._is_over(comment, command.verb, fence, held=held):
                continue
            if not await self._may_write(command.author.login):
                ignored += [] if comment.id in dealt else [ignored_entry(comment.id, NO_WRITE)]
            elif name == comment.id:
                orders.append(command)
            else:
                edited.append((command, name))
        baseline = before.comments if before else {}
        new = [word for word in unknown(said) if word.comment_id not in baseline]
        words = [word for word in new if await self._may_write(word.author.login)]
        strange = {word.comment_id for word in unknown(said)}
        talk = [
            one
            for one in talked(thread)
            if one.id not in strange and baseline.get(one.id) != one.updated_at and one.id not in dealt
        ]
        self._note(listed, thread, short=len(thread) < listed.comments)
        return NewCommands(tuple(orders), tuple(words), tuple(ignored), tuple(edited), tuple(talk))

    def _note(self, listed: Issue, thread: Iterable[Comment], *, short: bool) -> None:
        """Note the comments read so far; missing ones may come late, or were deleted after the list was made."""
        before, now = self._baselines.get(listed.number), self._boot()
        since = min(before.short_since, now) if before is not None else now
        comments = {one.id: one.updated_at for one in thread}
        self._baselines[listed.number] = _Baseline(listed, comments, now, since if short else math.inf)

    async def by_writers(self, talk: Iterable[Comment]) -> tuple[Comment, ...]:
        """Return the comments by people with write access. Raises `Transient`."""
        return tuple([one for one in talk if await self._may_write(one.author.login)])

    def forget(self, number: int) -> None:
        """Forget the last reading, so that the thread is read again: a command could not be carried out."""
        self._baselines.pop(number, None)

    async def _read(self, listed: Issue) -> tuple[Comment, ...]:
        """Return the comments known already if none can be missing among them; else read the thread."""
        known, baseline = self._comments.known(listed.number), self._baselines.get(listed.number)
        if known is None or len(known) < listed.comments:
            return await self._comments.thread(listed.number)
        if baseline is None:
            return known
        fewer = listed.comments < baseline.listed.comments
        return (
            await self._comments.thread(listed.number) if fewer or self._is_doubtful(listed, baseline, known) else known
        )

    async def _is_over(self, comment: Comment, verb: Verb, fence: Fence | None, *, held: bool) -> bool:
        """Return whether a command is stale; an interruption unanswered since the previous holder began never is.

        It was written when that holder was dead, or while the next one was claiming: too late for either to read it.
        """
        if fence is None or not is_stale(comment, verb, fence, held=held):
            return False
        return verb not in INTERRUPTIONS or comment.id <= await self._position_before(fence)

    async def _position_before(self, fence: Fence) -> int:
        """Return the highest comment id from before the previous epoch; with older engines, the ACK names it."""
        if (known_before := fence.position_before) is not None:
            return known_before
        number = fence.key.number
        known = self._comments.known(number) or ()
        thread = known if any(one.id == fence.ack_id for one in known) else await self._comments.thread(number)
        own = next((read_ack(one) for one in thread if one.id == fence.ack_id), None)
        return fence.ack_id if own is None or own.opaque else own.prev

    async def _may_write(self, login: str) -> bool:
        return (await self._people.permission(login)).may_write


def version(comment: Comment) -> int | str:
    """Return a comment's name in the record: its id, followed by the time of its edit if it was edited."""
    if comment.updated_at <= comment.created_at:
        return comment.id
    return f"{comment.id}@{comment.updated_at:%Y-%m-%dT%H:%M:%S}"


def is_stale(comment: Comment, verb: Verb, fence: Fence | None, *, held: bool) -> bool:
    """Return whether a command is about something that is over. An edited command is not obeyed in any case."""
    if fence is None:
        return False
    if held or verb in INTERRUPTIONS:
        return comment.id <= fence.position and comment.updated_at <= comment.created_at
    return comment.updated_at < fence.at


def _is_explained(listed: Issue, comments: Iterable[Comment]) -> bool:
    """Return whether the last change of an item is a comment that was read, or written by us."""
    return any(abs(one.updated_at - listed.updated_at) <= SAME_MOMENT for one in comments)
