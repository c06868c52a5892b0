"""Orders on issues that no agent follows yet: a comment there, an assignment to the engine, a start label.

Comments are found among the repository's newest ones, and are left to the command loop. The others are read as `/start`
by the person who gave them, and count once: a signal older than the last time that `status:ready` was set or removed,
or than the last move of the fence, has been answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import structlog

from shared.commands.command import Command, Verb, commands, mentions
from shared.commands.command_reader import LATE_SECONDS
from shared.commands.command_rules import Effect
from shared.commands.command_target import CommandTarget, CommandTargets
from shared.commands.one_time_replies import Replies, untrusted_label
from shared.commands.recovery import Recovery
from shared.commands.text_unchanged import TextUnchanged
from shared.commands.untrusted_comments import spoken
from shared.errors import Gone
from shared.github.ports import Comments, Inbox, Issues, People
from shared.lock.write_permit import OperatorPermit
from shared.models import Account, Assignment, Comment, Issue, LabelEvent
from shared.scheduling.agent_contract import Candidate, CandidateKind
from shared.scheduling.order import exclusion_reason
from shared.text import one_line
from shared.workflow import HALTED, TERMINAL, Role, Stage
from shared.workflow.labels import Flag, Labels, folded

log = structlog.get_logger()

EDITED_SINCE = (
    "The text of this issue may have been edited after the work was asked for: read it, then comment `/start` to begin."
)

_KEEPS_BACK = frozenset({Flag.PAUSED, Flag.SPEC_REVIEW_NEEDED})


class NewIssues:
    """Open items with comments and without a stage, as the list of changed items showed them last."""

    def __init__(self) -> None:
        self.commented: Mapping[int, Issue] = {}
        """Open items with comments, at any stage, as the list showed them last."""
        self._read: dict[int, int] = {}

    def note(self, listed: Iterable[Issue]) -> None:
        """Keep the items that the list shows; forget the items that it showed before."""
        self.commented = {one.number: one for one in listed if one.comments and one.open}
        self._read = {number: count for number, count in self._read.items() if number in self.commented}

    def unread(self, names: Labels) -> Mapping[int, Issue]:
        """Return those whose newest comments were not looked at."""
        new = {number: one for number, one in self.commented.items() if one.comments > self._read.get(number, 0)}
        return {number: one for number, one in new.items() if _is_new(names, one)}

    def were_read(self, issues: Mapping[int, Issue]) -> None:
        """Note that the comments counted in these issues have been looked at."""
        self._read |= {number: one.comments for number, one in issues.items()}


@dataclass(frozen=True, slots=True)
class StartSources:
    """Sources of the signals: events, comments, people's permissions and lists."""

    issues: Issues
    comments: Comments
    people: People
    new_issues: NewIssues
    lists: Inbox
    boot: Callable[[], float]
    """The boot clock in seconds."""
    role: Role = Role.WORKER
    """Kind of agent: the reviewer's items are pull requests, the worker's are issues."""


@dataclass(frozen=True, slots=True)
class StartRules:
    """Signals for work besides `status:ready`. Labels in any case; `assignee` is the engine's account, or None."""

    labels: frozenset[str] = frozenset()
    assignee: Account | None = None
    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    login: str = ""
    """Login by which people mention the engine; empty if its account is a person's."""

    def shown(self, item: Issue, names: Labels) -> bool:
        """Return whether an open issue without a stage shows a signal; its author and time are not known yet."""
        read = names.read(item.labels)
        if item.is_pull_request or not item.open or item.locked or read.stages or read.story:
            return False
        if read.flags & _KEEPS_BACK or exclusion_reason(item.labels, self.exclude):
            return False
        carried = folded(item.labels)
        if self.include and not carried & folded(self.include):
            return False
        return bool(carried & folded(self.labels)) or any(map(self.is_ours, item.assignees))

    def is_ours(self, account: Account) -> bool:
        """Return whether an assignment to this account begins the work."""
        return self.assignee is not None and account.id == self.assignee.id


@dataclass(frozen=True, slots=True)
class Signal:
    """A request for work: who asked, when (server time), and by which label; empty for an assignment."""

    actor: Account
    at: datetime
    label: str = ""

    def __str__(self) -> str:
        what = f"the label `{one_line(self.label, 60)}`" if self.label else "an assignment"
        return f"{what} by {one_line(self.actor.login, 60)}"


def newest(
    rules: StartRules, labels: Iterable[LabelEvent], assignments: Iterable[Assignment], ready: str
) -> Signal | None:
    """Return the newest signal, unless the label `ready` was set or removed since."""
    wanted, labels = folded(rules.labels), tuple(labels)
    found = [Signal(one.actor, one.at, one.label) for one in labels if one.added and one.label.casefold() in wanted]
    found += [Signal(one.actor, one.at) for one in assignments if rules.is_ours(one.assignee)]
    answered = max((one.at for one in labels if one.label.casefold() == ready.casefold()), default=None)
    last = max(found, key=lambda one: one.at, default=None)
    return last if last is not None and (answered is None or last.at > answered) else None


