"""The board of a repository, folded from the data that was read (pure).

Labels and assignees for which the engine leaves an item, or its merge, to people: what they have to do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from console.status.decisions import Decision, latest_decision
from console.status.row import BoardSettings, ItemRow, RepositorySnapshot
from console.status.waiting import UNASKED, WaitingItem, last_word, merging, waiting
from shared.commands.command import Verb
from shared.commands.command_rules import OF_THE_ISSUE, fitting
from shared.lock.codec import ItemKey
from shared.lock.comment import read_ack
from shared.lock.fence import Fence
from shared.models import Issue
from shared.scheduling.order import assigned
from shared.specification import read
from shared.workflow import HALTED, TERMINAL, Role, Stage, Track
from shared.workflow.labels import HOLDING_OF_ISSUE, Flag, StageLabels
from worker_agent.intake.same_files import find_sharing

_ORDER = (Track.STORY, Track.SPECIFICATION, Track.PULL_REQUEST)

_WORKERS = HALTED | {Stage.READY, Stage.IMPLEMENTING, Stage.TESTING}
"""Stages of the worker's fence in which the pull request belongs to the worker."""


def rows(snapshot: RepositorySnapshot, settings: BoardSettings) -> tuple[ItemRow, ...]:
    """One row for each open item that the engine has to do with, what waits for a person first.

    Then stories, specifications and pull requests, each by number.
    """
    fold = _Fold(snapshot, settings)
    found = [row for issue in snapshot.issues if (row := fold.row(issue)) is not None]
    return tuple(sorted(found, key=lambda row: (not row.needs_a_person, _ORDER.index(row.track), row.number)))


def heads(snapshot: RepositorySnapshot, settings: BoardSettings) -> tuple[str, ...]:
    """The commits of open pull requests for whose checks the board asks: those that their fences name."""
    fold = _Fold(snapshot, settings)
    fences = (fold.fence_of(issue)[1] for issue in snapshot.issues if issue.is_pull_request)
    named = (fence for fence in fences if fence is not None and fence.stage not in TERMINAL)
    return tuple(dict.fromkeys(fence.work_head for fence in named if fence.work_head))


def claimed(snapshot: RepositorySnapshot, settings: BoardSettings) -> tuple[int, ...]:
    """Return the ids of the ACK comments of open items whose fences are not final: their agents may hold them."""
    fold = _Fold(snapshot, settings)
    fences = (fold.fence_of(issue)[1] for issue in snapshot.issues)
    return tuple(sorted({f.ack_id for f in fences if f is not None and f.ack_id and f.stage not in TERMINAL | HALTED}))


