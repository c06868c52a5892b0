"""The processing of people's commands: read, judged, carried out, and recorded in the status comment."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import structlog

from shared.commands.command import Command, Verb, asks_a_question, asks_for_work, consents, mentions
from shared.commands.command_reader import EDITED, CommandReader, NewCommands
from shared.commands.command_rules import (
    BY_CONFIGURATION,
    NOT_BEGUN,
    OF_THE_ISSUE,
    CommandRefused,
    Effect,
    Ruling,
    not_merged,
    offered,
    requested_backend,
    ruling,
)
from shared.commands.command_target import CommandTarget, CommandTargets
from shared.commands.discussion import read_until
from shared.commands.one_time_replies import Replies
from shared.commands.recovery import Case, Recovery
from shared.commands.text_unchanged import TextUnchanged
from shared.commands.untrusted_comments import ignored_entry
from shared.errors import Gone
from shared.github.ports import StatusBoard
from shared.github.pulls import issue_named_by
from shared.github.status import Status
from shared.lock.hold import Held
from shared.lock.write_permit import Notice, OperatorPermit
from shared.models import Comment, Issue
from shared.scheduling.agent_contract import Candidate, CandidateKind
from shared.text import one_line
from shared.workflow import HALTED, Role, Stage, Track
from shared.workflow.labels import Flag

log = structlog.get_logger()

APPROVE = "To approve this plan, please comment `/approve` on a line of its own. Nothing has been started yet."

LATE = "it arrived after the coder had finished"
"""Reason why a comment is not taken into account yet."""

LOGIN_CHARS = 60

UNREVIEWED = "it came after the approving review"
"""Reason why a comment on an approved pull request is not taken into account yet."""


@dataclass(frozen=True, slots=True)
class CommandProfile:
    """The settings of one kind of agent: its role, its check for edited texts, the backends that `/retry` may name."""

    role: Role
    text_unchanged: TextUnchanged
    backends: frozenset[str] = frozenset()
    login: str = ""
    """Login by which people mention the engine; empty if its account is a person's, mentioned for other reasons."""
    unavailable: frozenset[Verb] = frozenset()
    """Commands that the configuration leaves to people."""
    starts_by_mention: bool = False
    """True if a mention that asks nothing counts as `/start` on an issue that was never begun."""
    triage: bool = False
    """True if planners propose what to do with issues without a label."""
    answers: bool = False
    """True if planners answer questions, so that no question is answered with a list of commands."""