class StartSignals:
    """Carries out the signals of one repository's issues, for its workers."""

    def __init__(
        self,
        rules: StartRules,
        sources: StartSources,
        targets: CommandTargets,
        recovery: Recovery,
        answers: tuple[TextUnchanged, Replies],
    ) -> None:
        self._rules = rules
        self._sources = sources
        self._late: dict[int, tuple[int, float]] = {}
        """Issue -> number of its comments, and since when the newest comments have lacked one of them (boot clock)."""
        self._targets = targets
        self._recovery = recovery
        self._text_unchanged, self._replies = answers
        self._ready = recovery.names.of(Stage.READY)

    async def look(self) -> None:
        """Follow the issues on which somebody with write access has addressed the engine. Raises `Transient`."""
        unread = {
            n: one for n, one in self._sources.new_issues.unread(self._recovery.names).items() if self._concerns(one)
        }
        if not unread:
            return
        newest, followed = await self._sources.comments.newest(), set[int]()
        for comment in spoken(newest):
            issue = unread.get(comment.number)
            if issue is None or not self._is_order(comment):
                continue
            if (await self._sources.people.permission(comment.author.login)).may_write:
                self._sources.lists.follow(issue)
                followed.add(issue.number)
        self._late = {number: late for number, late in self._late.items() if number in unread}
        shown = Counter(one.number for one in newest)
        read = {n: one for n, one in unread.items() if n in followed or self._is_whole(one, shown[n])}
        self._sources.new_issues.were_read(read)

    def _is_whole(self, issue: Issue, shown: int) -> bool:
        """Return whether `shown` is all its comments, or the rest was waited for: a replica may be behind."""
        now, (count, since) = self._sources.boot(), self._late.get(issue.number, (0, 0.0))
        if count != issue.comments:
            since = now
            self._late[issue.number] = issue.comments, since
        return shown >= issue.comments or now - since >= LATE_SECONDS

    def _concerns(self, issue: Issue) -> bool:
        return (
            issue.is_pull_request == (self._sources.role is Role.REVIEWER)
            and issue.number not in self._sources.lists.known
        )

    def _is_order(self, comment: Comment) -> bool:
        called = bool(self._rules.login) and mentions(comment.body, self._rules.login)
        return called or any(one.verb is Verb.START for one in commands([comment]))

    def candidates(self, items: Mapping[int, Issue], busy: Collection[int]) -> Iterator[Candidate]:
        """Yield issues that show a signal; each is looked at once for each of its changes."""
        for item in items.values():
            if item.number not in busy and self._rules.shown(item, self._recovery.names):
                yield Candidate(item.number, item.updated_at.isoformat(), kind=CandidateKind.START_SIGNAL)

    async def attend(self, number: int, free: Callable[[], Awaitable[bool]]) -> str:
        """Begin the work that a new signal asks for; return what was done or nothing. Raises `Transient`, `Blocked`."""
        try:
            target = await self._targets.target(number)
        except Gone:
            return ""
        if target.owner is not Role.WORKER or not self._rules.shown(target.case.thread, self._recovery.names):
            return ""
        effect = _effect(target)
        signal = await self._signal(target) if effect is not None else None
        if effect is None or signal is None or not await free():
            return ""
        if not (await self._sources.people.permission(signal.actor.login)).may_write:
            if signal.label:
                await self._replies.once(number, *untrusted_label(signal.label, signal.actor.login))
            return ""
        order = Command(0, signal.actor, Verb.START, str(signal), signal.at)
        if await self._text_unchanged.doubt(order, effect, target.case):
            await self._replies.once(number, "edited-before-start", EDITED_SINCE)
            return ""
        done = await self._recovery.carry_out(effect, target.case, OperatorPermit(str(signal)))
        log.info("start_signal_carried_out", outcome="completed", signal=str(signal), did=done)
        return f"{signal}: {done}"

    async def _signal(self, target: CommandTarget) -> Signal | None:
        number, fence = target.case.thread.number, target.case.fence
        labels = await self._sources.issues.label_events(number)
        assignments = await self._sources.issues.assignments(number) if self._rules.assignee is not None else ()
        found = newest(self._rules, labels, assignments, self._ready)
        return found if found is not None and (fence is None or found.at > fence.at) else None


def _effect(target: CommandTarget) -> Effect | None:
    """Return the effect of a signal on an issue without a stage; None if its labels lag behind its fence."""
    fence = target.case.fence
    if fence is None:
        return Effect.START
    return Effect.RETRY if fence.stage in HALTED | TERMINAL else None


def _is_new(names: Labels, issue: Issue) -> bool:
    read = names.read(issue.labels)
    return not read.stages and not read.story