class _Fold:
    """One look at one repository."""

    def __init__(self, snapshot: RepositorySnapshot, settings: BoardSettings) -> None:
        self._seen = snapshot
        self._settings = settings
        self._open = {issue.number: issue for issue in snapshot.issues}
        workers = (fence for key, fence in snapshot.fences.items() if key.kind is Role.WORKER and fence.pr)
        self._of_pull: Mapping[int, Fence] = {fence.pr: fence for fence in workers}

    def row(self, issue: Issue) -> ItemRow | None:
        """The row of one open item; None for what is none of the engine's business."""
        labels = self._settings.names.read(issue.labels)
        track, fence = self.fence_of(issue, labels)
        if not (labels.story or labels.stages or labels.flags or (fence and fence.stage not in TERMINAL)):
            return None
        stage = _stage(labels, fence)
        holder, held_since = self._holder(fence)
        row = ItemRow(
            track=track,
            number=issue.number,
            title=issue.title,
            stage=stage,
            moved_at=fence.at if fence is not None else issue.updated_at,
            holder=holder,
            held_since=held_since,
            usd=None if self._seen.usd is None else self._seen.usd.get(f"#{issue.number}", 0.0),
            flags=tuple(flag for flag in Flag if flag in labels.flags),
            commands=fitting(
                track, stage, paused=Flag.PAUSED in labels.flags, without=self._without_effect(track, issue.number)
            ),
        )
        row = (
            self._of_pull_request(row, fence)
            if track is Track.PULL_REQUEST
            else self._of_issue(row, issue, fence, labels)
        )
        decision = self._decision(row, fence)
        given = decision.verb if decision is not None else None
        row = replace(row, commands=tuple(verb for verb in row.commands if verb is not given))
        standing = self._standing(row, issue, fence)
        return replace(
            row, waiting=waiting(replace(standing, decision=decision.summary if decision is not None else ""))
        )

    def _without_effect(self, track: Track, number: int) -> frozenset[Verb]:
        """Return the commands that the configuration leaves to people, or that need an issue of the engine's."""
        left = {
            Verb.MERGE: self._settings.merge == "never",
            Verb.APPROVE: track is Track.STORY and self._settings.at_terminal,
            **dict.fromkeys(OF_THE_ISSUE, track is Track.PULL_REQUEST and number not in self._of_pull),
        }
        return frozenset(verb for verb, is_left in left.items() if is_left)

    def _decision(self, row: ItemRow, fence: Fence | None) -> Decision | None:
        """Return the decision that a person has made since the fence asked for it."""
        if row.track is Track.STORY and self._settings.at_terminal:
            return None
        if row.stage is Stage.APPROVED and self._settings.merge == "never":
            return None
        return latest_decision(row.track, row.stage, fence, self._seen.comments)

    def fence_of(self, issue: Issue, labels: StageLabels | None = None) -> tuple[Track, Fence | None]:
        """Return the item's track, and the fence that holds its stage."""
        if issue.is_pull_request:
            working = self._of_pull.get(issue.number)
            if working is not None and working.stage in _WORKERS:
                return Track.PULL_REQUEST, working
            return Track.PULL_REQUEST, self._fence(Role.REVIEWER, issue.number) or working
        story = (labels or self._settings.names.read(issue.labels)).story
        if story:
            return Track.STORY, self._fence(Role.PLANNER, issue.number)
        return Track.SPECIFICATION, self._fence(Role.WORKER, issue.number)

    def _of_pull_request(self, row: ItemRow, fence: Fence | None) -> ItemRow:
        working = self._of_pull.get(row.number)
        return replace(
            row,
            issue=working.key.number if working is not None else 0,
            round=max((one.round for one in (working, fence) if one is not None), default=0),
            ci=self._seen.ci.get(fence.work_head) if fence is not None else None,
        )

    def _of_issue(self, row: ItemRow, issue: Issue, fence: Fence | None, labels: StageLabels) -> ItemRow:
        if row.track is Track.STORY:
            return row
        row = replace(row, story=read(issue.body).part_of or 0)
        if fence is None:
            return row
        row = replace(row, attempts=(fence.attempt, self._settings.max_attempts))
        if fence.pr not in self._open:
            return row
        stage = labels.stage if labels.stage not in {None, Stage.NEW} else fence.stage
        return replace(row, pull_request=fence.pr, stage=stage or fence.stage, holder="", held_since=None, commands=())

    def _standing(self, row: ItemRow, issue: Issue, fence: Fence | None) -> WaitingItem:
        beside = self._open.get(row.issue)
        word = self._word(fence)
        needed = self._needed_issues(row, issue) if row.track is Track.SPECIFICATION else ()
        return WaitingItem(
            track=row.track,
            stage=row.stage,
            at=self._seen.at,
            fence=fence,
            held=bool(row.holder),
            flags=row.flags,
            blockers={number for number in needed if number in self._open},
            related=issue.blocked_by,
            pull_request=row.pull_request,
            passed_over=self._passed_over(row, issue, beside, fence),
            merging=merging(self._settings.merge, unmerged(issue, beside, self._settings), row.ci, word),
            unasked=row.track is Track.PULL_REQUEST and word.get("why") in UNASKED,
            ours=bool(row.issue) or row.track is not Track.PULL_REQUEST,
        )

    def _needed_issues(self, row: ItemRow, issue: Issue) -> tuple[int, ...]:
        """Return the issues that come first: by the text, and before it is begun one that names the same files."""
        sharing = find_sharing(row.number, issue.files, self._seen.issues, self._settings.names)
        behind = (sharing.on,) if sharing is not None and row.stage is Stage.READY else ()
        return (*read(issue.body).depends_on, *behind)

    def _passed_over(self, row: ItemRow, issue: Issue, beside: Issue | None, fence: Fence | None) -> str:
        if row.stage is Stage.APPROVED and self._settings.merge == "never":
            return ""  # no agent has anything to do with it
        taken_up = fence is not None and fence.stage not in TERMINAL
        return passed_over(issue, beside, self._settings, begun=bool(row.pull_request), taken_up=taken_up)

    def _word(self, fence: Fence | None) -> Mapping[str, object]:
        """Return the reviewer's data about the commit that the fence names, from its status comment."""
        ack = self._seen.acks.get(fence.ack_id) if fence is not None else None
        return last_word(fence, self._seen.comments, ack.author.id) if fence is not None and ack is not None else {}

    def _holder(self, fence: Fence | None) -> tuple[str, datetime | None]:
        """Return the holder, and since when: nobody once the fence is released; else its agent, while that is fresh."""
        if fence is None or fence.free or fence.stage in TERMINAL:
            return "", None
        comment = self._seen.acks.get(fence.ack_id)
        ack = read_ack(comment) if comment is not None else None
        if fence.format == 1:
            live = comment is not None and ack is not None and ack.live(self._seen.at) and ack.nonce == fence.nonce
            return (fence.agent, comment.created_at) if live and comment is not None else ("", None)
        seen_at = max(fence.stamped, comment.updated_at if comment is not None else fence.stamped)
        if self._seen.at - seen_at >= self._settings.timeout:
            return "", None
        ours = ack is not None and ack.nonce == fence.nonce
        return fence.agent, datetime.fromtimestamp(ack.millis / 1000, UTC) if ack and ours else fence.at

    def _fence(self, kind: Role, number: int) -> Fence | None:
        return self._seen.fences.get(ItemKey(kind, number))


