"""The issue of the next pending test, opened if none is in the way; safe with any number of planners.

An issue is entered in the register before it is created; after that it is found again by its hidden line. The pending
tests of the base commit are taken in the configured order.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

import structlog
from anyio import to_thread

from planner_agent.pending import issue_text
from planner_agent.pending.register import PendingTest, latest
from planner_agent.register import Register
from shared.errors import Gone
from shared.git.failures import TooMuchOutput
from shared.git.ports import Mirror
from shared.github.base_branch import BaseBranch
from shared.github.ports import Issues
from shared.lock.write_permit import RegisterPermit
from shared.models import Account, Issue
from shared.pending import Marked, mark
from shared.pending.source import path_of, scan
from shared.text.comment_signatures import Keyring
from shared.workflow import HALTED, UNLABELLED, Event, Stage, Track, move
from shared.workflow.labels import Labels

FILES = 5_000
"""Maximum number of files that are searched, the first by path."""

CHUNK = 40
"""Number of files that one git command reads; together they fit into what may be read at once."""


class Globs:
    """Patterns for paths: `*` and `?` stay inside a directory, `**/` spans any number of them."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self._patterns = tuple(re.compile(_regular(one)) for one in patterns)

    def rank(self, path: str) -> int | None:
        """Return the position of the first pattern that fits; None if none does."""
        return next((at for at, one in enumerate(self._patterns) if one.fullmatch(path)), None)


_PARTS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def _regular(pattern: str) -> str:
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.removeprefix("./"))
    return "".join(_PARTS.get(piece, re.escape(piece)) for piece in pieces)


async def pending_tests(files: Mirror, commit: str, globs: Sequence[str], order: str) -> tuple[Marked, ...]:
    """Return every pending test of a commit: by `order`, then by line.

    `order` is "globs" (by pattern, then path) or "path" (by path).
    """
    wanted = Globs(globs)
    ranked = [(rank, path) for path in await files.paths(commit) if (rank := wanted.rank(path)) is not None]
    paths = [path for _, path in sorted(ranked, key=lambda one: one[1])][:FILES]
    ranks = {path: rank if order == "globs" else 0 for rank, path in ranked}
    found: list[Marked] = []
    for start in range(0, len(paths), CHUNK):
        chunk = paths[start : start + CHUNK]
        for path, content in zip(chunk, await _read(files, commit, chunk), strict=True):
            found += await to_thread.run_sync(scan, path, content or b"")
    return tuple(sorted(found, key=lambda one: (ranks[path_of(one.test)], path_of(one.test), one.line)))


async def _read(files: Mirror, commit: str, paths: Sequence[str]) -> Sequence[bytes | None]:
    """Read all at once; if that is too much, one by one, without those that are too large."""
    try:
        return await files.contents(commit, paths)
    except TooMuchOutput:
        if len(paths) == 1:
            return (None,)
    return [(await _read(files, commit, [path]))[0] for path in paths]


log = structlog.get_logger()

SEND_SECONDS = 60.0
"""Seconds after its entry in which an issue may be sent: much fewer than `LOST`, so that two are never sent."""

LOST = timedelta(minutes=10)
"""Age from which an entry without an issue is nobody's any more, and is renewed."""

SLACK = timedelta(minutes=5)
"""Time before its entry from which an issue is searched for."""

IDLE_SECONDS = 60.0
"""Seconds without a search after nothing was found, as long as no issue comes or goes."""

_EVER = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Wanted:
    """The pending tests that get issues: `order` is "globs" or "path", `attempts` is what titles count up to.

    `labels` are set beside the stage, so that agents that are restricted to a label find the issue.
    """

    globs: tuple[str, ...]
    order: str = "globs"
    open_at_once: int = 1
    attempts: int = 3
    base: BaseBranch = field(default_factory=partial(BaseBranch, "main"))
    names: Labels = field(default_factory=Labels)
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Writer:
    """The writer of the issues: the agent's id, its account, its keys, and its clocks."""

    agent: str
    account: Account
    keys: Keyring
    server_time: Callable[[], datetime]
    boot: Callable[[], float]


