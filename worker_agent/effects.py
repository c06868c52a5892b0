"""The worker's effects on GitHub: labels that follow the fence, handing over, giving up, the ends."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta

import structlog

from shared.ci.ci_round import NO_READING, UNCHECKED_RED, CiObservation
from shared.ci.verdict import CiVerdict
from shared.errors import Blocked, Misconfigured, Unexplained
from shared.github.label_board import WantedLabels
from shared.github.status import Status
from shared.lock.fence import Fence, FenceChange, Wait
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from shared.models import Issue, PullRequest
from shared.reconcile.start_label import StartLabel
from shared.scheduling.agent_contract import Ended, Result
from shared.specification import body_sha256
from shared.workflow import HALTED, Event, Stage, Track, move
from shared.workflow.labels import Flag, overcome
from worker_agent import comments
from worker_agent.attempt_history import AttemptHistory
from worker_agent.branch.history import History
from worker_agent.ci import ci_comments
from worker_agent.decide import HANDS_OVER, LATE, UNCHECKED, WORKING, Action, NextStep, Snapshot
from worker_agent.expected_labels import expected_labels, of_pull_request
from worker_agent.feedback.status_text import Ignored, with_ignored
from worker_agent.intake.unusable_configuration import AGAIN, WAIT
from worker_agent.policy import Policy
from worker_agent.ports import Forge
from worker_agent.titles import Titles

log = structlog.get_logger()

CLOCK = timedelta(seconds=2)
"""Tolerance for event times before our request: GitHub dates them in whole seconds, by a slightly different clock."""


class Effects:
    """The worker's effects on issues and pull requests; every one is convergent."""

    def __init__(self, forge: Forge, policy: Policy, attempts: AttemptHistory, history: History) -> None:
        self._forge = forge
        self._policy = policy
        self._attempts = attempts
        self._history = history
        self._start_label = StartLabel(forge.issues, forge.labels, policy.names)
        self.titles = Titles(forge.issues, shown=policy.intake.title_attempts)

    async def show_labels(
        self, held: Held, issue: Issue, pull_request: PullRequest | None, *, fresh: bool = False
    ) -> Issue:
        """Make the stage labels follow the fence; return the issue with the labels that are there then.

        `fresh`: this very step moved the fence, so no reviewer can have set a label yet.

        The issue's labels are set last: by them the rest is found again after a crash. If the start was called off
        meanwhile, no stage label of ours is set; a missing label looks like an order to stop.
        """
        wanted = expected_labels(held.fence)
        stage = wanted.pull_request if fresh else self._stage_of(held, pull_request)
        flags_off = self._flags_off(held.fence, issue, issue)
        shown = []
        if pull_request is not None and stage is not None:
            off = flags_off or self._flags_off(held.fence, pull_request, issue)
            shown.append(WantedLabels(pull_request.number, stage, pull_request.labels, flags_off=off))
        if wanted.issue is Stage.IMPLEMENTING:
            await self._forge.labels.show_all(shown, held)
            shown = []
            begun = await self._start_label.label(held, issue, self._policy.names.of(Stage.READY), wanted.issue)
            if begun is None:
                return replace(issue, labels=frozenset())
            issue = begun
        if wanted.issue is not None:
            shown.append(WantedLabels(issue.number, wanted.issue, issue.labels, flags_off=flags_off))
        labels = await self._forge.labels.show_all(shown, held)
        return issue if wanted.issue is None else replace(issue, labels=labels[-1])

    async def show_opened_labels(
        self, held: Held, issue: Issue, opened: PullRequest, other_labels: Collection[str]
    ) -> Issue:
        """Show the issue's stage and the `other_labels` of its pull request, just opened, in one request.

        Return the issue with the labels that are there then: without a stage of ours if a person has removed the one
        that it had when the opening began, which is an order to stop.
        """
        stage, missing = expected_labels(held.fence).issue, set(other_labels) - opened.labels
        wanted = [WantedLabels(opened.number, Stage.NEW, opened.labels, other_labels=tuple(sorted(missing)))]
        if stage is None:
            await self._forge.labels.show_all(wanted, held)
            return issue
        flags_off, had = self._flags_off(held.fence, issue, issue), self._policy.names.read(issue.labels).stages
        old = self._policy.names.of(next(iter(had))) if len(had) == 1 and stage not in had else ""
        wanted.append(WantedLabels(issue.number, stage, issue.labels, flags_off=flags_off, instead_of=old))
        begun = held.server_now() - CLOCK
        labels = (await self._forge.labels.show_all(wanted, held))[-1]
        if old and stage not in self._policy.names.read(labels).stages:
            log.info("stage_not_shown", outcome="skipped", label=old)
            # A request that was refused for the pull request alone may have changed the issue all the same.
            if await self._start_label.was_us(held, issue.number, old, since=begun):
                labels = await self._forge.labels.show(issue.number, stage, held, known=labels, flags_off=flags_off)
        return replace(issue, labels=labels)

    def _flags_off(self, fence: Fence, item: Issue | PullRequest, issue: Issue) -> tuple[Flag, ...]:
        """Return the flags to remove with the first labels of work that a person continued after it was given up.

        The label of that end, or the one that asks for a start, is there as long as this is not finished.
        """
        asked = self._policy.names.read(item.labels).stages & (HALTED | {Stage.READY})
        return overcome(self._policy.names.read(issue.labels).flags) if asked and fence.stage in WORKING else ()

    def _stage_of(self, held: Held, pull_request: PullRequest | None) -> Stage | None:
        shown = self._policy.names.read(pull_request.labels).stages if pull_request is not None else frozenset()
        return of_pull_request(held.fence, shown)

    async def hand_over(self, held: Held, snapshot: Snapshot, *, checked: bool) -> Ended:
        """Hand the item to review: move the fence, post the status, set labels; after a crash, a claim finishes it."""
        event = Event.CI_PASSED if checked else Event.CI_OVERDUE
        fresh = held.fence.stage is Stage.TESTING
        if fresh:
            late = UNCHECKED_RED if snapshot.checks is CiVerdict.RED else UNCHECKED
            stage = move(_track(held), Stage.TESTING, event).to
            await advance(held, FenceChange(stage=stage, phase="" if checked else late))
            await self._announce(held, snapshot.ci)
        await self.show_labels(held, snapshot.issue, snapshot.pull_request, fresh=fresh)
        return Ended(Result.HANDED_OVER, f"pull request #{held.fence.pr} waits for review")

    async def post_missing_status(self, held: Held, action: Action, pull_request: PullRequest | None) -> None:
        """Post the status of an item whose fence has moved already, before the labels show it.

        The agent that moved the fence may have crashed before posting; the lagging label finds such items. An item that
        a reviewer has taken up was announced before.
        """
        if held.fence.stage in HALTED:
            await self._post_halt(held)
        elif held.fence.stage is Stage.REVIEWING and action in HANDS_OVER and self._stage_of(held, pull_request):
            await self._announce(held)

    async def _announce(self, held: Held, ci: CiObservation = NO_READING) -> None:
        if self._policy.pulls.reviewers and not held.fence.round:
            await self._ask_reviewers(held)
        told = ci_comments.overdue(held.fence, ci) if held.fence.phase in LATE else comments.handed_over(held.fence)
        status = with_ignored(told, held.memory.take(Ignored) or ())
        await self._forge.status.show(held.fence.key.number, status, held)

    async def _ask_reviewers(self, held: Held) -> None:
        """Request the configured reviewers; only log a refusal (GitHub answers 422 for strangers and the author)."""
        try:
            await self._forge.pulls.request_reviewers(held.fence.pr, self._policy.pulls.reviewers, held)
        except Blocked as error:
            log.warning(
                "reviewers_not_asked", outcome="skipped", reviewers=self._policy.pulls.reviewers, error=str(error)
            )

    async def _post_halt(self, held: Held) -> None:
        """Post that the item halted, if the agent that gave it up crashed before it posted that."""
        number = held.fence.key.number
        if (await self._forge.status.data(number)).get("stage") == held.fence.stage:
            return
        await self._forge.status.show(number, await self._given_up(held.fence, Unexplained()), held)
        issue = await self._forge.issues.issue(number)
        stage, flag = held.fence.stage, Flag.MANUAL_INTERVENTION
        await self._forge.labels.show(number, stage, held, known=issue.labels, flags_on=(flag,))

    async def repair(self, held: Held, snapshot: Snapshot) -> None:
        """Move back to implementing, so that the next step repairs the red CI."""
        await advance(
            held, FenceChange(stage=move(_track(held), held.fence.stage, Event.CI_BROKE).to, phase=NextStep.FIX)
        )
        await self._forge.status.show(held.fence.key.number, ci_comments.red(held.fence, snapshot.ci), held)

    async def take_up_edit(self, held: Held, issue: Issue) -> None:
        """Bind the work to the issue's text as a person with write access edited it, and post that."""
        await advance(held, FenceChange(body_sha256=body_sha256(issue.title, issue.body)))
        await self._forge.status.show(issue.number, comments.edited(held.fence), held)

    async def give_up(
        self, held: Held, error: Blocked, flags: Collection[Flag], *, event: Event = Event.GAVE_UP
    ) -> None:
        """Hand the item to a person: fence, labels and flags, and one comment that says what was kept."""
        number = held.fence.key.number
        if held.fence.stage in WORKING:
            await advance(held, FenceChange(stage=move(_track(held), held.fence.stage, event).to))
        issue = await self._forge.issues.issue(number)
        pull_request = await self._forge.pulls.pull_request(held.fence.pr) if held.fence.pr else None
        await self._forge.status.show(number, await self._given_up(held.fence, error), held)
        await self.titles.show(held, issue)
        items = [one for one in (pull_request, issue) if one is not None]
        # The issue's label last: until it is set, a crash is made good.
        wanted = [WantedLabels(one.number, held.fence.stage, one.labels, flags_on=tuple(flags)) for one in items]
        await self._forge.labels.show_all(wanted, held)
        await self._unassign(held)

    async def _given_up(self, fence: Fence, error: Blocked) -> Status:
        return comments.given_up(
            fence, error, _kept_work(fence), self._policy.names, await self._attempts.before(fence)
        )

    async def pass_on(self, held: Held, role: str) -> Ended:
        """Name the next step's role in the fence and release the item; an agent with that role continues from there."""
        await advance(held, FenceChange(next_role=role))
        await self._forge.status.show(held.fence.key.number, comments.passed_on(held.fence), held)
        return Ended(Result.HANDED_OVER, f"the next step is for the role {role}")

    async def wait_for(self, held: Held, sentence: str) -> None:
        """Post until when the item waits; any agent may continue it then."""
        await self._forge.status.show(held.fence.key.number, comments.waiting(held.fence, sentence), held)

    async def hold_off(self, held: Held, error: Misconfigured) -> Ended:
        """Let the issue wait while the configuration lets nothing begin; any agent may begin it then."""
        wait = Wait(WAIT, held.server_now() + AGAIN)
        await advance(held, FenceChange(wait=wait, paid_runs=0))
        await self._forge.status.show(held.fence.key.number, comments.unusable(held.fence, error), held)
        return Ended(Result.PARKED, f"the configuration lets nothing begin: {error}")

    async def pause(self, held: Held) -> None:
        """Post that a person paused the item: its stage stays, so that work continues when the flag is removed."""
        await self._forge.status.show(held.fence.key.number, comments.paused(held.fence), held)

    async def withdraw(self, held: Held, seen: Snapshot, reason: str) -> Ended:
        """End the work because a person ended it: the fence records that, the branch stays."""
        names = self._policy.names
        told = comments.withdrawn(
            _withdrawn(held),
            reason,
            names,
            pull_request=seen.pull_request,
            issue=seen.issue,
            remains=await self._history.exists(held.fence),
        )
        await self.titles.show(held, seen.issue)
        return await self._withdraw(held, seen, told, reason)

    async def leave(self, held: Held, seen: Snapshot) -> Ended:
        """End the work because its item was closed; if only the pull request was, ask people how to continue."""
        if not seen.issue.open or seen.issue.locked:
            ended = "locked" if seen.issue.open else "closed"
            return await self.withdraw(held, seen, f"the issue was {ended}")
        remains = await self._history.exists(held.fence)
        told = comments.pull_request_closed(_withdrawn(held), self._policy.names, remains=remains)
        return await self._withdraw(held, seen, told, f"pull request #{held.fence.pr} was closed without being merged")

    async def _withdraw(self, held: Held, seen: Snapshot, status: Status, reason: str) -> Ended:
        """Post the comment and update the labels, then move the fence: after its end no agent looks at the item."""
        await self._forge.status.show(held.fence.key.number, status, held)
        for item in (seen.pull_request, seen.issue):
            if item is not None and (not item.open or seen.issue.locked):
                await self._forge.closing.unlabel(item, held)
        await self._unassign(held)
        if held.fence.stage is not Stage.WITHDRAWN:
            await advance(held, FenceChange(stage=Stage.WITHDRAWN))
        return Ended(Result.WITHDRAWN, reason)

    async def finish(self, held: Held, seen: Snapshot) -> Ended:
        """Close the issue of a merged pull request if GitHub did not, then write a tombstone into the fence.

        In this order, because no agent looks at an open issue whose fence has ended.
        """
        pull_request, default = seen.pull_request, self._policy.default_branch
        if seen.issue.open and pull_request is not None and pull_request.base_branch != default:
            await self._forge.issues.close(seen.issue.number, held)
        if pull_request is not None:
            await self._forge.closing.merged(held.fence, pull_request, held)
        await advance(held, FenceChange(stage=Stage.DONE))
        return Ended(Result.FINISHED, f"pull request #{held.fence.pr} is merged")

    async def assign(self, held: Held) -> None:
        """Assign the issue to the configured person."""
        if self._policy.intake.assign:
            await self._forge.issues.assign(held.fence.key.number, self._policy.intake.assign, held)

    async def _unassign(self, held: Held) -> None:
        if self._policy.intake.assign:
            await self._forge.issues.unassign(held.fence.key.number, self._policy.intake.assign, held)


def _track(held: Held) -> Track:
    return Track.PULL_REQUEST if held.fence.round else Track.SPECIFICATION


def _withdrawn(held: Held) -> Fence:
    """Return the fence with the stage that it is about to get."""
    return replace(held.fence, stage=Stage.WITHDRAWN)


def _kept_work(fence: Fence) -> str:
    if fence.pr:
        return f"branch `{comments.branch(fence)}` and #{fence.pr}"
    if fence.work_head:
        return f"commit {fence.work_head[:12]} in `{fence.key.ref}` (`git fetch origin {fence.key.ref}`)"
    return "nothing was written yet"
