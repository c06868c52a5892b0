"""The report of a specification's end: status comment, ticks at proved criteria, removal of stage labels and flags.

Whoever finds the end reports it: the reviewer that merges, the worker that holds the issue, or a sweep over fences that
nobody holds. Every effect is convergent; a refused one is logged, because nothing that has ended fails any more.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from shared.errors import Blocked
from shared.git import proof_claim
from shared.github.item_changes import ItemChange
from shared.github.ports import Comments, Issues, StatusBoard
from shared.github.status import Status
from shared.lock.comment import read_ack
from shared.lock.fence import Fence
from shared.lock.hold import Held
from shared.lock.write_permit import Notice, WritePermit
from shared.models import Comment, Issue, PullRequest
from shared.specification import body_sha256, tick
from shared.text import counted
from shared.text.comment_signatures import CommentSignatures, Keyring
from shared.workflow import UNLABELLED, Role, Stage
from shared.workflow.labels import Labels

log = structlog.get_logger()


Boards = Callable[[Collection[int]], StatusBoard]
"""Returns the worker's status comments, limited to those written by these accounts (ids)."""

CarryOut = Callable[[Sequence[ItemChange], WritePermit], Awaitable[None]]
"""Makes all changes of items; raises the first refusal after the last change."""

Spent = Callable[[int], Awaitable[float | None]]
"""Returns the cost of all runs for an issue in US dollars; None if unknown."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources of the report: keys and accounts that identify our own text, costs, and the server's time."""

    keys: Keyring
    accounts: Collection[int]
    spent: Spent
    now: Callable[[], datetime]


class Closing:
    """Reports that an issue's pull request is merged, and removes every label that asks for work."""

    def __init__(
        self,
        issues: Issues,
        comments: Comments,
        carry_out: CarryOut,
        boards: Boards,
        names: Labels,
        sources: Sources,
    ) -> None:
        self._issues = issues
        self._comments = comments
        self._carry_out = carry_out
        self._boards = boards
        self._names = names
        self._sources = sources

    async def merged(self, fence: Fence, pull_request: PullRequest, permit: WritePermit) -> None:
        """Report the merge on the issue of the worker's `fence`, tick proved criteria, and take the labels off both.

        The issue's labels come off last: by them an unfinished report is found again. Raises `Transient`.
        """
        number = fence.key.number
        claim = self._claim(pull_request, number)
        endings = [self._label_removal(pull_request)]
        try:
            thread = await self._comments.thread(number)
            accounts = self._accounts(fence, thread)
            begun = began(one for one in thread if one.author.id in accounts)
            taken = None if begun is None else self._sources.now() - begun
            issue = await self._issues.issue(number)
            status = merged(fence, pull_request, await self._cost(number, claim), taken)
            status = replace(status, notes=edited_since(fence, issue, self._names))
            permit.check()
            # Not by the lease of another item, under which an older reading of this thread would do; whoever holds this
            # one tells it by that, or its release would write over it.
            own = isinstance(permit, Held) and permit.fence.key == fence.key
            await self._boards(accounts).revise(number, status, permit if own else Notice(number, "merged"))
            # By the fence, too: what was read may be older than the label that another agent has just set.
            shown = () if fence.stage in UNLABELLED else (self._names.of(fence.stage),)
            endings.append(replace(self._label_removal(issue, shown), body=self._ticked_body(issue, claim)))
        except Blocked as error:
            log.warning("end_not_told", outcome="skipped", issue=number, error=str(error))
        await self._end(endings, permit)

    async def unlabel(self, item: Issue | PullRequest, permit: WritePermit) -> None:
        """Take stages and flags off an item that has ended. Raises `Transient`."""
        await self._end([self._label_removal(item)], permit)

    async def close(self, item: Issue, permit: WritePermit) -> None:
        """Close an issue and take stages and flags off it. Raises `Transient`, and `Blocked` where it stays open."""
        try:
            await self._carry_out([replace(self._label_removal(item), close=True)], permit)
        except Blocked as error:
            if (await self._issues.issue(item.number)).open:
                raise
            log.warning("end_not_shown", outcome="skipped", numbers=[item.number], error=str(error))

    async def _end(self, endings: Collection[ItemChange], permit: WritePermit) -> None:
        try:
            await self._carry_out([one for one in endings if one.requests], permit)
        except Blocked as error:
            numbers = [one.number for one in endings]
            log.warning("end_not_shown", outcome="skipped", numbers=numbers, error=str(error))

    def _label_removal(self, item: Issue | PullRequest, shown: Collection[str] = ()) -> ItemChange:
        """Return the change that takes off the item's stages and flags, and the labels `shown`."""
        read = {name.casefold() for name in item.labels}
        unread = (one for one in shown if one.casefold() not in read)
        return ItemChange(item.number, off=(*self._names.engine_labels(item.labels), *unread))

    def _ticked_body(self, issue: Issue, claim: proof_claim.Claim | None) -> str | None:
        """Return the issue's text with ticks; None if nothing is ticked.

        Nothing else of a person's text changes: if the outbound filter would change more, its boxes stay empty.
        """
        if claim is None or issue.is_pull_request:
            return None
        body = tick(issue.body, claim.criteria)
        if body == issue.body or self._sources.keys.outgoing.text(body) != body:
            return None
        return body if body_sha256(issue.title, body) == body_sha256(issue.title, issue.body) else None

    def _claim(self, pull_request: PullRequest, number: int) -> proof_claim.Claim | None:
        """Return the claim in the pull request's own signed line; None if a person has changed it."""
        try:
            claim, authentic = proof_claim.read(pull_request.body, self._sources.keys)
        except proof_claim.NoClaim:
            return None
        return claim if authentic is CommentSignatures.VALID and claim.issue == number else None

    async def _cost(self, number: int, claim: proof_claim.Claim | None) -> float | None:
        spent = await self._sources.spent(number)
        return claim.cost_usd if spent is None and claim is not None else spent

    def _accounts(self, fence: Fence, thread: Iterable[Comment]) -> frozenset[int]:
        """Return the ids of the engine's accounts and the worker's: only a pusher can name its own ACK in a fence."""
        holder = next((one.author.id for one in thread if one.id == fence.ack_id and read_ack(one)), None)
        return frozenset(self._sources.accounts) | ({holder} if holder is not None else frozenset())