class Opening:
    """The issues about pending tests of one repository."""

    def __init__(
        self, issues: Issues, source: Mirror, register: Register[PendingTest], writer: Writer, wanted: Wanted
    ) -> None:
        self._issues = issues
        self._source = source
        self._register = register
        self._writer = writer
        self._wanted = wanted
        self._opened: set[int] = set()
        self._searched = False
        self._idle: tuple[frozenset[int], float] | None = None
        self._found: tuple[str, tuple[Marked, ...]] = ("", ())

    async def look(self, listed: Mapping[int, Issue]) -> int | None:
        """Open the next issue if there is room; return its number. `listed` are the open items with our labels.

        Raises `Transient` or `Blocked`; the next look goes on where this one ended.
        """
        there = frozenset(listed)
        if self._is_full(listed) or self._is_idle(there):
            return None
        self._idle = None
        number = await self._open_next(listed)
        if number is None:
            self._idle = there, self._writer.boot() + IDLE_SECONDS
        return number

    def _is_full(self, listed: Mapping[int, Issue]) -> bool:
        """Return whether the list alone shows that there is no room: issues that we opened are still worked on."""
        known = sum(number in listed and self._is_worked_on(listed[number]) for number in self._opened)
        return known >= self._wanted.open_at_once

    def _is_idle(self, there: frozenset[int]) -> bool:
        """Return whether nothing was found a short while ago, and no issue has come or gone since."""
        return self._idle is not None and self._idle[0] == there and self._writer.boot() < self._idle[1]

    async def _open_next(self, listed: Mapping[int, Issue]) -> int | None:
        entries = await self._complete_entries(latest(await self._register.read()))
        self._opened |= {entry.issue for entry in entries.values() if entry.issue}
        lost = [entry for entry in entries.values() if not entry.issue]
        late = {entry.test for entry in lost if self._writer.server_time() - entry.at >= LOST}
        busy = len(lost) - len(late) + await self._in_the_way(entries, listed)
        if busy >= self._wanted.open_at_once:
            return None
        for one in await self._pending():
            if one.test in late or one.test not in entries:
                return await self._open(one)
        return None

    async def _complete_entries(self, entries: Mapping[str, PendingTest]) -> Mapping[str, PendingTest]:
        """Return the entries, with the created issues that were not noted; the first time, of all that ever were."""
        lost = [entry for entry in entries.values() if not entry.issue]
        if self._searched and not lost:
            return entries
        since = min(entry.at for entry in lost) - SLACK if self._searched else _EVER
        changed = False
        for issue in await self._issues.created_by(self._writer.account.login, since):
            found = None if issue.is_pull_request else mark.read(issue.body, self._writer.keys)
            entry = entries.get(found.test) if found else None
            if found is not None and (entry is None or not entry.issue):
                changed |= await self._register.append(self._entry(found.test, issue.number))
        self._searched = True
        return latest(await self._register.read()) if changed else entries

    async def _in_the_way(self, entries: Mapping[str, PendingTest], listed: Mapping[int, Issue]) -> int:
        """Return how many issues are still worked on.

        The newest are read singly if the list lacks them, because it may lag.
        """
        opened = [entry for entry in entries.values() if entry.issue]
        newest, count = opened[-self._wanted.open_at_once :], 0
        for entry in opened:
            issue = listed.get(entry.issue)
            if issue is None and entry in newest:
                issue = await self._read_issue(entry)
            count += issue is not None and self._is_worked_on(issue)
        return count

    async def _read_issue(self, entry: PendingTest) -> Issue | None:
        try:
            return await self._issues.named(entry.issue, entry.at)
        except Gone:
            return None

    def _is_worked_on(self, issue: Issue) -> bool:
        """Return whether an issue is still on its way: neither closed nor merged nor handed to a person."""
        stages = self._wanted.names.read(issue.labels).stages
        return issue.open and bool(stages - HALTED - UNLABELLED)

    async def _pending(self) -> tuple[Marked, ...]:
        tip = await self._wanted.base.head_or_none(lambda branch: self._source.refresh(f"refs/heads/{branch}"))
        if tip is None:
            return ()
        if tip != self._found[0]:
            self._found = tip, await pending_tests(self._source, tip, self._wanted.globs, self._wanted.order)
        return self._found[1]

    async def _open(self, marked: Marked) -> int | None:
        """Enter the test, then create its issue; return its number, None if another planner was first."""
        begun = self._writer.boot()
        if not await self._register.append(self._entry(marked.test)):
            return None
        permit = RegisterPermit(marked.test, begun + SEND_SECONDS, self._writer.boot)
        ready = self._wanted.names.of(move(Track.SPECIFICATION, Stage.NEW, Event.CREATED).to)
        body = issue_text.body(marked, self._found[0], self._writer.keys)
        title, labels = issue_text.title(marked, self._wanted.attempts), [ready, *self._wanted.labels]
        number = (await self._issues.create(title, body, labels, permit)).number
        self._opened.add(number)
        log.info("pending_test_opened", outcome="completed", issue=number, test=marked.test)
        await self._register.append(self._entry(marked.test, number))  # else the next look finds it by its line
        return number

    def _entry(self, test: str, issue: int = 0) -> PendingTest:
        now = self._writer.server_time()
        return PendingTest(test, self._writer.agent, secrets.token_hex(8), now, issue)
