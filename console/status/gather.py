"""Reads what a board is made of: one fetch of fences, conditional lists, and the checks of open pull requests.

Merges of the last 24 hours, and costs of the last 24 hours and 7 days, are told by the fences and by the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from console.history import fences
from console.history.repository_reader import OpenRepository, unreadable
from console.status.board import claimed, heads, rows
from console.status.row import Board, BoardSettings, Merged, RepositorySnapshot, Spent
from shared.budget import ledger_lines
from shared.budget.budgets import DAY, Books, BudgetLimits, Period, limit_states
from shared.budget.ledger import REF
from shared.ci.verdict import fold
from shared.errors import EngineError, Gone
from shared.github.comments import PAGE as COMMENTS
from shared.github.inbox import PAGE
from shared.lock.codec import FENCE_NAMESPACE, ItemKey
from shared.lock.fence import Fence
from shared.models import Issue
from shared.process import CommandFailed
from shared.workflow import UNLABELLED, Role, Stage

UNREADABLE = (EngineError, CommandFailed, OSError)
"""Errors that keep one repository from being read: GitHub, git, or the disk of this machine."""


class Look(Protocol):
    """One repository that can be looked at again: `console.status.gather.Looking`."""

    @property
    def repository(self) -> str:
        """`owner/repo`."""
        ...

    async def look(self) -> Board: ...

    def unread(self, why: str) -> Board:
        """Its board when it cannot be read."""
        ...


@dataclass(frozen=True, slots=True)
class Unread:
    """A repository that could not be opened; its board says why."""

    board: Board

    @property
    def repository(self) -> str:
        """`owner/repo`."""
        return self.board.repository

    async def look(self) -> Board:
        """The same again."""
        return self.board

    def unread(self, why: str) -> Board:
        """The same again."""
        return self.board


async def first(looks: Sequence[Look]) -> list[Board]:
    """The boards of all; one that cannot be read says why. Raises what is in the way of the first where all are."""
    boards: list[Board] = []
    in_the_way: EngineError | None = None
    for look in looks:
        try:
            boards.append(await look.look())
        except UNREADABLE as error:
            told = error if isinstance(error, EngineError) else unreadable(look.repository, error)
            in_the_way = in_the_way or told
            boards.append(look.unread(str(told)))
    if in_the_way is not None and all(board.complaint for board in boards):
        raise in_the_way
    return boards


async def again(look: Look, before: Board) -> Board:
    """The newer board; what cannot be read stays as it was, with the reason."""
    try:
        return await look.look()
    except UNREADABLE as error:
        return replace(before, complaint=str(error))


MOST_TITLES = 20
"""Titles of merged issues that are read at one look; the next one reads on."""


class Looking:
    """One repository, looked at as often as asked; what has not changed since the last look is not charged."""

    def __init__(self, visit: OpenRepository, *, timeout: float, limits: BudgetLimits, titled: bool = False) -> None:
        """`timeout` is the lock's, in seconds; `titled` reads the titles of merged issues too, each once."""
        self._visit, self.repository = visit, visit.configured.name
        self._timeout = timedelta(seconds=timeout)
        self._limits, self._titled = limits, titled
        self._titles: dict[int, str] = {}
        configured = visit.configured
        labels, barring = configured.labels, configured.merge_blocking_labels
        login = visit.adapters.account.login
        logins = None if configured.take_assigned_issues else tuple(filter(None, (login, configured.assign)))
        self._terms = BoardSettings(
            visit.adapters.names,
            configured.merge,
            configured.max_attempts,
            labels.include,
            labels.exclude,
            barring,
            logins,
            self._timeout,
            invited=login if configured.start.assigned else "",
            at_terminal=configured.approval == "terminal",
        )
        self._issues: tuple[Issue, ...] = ()

    def unread(self, why: str) -> Board:
        """Its board when it cannot be read."""
        return Board(self.repository, self._visit.adapters.server_time(), complaint=why)

    async def look(self) -> Board:
        """The board as it is now; raises `Transient` and `Blocked`."""
        refs = await self._visit.mirror.refresh_all(f"{FENCE_NAMESPACE}/")
        issues = await self._open_items()
        at = self._visit.adapters.server_time()
        snapshot = RepositorySnapshot(at, issues, fences.newest(refs))
        books = await self._books(at) if REF in refs else None
        snapshot = replace(snapshot, usd=None if books is None else cost_by_item(books))
        snapshot = await self._with_comments(snapshot)
        checks = self._visit.adapters.checks
        snapshot = replace(snapshot, ci={sha: fold(await checks.of(sha)) for sha in heads(snapshot, self._terms)})
        return Board(
            self.repository,
            at,
            rows(snapshot, self._terms),
            merged=await self._merged_items(snapshot),
            spent=None if books is None else spent_lately(books, self._limits, at),
        )

    async def _open_items(self) -> tuple[Issue, ...]:
        """Return every open item that may be the engine's: the list of changes, and by label the older ones."""
        issues, names = self._visit.adapters.issues, self._visit.adapters.names
        recent = await issues.recent()
        if recent is None:
            return self._issues
        found = {issue.number: issue for issue in recent}
        if len(recent) >= PAGE:
            for label in (names.story, *(names.of(stage) for stage in Stage if stage not in UNLABELLED)):
                listed = await issues.labelled(label)
                found = {issue.number: issue for issue in listed} | found
        self._issues = tuple(found.values())
        return self._issues

    async def _with_comments(self, snapshot: RepositorySnapshot) -> RepositorySnapshot:
        """Add the ACKs that fences name. A live one was edited within the timeout, so it is among the newest."""
        wanted = claimed(snapshot, self._terms)
        if not wanted:
            return snapshot
        newest = await self._visit.adapters.comments.newest()
        found = {comment.id: comment for comment in newest if comment.id in wanted}
        oldest = min((comment.updated_at for comment in newest), default=snapshot.at)
        if len(newest) >= COMMENTS and snapshot.at - oldest < self._timeout:
            for id in wanted:
                one = None if id in found else await self._visit.adapters.comments.comment(id)
                found |= {} if one is None else {id: one}
        return replace(snapshot, acks=found, comments=newest)

    async def _books(self, at: datetime) -> Books:
        entries = await fences.ledger(self._visit.mirror, whole=False)
        return ledger_lines.books(entries, at, self._limits.unknown_run)

    async def _merged_items(self, snapshot: RepositorySnapshot) -> tuple[Merged, ...]:
        """Return the items merged in the last day; titles of issues that are gone are left empty."""
        found = merged_lately(snapshot.fences, snapshot.at, {})
        wanted = {one.number for one in found}
        listed = {issue.number: issue.title for issue in snapshot.issues}
        self._titles = {
            number: title for number, title in (self._titles | listed).items() if number in wanted | listed.keys()
        }
        unknown = [one.number for one in found if one.number not in self._titles] if self._titled else []
        for number in unknown[:MOST_TITLES]:
            try:
                self._titles[number] = (await self._visit.adapters.issues.issue(number)).title
            except Gone:
                self._titles[number] = ""
        return merged_lately(snapshot.fences, snapshot.at, self._titles)


def merged_lately(fences: Mapping[ItemKey, Fence], at: datetime, titles: Mapping[int, str]) -> tuple[Merged, ...]:
    """The issues whose fences have come to `done` with a pull request in the day before `at`, newest first."""
    done = [
        fence
        for key, fence in fences.items()
        if key.kind is Role.WORKER and fence.stage is Stage.DONE and fence.pr and at - fence.at < DAY
    ]
    return tuple(
        Merged(fence.key.number, fence.pr, fence.at, titles.get(fence.key.number, ""))
        for fence in sorted(done, key=lambda fence: (fence.at, fence.key.number), reverse=True)
    )


def spent_lately(books: Books, limits: BudgetLimits, at: datetime) -> Spent:
    """Return the amounts that count against the limits of day and week."""
    found = {state.period: state.used for state in limit_states(books, "", limits, at)}
    return Spent(found[Period.DAY], limits.day, found[Period.WEEK], limits.week)


def cost_by_item(books: Books) -> dict[str, float]:
    """Return the cost of each item's runs, with items as `#42`."""
    found = dict(books.before)
    for run in books.runs:
        found[run.item] = found.get(run.item, 0.0) + run.usd
    return found