def _stage(labels: StageLabels, fence: Fence | None) -> Stage:
    """Return the fence's stage. After a final one it is the label's: somebody has set a label again."""
    shown = labels.stage
    if fence is None:
        return shown or Stage.NEW
    again = fence.stage in TERMINAL | HALTED and shown not in {None, Stage.NEW}
    return shown if again and shown is not None else fence.stage


def passed_over(
    item: Issue, issue: Issue | None, settings: BoardSettings, *, begun: bool, taken_up: bool = False
) -> str:
    """Return the person's step before any agent takes `item`; empty when none is needed.

    `issue` is the one that a pull request implements. `begun`: it has a pull request, so no label has to ask for it.
    `taken_up`: an agent has begun it, so it does not matter who is assigned.
    """
    if found := _among(item.labels, settings.exclude):
        return f"take the label '{found[0]}' off"
    if issue is not None and (found := _among(issue.labels, settings.exclude)):
        return f"take the label '{found[0]}' off #{issue.number}"
    if not taken_up and not item.is_pull_request and (told := _assigned_to_person(item, settings)):
        return told
    if item.draft:
        return "mark it as ready for review: it is a draft"
    if begun or item.is_pull_request or not settings.include or _among(item.labels, settings.include):
        return ""
    wanted = ", ".join(f"'{label}'" for label in settings.include)
    return f"give it the label {wanted}" if len(settings.include) == 1 else f"give it one of the labels {wanted}"


def _assigned_to_person(item: Issue, settings: BoardSettings) -> str:
    if settings.own is None:
        return ""
    own = {login.casefold() for login in settings.own}
    if settings.invited and settings.invited.casefold() in {one.login.casefold() for one in item.assignees}:
        return ""
    return assigned(item, lambda one: one.login.casefold() in own)


def unmerged(item: Issue, issue: Issue | None, settings: BoardSettings) -> str:
    """Return the person's step because labels bar the engine's merge, whatever is ordered; empty without any."""
    if found := _holding(item, Flag, settings):
        return f"merge it, or take '{found[0]}' off"
    if issue is not None and (found := _holding(issue, HOLDING_OF_ISSUE, settings)):
        return f"merge it, or take '{found[0]}' off #{issue.number}"
    return ""


def _holding(item: Issue, flags: Iterable[Flag], settings: BoardSettings) -> list[str]:
    return [*_among(item.labels, [settings.names.of(flag) for flag in flags]), *_among(item.labels, settings.barring)]


def _among(labels: Iterable[str], named: Collection[str]) -> list[str]:
    """Those of `labels` that are named; comparing ignores case, as GitHub does."""
    folded = {label.casefold() for label in named}
    return sorted(label for label in labels if label.casefold() in folded)
