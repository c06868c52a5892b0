"""Reads what a board is made of: one fetch of fences, conditional lists, and the checks of open pull requests."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from console.history import accounts, fences
from console.history.repository_reader import OpenRepository
from console.status.board import claimed, heads, rows
from console.status.row import Board, Seen, Terms
from shared.ci.verdict import fold
from shared.git.mirror import Mirror
from shared.github.comments import PAGE as COMMENTS
from shared.github.inbox import PAGE
from shared.governance import ledger_lines
from shared.governance.ledger import REF
from shared.lock.codec import FENCE_NAMESPACE
from shared.models import Issue
from shared.workflow import UNLABELLED, Stage


class Looking:
    """One repository, looked at as often as asked; what has not changed since the last look is not charged."""

    def __init__(self, visit: OpenRepository, *, timeout: float, unknown_run: float) -> None:
        """`timeout` is the lock's, in seconds; `unknown_run` what a run counts whose cost nobody knows."""
        self._visit = visit
        self._timeout = timedelta(seconds=timeout)
        self._unknown_run = unknown_run
        one = visit.configured
        labels, barring = one.labels, one.merge_blocking_labels
        own = None if one.take_assigned_issues else tuple(filter(None, (visit.hub.account.login, one.assign)))
        self._terms = Terms(
            visit.hub.names, one.merge, one.max_attempts, labels.include, labels.exclude, barring, own, self._timeout
        )
        self._issues: tuple[Issue, ...] = ()

    @property
    def repository(self) -> str:
        """`owner/repo`."""
        return self._visit.configured.name

    def unread(self, why: str) -> Board:
        """Its board when it cannot be read."""
        return Board(self.repository, self._visit.server_time(), complaint=why)

    async def look(self) -> Board:
        """The board as it is now; raises `Transient` and `Blocked`."""
        refs = await self._visit.mirror.refresh_all(f"{FENCE_NAMESPACE}/")
        issues = await self._open()
        at = self._visit.server_time()
        seen = Seen(at, issues, fences.newest(refs))
        if REF in refs:
            seen = replace(seen, usd=await _spent(self._visit.mirror, at, self._unknown_run))
        seen = await self._with_comments(seen)
        checks = self._visit.hub.checks
        seen = replace(seen, ci={sha: fold(await checks.of(sha)) for sha in heads(seen, self._terms)})
        return Board(self.repository, at, rows(seen, self._terms))

    async def _open(self) -> tuple[Issue, ...]:
        """Every open item that can be the engine's: the list of changes, and what it is too short for by label."""
        issues, names = self._visit.hub.issues, self._visit.hub.names
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

    async def _with_comments(self, seen: Seen) -> Seen:
        """The ACKs that fences name. One that lives was edited within the timeout, so it is among the newest."""
        wanted = claimed(seen, self._terms)
        if not wanted:
            return seen
        newest = await self._visit.hub.comments.newest()
        found = {comment.id: comment for comment in newest if comment.id in wanted}
        oldest = min((comment.updated_at for comment in newest), default=seen.at)
        if len(newest) >= COMMENTS and seen.at - oldest < self._timeout:
            for id in wanted:
                one = None if id in found else await self._visit.hub.comments.comment(id)
                found |= {} if one is None else {id: one}
        return replace(seen, acks=found, said=newest)


async def _spent(mirror: Mirror, at: datetime, unknown_run: float) -> dict[str, float]:
    """What each item's runs count, by the ledger."""
    books = ledger_lines.books(await accounts.entries(mirror, whole=False), at, unknown_run)
    found = dict(books.before)
    for run in books.runs:
        found[run.item] = found.get(run.item, 0.0) + run.usd
    return found