class CommandLoop:
    """The commands for one kind of agent in one repository."""

    def __init__(
        self,
        profile: CommandProfile,
        reader: CommandReader,
        targets: CommandTargets,
        recovery: Recovery,
        status: StatusBoard,
        replies: Replies,
    ) -> None:
        self._profile = profile
        self._role = profile.role
        self._reader = reader
        self._targets = targets
        self._recovery = recovery
        self._status = status
        self._replies = replies
        self._names = recovery.names

    def candidates(self, items: Mapping[int, Issue], busy: Collection[int]) -> Iterator[Candidate]:
        """Yield resting items with unread comments; the version holds the number of comments."""
        self._reader.forget_unlisted(items.keys())
        for item in items.values():
            number = self._number_of(item)
            if number not in busy and self._rests(item) and self._reader.has_news(item):
                version = f"{item.comments} in #{item.number} at {item.updated_at.isoformat()}"
                yield Candidate(number, version, kind=CandidateKind.COMMENT)

    def _number_of(self, item: Issue) -> int:
        """Return the number of the item that this kind of agent locks for a thread."""
        named = issue_named_by(item.body) if self._role is Role.WORKER and item.is_pull_request else None
        return named or item.number

    def _rests(self, item: Issue) -> bool:
        labels = self._names.read(item.labels)
        if self._role is Role.PLANNER:
            return labels.story
        if self._role is Role.REVIEWER:
            return item.is_pull_request
        resting = HALTED if item.is_pull_request else HALTED | {Stage.REVIEWING, Stage.READY, Stage.AWAITING_APPROVAL}
        return not labels.story and (bool(labels.stages & resting) or Flag.PAUSED in labels.flags or not labels.stages)

    def has_news(self, number: int, items: Mapping[int, Issue]) -> bool:
        """Return whether somebody may have given a command about an item; sends no request."""
        return any(self._number_of(one) == number and self._reader.has_news(one) for one in items.values())

    async def attend(self, number: int, items: Mapping[int, Issue], free: Callable[[], Awaitable[bool]]) -> str:
        """Carry out the commands in the item's own thread, and for a worker in that of its pull request.

        Returns what was done, or nothing; `free` tells whether nobody holds the item. Raises `Transient`, `Blocked`.
        """
        done: list[str] = []
        for item in tuple(items.values()):
            if self._number_of(item) == number and self._reader.has_news(item):
                done += await self._attend(item, free)
        return "; ".join(done)

    async def _attend(self, item: Issue, free: Callable[[], Awaitable[bool]]) -> list[str]:
        heard = await self._reader.hear(item, None)
        heard = replace(heard, talk=await self._reader.by_writers(heard.talk))
        track, shown = self._track(item), self._names.read(item.labels)
        stage = shown.stage or Stage.NEW
        orders = [
            one for one in heard.orders if one.verb is Verb.MERGE or self._rule_on(one, track, stage) != Effect.DECIDE
        ]
        if not (orders or heard.unknown or heard.ignored or heard.edited or heard.talk) and not shown.stages & HALTED:
            return []
        try:
            if await free():
                return await self._at_rest(item, heard)
            self._reader.forget(item.number)  # its holder answers, or once that is dead whoever looks next
            return []
        except Gone:
            return []
        except BaseException:
            self._reader.forget(item.number)
            raise

    async def _at_rest(self, item: Issue, before: NewCommands) -> list[str]:
        target = await self._targets.target(item.number)
        if target.owner is not self._role:
            return []
        done: list[str] = []
        if target.case.fence is not None and target.case.fence.stage is Stage.READY and self._is_halted(target):
            await self._recovery.show(target.case, OperatorPermit("finish what a command began"))
            done.append("labels follow a command")
        heard = await self._reader.hear(item, target.case.fence)
        calls = self._calls_to_start(before.talk, target)
        called = {one.comment_id for one in calls}
        talk = tuple(one for one in before.talk if one.id not in called)
        heard = replace(heard, orders=(*heard.orders, *calls), unknown=before.unknown, talk=talk)
        return done + await self._answer(heard, target)

    def _calls_to_start(self, talk: Sequence[Comment], target: CommandTarget) -> tuple[Command, ...]:
        """Return the first mention by a person with write access that asks for work, not a question, as `/start`."""
        if (
            not self._profile.starts_by_mention
            or target.track is not Track.SPECIFICATION
            or target.stage is not Stage.NEW
        ):
            return ()
        found = (one for one in talk if asks_for_work(one, self._profile.login))
        return tuple(Command(one.id, one.author, Verb.START, "", one.created_at) for one in islice(found, 1))

    def _track(self, item: Issue) -> Track:
        if item.is_pull_request:
            return Track.PULL_REQUEST
        return Track.STORY if self._role is Role.PLANNER else Track.SPECIFICATION

    def _is_halted(self, target: CommandTarget) -> bool:
        return bool(self._names.read(target.case.thread.labels).stages & HALTED)

    async def _answer(self, new_commands: NewCommands, target: CommandTarget) -> list[str]:
        """Carry out each command in turn; after one that moved something the item is read again."""
        number, entries, done = target.case.thread.number, refusals(new_commands), list[str]()
        for order in new_commands.orders:
            outcome, moved = await self._carry_out(order, target)
            if outcome:
                entries.append(entry(order, outcome))
            if moved:
                done.append(f"{order}: {outcome}")
                target = await self._targets.target(number)
        late = await self._late_comments(new_commands.talk, target)
        await self._note(number, entries, new_commands, late)
        without = (
            OF_THE_ISSUE if target.track is Track.PULL_REQUEST and target.case.issue is None else frozenset[Verb]()
        )
        await self._explain(number, new_commands, target.track, target.stage, without)
        return done

    def _rule_on(self, order: Command, track: Track, stage: Stage, *, edited: bool = False) -> Ruling:
        """Return the ruling on a command here; the configuration counts as well."""
        ruled = ruling(order.verb, track, stage, edited=edited, triage=self._profile.triage)
        here = order.verb in self._profile.unavailable and ruled is Effect.DECIDE
        return BY_CONFIGURATION[order.verb] if here else ruled

    async def _is_called(self, talk: Sequence[Comment]) -> bool:
        called = (one for one in talk if mentions(one.body, self._profile.login))
        meant = (one for one in called if not (self._profile.answers and asks_a_question(one, self._profile.login)))
        return bool(await self._reader.by_writers(meant))

    def _asks(self, stage: Stage) -> bool:
        return self._role is Role.PLANNER and stage in {Stage.PLANNING, Stage.AWAITING_APPROVAL}

    async def _late_comments(self, talk: Sequence[Comment], target: CommandTarget) -> list[dict[str, Any]]:
        """Return record entries for comments that no coder run will read by itself, with the way to get one."""
        fence = target.case.fence
        if fence is not None and target.stage is Stage.APPROVED and target.case.issue is not None:
            reason = f"{UNREVIEWED}: set `{self._names.of(Stage.CHANGES_REQUESTED)}` to have it worked on"
            new = [comment for comment in talk if comment.created_at > fence.at]
            return [ignored_entry(comment.id, reason) for comment in await self._reader.by_writers(new)]
        if self._role is not Role.WORKER or target.track is not Track.SPECIFICATION or fence is None:
            return []
        if target.stage is Stage.REVIEWING and fence.pr:
            reason = f"set `{self._names.of(Stage.CHANGES_REQUESTED)}` on #{fence.pr} to have it taken up"
        elif target.stage in HALTED:
            reason = "it is taken up when the work goes on"
        else:
            return []
        given = read_until(fence)
        new = [comment for comment in talk if comment.id > given]
        return [ignored_entry(comment.id, f"{LATE}: {reason}") for comment in await self._reader.by_writers(new)]

    async def _carry_out(self, order: Command, target: CommandTarget) -> tuple[str, bool]:
        """Return the outcome of a command and whether it moved anything; no outcome if its agent reads it itself."""
        ruled = self._rule_on(order, target.track, target.stage, edited=target.edited)
        if isinstance(ruled, CommandRefused):
            return ruled.sentence, False
        if ruled is Effect.DECIDE:
            merges = order.verb is Verb.MERGE
            return not_merged(await self._status.data(target.case.thread.number)) if merges else "", False
        backend = requested_backend(order.verb, order.text, self._profile.backends)
        if isinstance(backend, CommandRefused):
            return backend.sentence, False
        case = target.case_for(ruled)
        if case is None:
            return "it is not a pull request of this engine's making", False
        if backend and case.fence is None:
            return NOT_BEGUN, False
        if doubt := await self._profile.text_unchanged.doubt(order, ruled, case):
            return doubt, False
        if ruled is Effect.STOP:  # told before it is done: afterwards, the order would not be heard again
            number, label = case.thread.number, self._names.of(_leads_on(target))
            await self._status.revise(number, stopped(order.author.login, label), Notice(number, "commands"))
        if ruled is Effect.SPEC_REVIEW:
            await self._ask_for_correction(order, case)
        outcome = await self._recovery.carry_out(ruled, replace(case, backend=backend), OperatorPermit(str(order)))
        log.info("command_carried_out", outcome="completed", command=str(order), did=outcome)
        return outcome, True

    async def _ask_for_correction(self, order: Command, case: Case) -> None:
        """Say on the issue what is wanted there: whatever it says is about a pull request that is closed now."""
        issue, closed = case.issue or case.thread, case.under_way
        if closed is None:
            return
        told = correction_wanted(order.author.login, closed.number)
        if issue.number == case.thread.number:
            await self._status.revise(issue.number, told, Notice(issue.number, "commands"))
        else:  # where people look for the way on, and where a command is heard: not in a closed pull request
            said = f"{told.sentence}\n\n{told.notes}"
            await self._replies.once(issue.number, f"spec-review-{order.comment_id}", said)

    async def interruption(self, held: Held, items: Mapping[int, Issue]) -> str | None:
        """Return the `/pause` or `/stop` that ends work under way; other commands are refused in one sentence."""
        numbers = {held.fence.key.number, held.fence.pr} if self._role is Role.WORKER else {held.fence.key.number}
        for number in sorted(numbers - {0}):
            listed = items.get(number)
            if listed is not None and self._reader.has_news(listed):
                reason = await self._read_interruption(held, listed)
                if reason:
                    return reason
        return None

    async def _read_interruption(self, held: Held, listed: Issue) -> str | None:
        if listed.is_pull_request and self._role is Role.WORKER and not held.fence.round:
            return None  # it is heard when the work rests
        try:
            return await self._answer_holder(held, listed, await self._reader.hear(listed, held.fence, held=True))
        except BaseException:
            self._reader.forget(listed.number)
            raise

    async def _answer_holder(self, held: Held, listed: Issue, new_commands: NewCommands) -> str | None:
        entries, reason, track = refusals(new_commands), None, self._track(listed)
        for order in new_commands.orders:
            outcome, ends = await self._interrupt(order, listed, held)
            if outcome:
                entries.append(entry(order, outcome))
            reason = reason or (str(order) if ends else None)
        await self._note(listed.number, entries, new_commands)
        await self._explain(listed.number, new_commands, track, held.fence.stage)
        return reason

    async def _interrupt(self, order: Command, listed: Issue, held: Held) -> tuple[str, bool]:
        ruled = self._rule_on(order, self._track(listed), held.fence.stage)
        if isinstance(ruled, CommandRefused):
            return ruled.sentence, False
        if ruled not in {Effect.PAUSE, Effect.STOP}:
            return ("" if ruled is Effect.DECIDE else "it is being worked on"), False
        case = replace((await self._targets.target(listed.number)).case, fence=None)  # its holder ends it
        return await self._recovery.carry_out(ruled, case, OperatorPermit(str(order))), True

    async def _note(
        self,
        number: int,
        entries: Sequence[Mapping[str, Any]],
        new_commands: NewCommands,
        late: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        ignored = [*new_commands.ignored, *late]
        if entries or ignored:
            await self._status.note(number, Notice(number, "commands"), commands=entries, ignored=ignored)

    async def _explain(
        self,
        number: int,
        new_commands: NewCommands,
        track: Track,
        stage: Stage,
        without: frozenset[Verb] = frozenset(),
    ) -> None:
        """Point people who meant a command to it, once. A comment on a plan may be an answer even with a mention."""
        fits = offered(track, stage, without=self._profile.unavailable | without) or "No command works here now."
        if new_commands.unknown:
            word = one_line(new_commands.unknown[0].word, 30)
            await self._replies.once(number, "unknown-command", f"There is no command `/{word}`. {fits}")
        elif self._asks(stage):
            await self._hint(number, new_commands, stage)
        elif self._profile.login and await self._is_called(new_commands.talk):
            told = "Please begin a comment with a command to tell me what to do here."
            await self._replies.once(number, "mentioned", f"{told} {fits}")

    async def _hint(self, number: int, new_commands: NewCommands, stage: Stage) -> None:
        """Tell people whose words approve a plan, which has no effect, how to approve it."""
        ordered = any(order.verb in {Verb.APPROVE, Verb.REJECT, Verb.EDIT} for order in new_commands.orders)
        if stage is not Stage.AWAITING_APPROVAL or ordered:
            return
        if await self._reader.by_writers(one for one in new_commands.talk if consents(one.body)):
            how = BY_CONFIGURATION[Verb.APPROVE].sentence if Verb.APPROVE in self._profile.unavailable else APPROVE
            await self._replies.once(number, "approve-by-command", how)


def refusals(new_commands: NewCommands) -> list[dict[str, Any]]:
    """Return the record entries of commands that were given by editing a comment."""
    return [entry(order, EDITED) | {"id": name} for order, name in new_commands.edited]


def _leads_on(target: CommandTarget) -> Stage:
    """Return the stage whose label makes stopped work go on: every agent finds it, whenever the agent was started."""
    if target.track is Track.STORY:
        return Stage.PLANNING
    reviewed = target.track is Track.PULL_REQUEST or target.case.under_way is not None
    return Stage.REVIEWING if reviewed else Stage.READY


def stopped(login: str, label: str) -> Status:
    """Return the status of an item stopped at rest; it replaces whatever the item was said to wait for."""
    told = f"Stopped by {one_line(login, LOGIN_CHARS)}. To have it go on, set `{label}` here."
    return Status(told, data={"stage": Stage.WITHDRAWN, "waiting": {"why": "stopped by command"}})


def correction_wanted(login: str, pull_request: int) -> Status:
    """Return the status of an issue whose pull request was closed for its text to be corrected."""
    told = f"#{pull_request} was closed by `/{Verb.SPEC_REVIEW}` of {one_line(login, LOGIN_CHARS)}."
    todo = f"**What to do:** correct the text of this issue, then comment `/{Verb.CLOSE_AND_RESET}` here to start over."
    return Status(told, data={"stage": Stage.FAILED}, notes=todo)


def entry(order: Command, outcome: str) -> dict[str, Any]:
    """Return a command's entry in the record."""
    return {"id": order.comment_id, "by": order.author.login, "command": f"/{order.verb}", "outcome": outcome}