def began(thread: Iterable[Comment]) -> datetime | None:
    """Return when a worker first took the issue up: the time of the oldest worker ACK among these comments."""
    acks = ((one, read_ack(one)) for one in thread)
    return min((one.created_at for one, ack in acks if ack is not None and ack.key.kind is Role.WORKER), default=None)


def merged(fence: Fence, pull_request: PullRequest, usd: float | None, taken: timedelta | None) -> Status:
    """Return the final status of an issue whose pull request was merged."""
    commit = f" as `{pull_request.merge_sha[:7]}`" if pull_request.merge_sha else ""
    facts = [counted(fence.attempt, "attempt")] if fence.attempt else []
    facts += [counted(fence.round, "round") + " of changes"] if fence.round else []
    facts += [f"${usd:.2f}"] if usd is not None else []
    facts += [_duration(taken)] if taken is not None else []
    told = f": {', '.join(facts)}" if facts else ""
    rows = [("Stage", str(Stage.DONE)), ("Agent", fence.agent), ("Attempts", str(fence.attempt))]
    rows += [("Review round", str(fence.round))] if fence.round else []
    rows.append(("Pull request", f"#{pull_request.number}"))
    data = {
        "stage": Stage.DONE,
        "holder": fence.agent,
        "attempts": fence.attempt,
        "pull_request": pull_request.number,
        "commit": pull_request.merge_sha or "",
        "cost_usd": None if usd is None else round(usd, 4),
    }
    return Status(f"Merged in #{pull_request.number}{commit}{told}.", tuple(rows), data)


def edited_since(fence: Fence, issue: Issue, names: Labels) -> str:
    """Return a note if the issue's text is not the one that was worked on last; empty if it is."""
    if fence.body_sha256 in {"", body_sha256(issue.title, issue.body)}:
        return ""
    return (
        "The issue was edited after the coder had finished. If something of the new text is missing, open the issue "
        f"again and set `{names.of(Stage.READY)}`."
    )


def _duration(taken: timedelta) -> str:
    """Return a duration in the unit that people would use."""
    minutes = max(round(taken.total_seconds() / 60), 0)
    if minutes < 1:
        return "less than a minute"
    if minutes < 120:
        return f"{minutes} min"
    hours = round(minutes / 60)
    return f"{hours} h" if hours < 48 else f"{round(hours / 24)} days"
