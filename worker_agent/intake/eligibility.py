"""The conditions of a claim: something to begin, no open blocker, a label set by a trusted account.

What is eligible may still be put off: by the configuration, a ceiling, the role that has the next step, or, if it waits
for a red base to be green again, by that. New work begins on a red base as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from shared.commands.command import Verb, commands
from shared.commands.one_time_replies import UnexplainedLabels, untrusted_label
from shared.git.names import issue_of_branch
from shared.github.ports import Comments
from shared.lock.claim import Intent
from shared.lock.fence import Fence
from shared.lock.write_permit import Notice
from shared.models import Account, Issue, LabelEvent, PullRequest
from shared.newest import Newest
from shared.scheduling.agent_contract import Candidate, Skip
from shared.scheduling.order import assigned, exclusion_reason
from shared.workflow import TERMINAL, UNLABELLED, Stage
from shared.workflow.labels import Flag, Labels
from worker_agent import comments
from worker_agent.ci.ci_reader import CiReader
from worker_agent.decide import WORKING, NextStep
from worker_agent.intake import intake_comments
from worker_agent.intake.blockers import Blockers
from worker_agent.intake.intents import UNAPPROVED, Cause, asked_in_vain, cause, find_intent, opened_again, urged
from worker_agent.intake.requests import Requests
from worker_agent.intake.same_files import SameFiles
from worker_agent.intake.trusted_accounts import OtherAccounts, TrustedWriters
from worker_agent.policy import Policy
from worker_agent.ports import Forge

_ANSWERS = {Verb.APPROVE: NextStep.CONFIRMED, Verb.REJECT: NextStep.DECLINED}

WAITS = "its refactoring waits for /approve or /reject by somebody with write access"
"""The reason to leave an issue alone whose refactoring nobody has answered yet."""


class Eligibility:
    """Checks the conditions of a claim. Refusals cost no paid call, and are posted only if nothing else shows why."""

    def __init__(
        self,
        forge: Forge,
        writers: TrustedWriters,
        other_accounts: OtherAccounts,
        requests: Requests,
        ci_reader: CiReader,
        policy: Policy,
    ) -> None:
        self._forge = forge
        self._writers = writers
        self._policy = policy
        self._other_accounts = other_accounts
        self._requests = requests
        self._ci_reader = ci_reader
        self._answered: Newest[int, None] = Newest()
        self._unexplained = UnexplainedLabels(forge.replies)
        self.blockers = Blockers(forge.issues, forge.inbox)
        self._same_files = SameFiles(policy.names, policy.intake.priorities)

    async def look(self, known: Mapping[int, Issue]) -> None:
        """Look whether blockers of issues were closed. Raises `Transient`."""
        self._same_files.look(known)
        await self.blockers.look(known)

    def times_freed(self, number: int) -> int:
        """Return how often an issue that this one waited for was closed or left."""
        return self.blockers.times_freed(number) + self._same_files.times_freed(number)

    def taken(self, number: int) -> None:
        """Record that another agent holds this issue: it begins, whatever lists show."""
        self._same_files.note_start(number, begins=True)

    async def intent(self, candidate: Candidate, issue: Issue, fence: Fence | None) -> Intent | Skip | str:
        """Return the work that a claim of this candidate, read as `issue`, would begin, or why it is not claimed."""
        intent = await self._intent(candidate, issue, fence)
        self._same_files.note_start(candidate.number, begins=not isinstance(intent, str))
        return intent if isinstance(intent, str) else await self._put_off(candidate.number, intent, fence) or intent

    async def _put_off(self, number: int, intent: Intent, fence: Fence | None) -> Skip | str:
        """Return why eligible work cannot begin now, or is for an agent of another role; empty if it can begin here."""
        resting = await self._ci_reader.skip_while_base_is_red(intent, fence)
        resting = resting or self._forge.unusable.skip(number, intent)
        resting = resting or self._forge.refused_branches.skip(number, intent)
        if resting is None and intent.phase == NextStep.RED and (fence is None or fence.stage not in WORKING):
            resting = await self._forge.ceilings.skip(number)
        return resting or self._policy.runs.refusal(intent, fence)

    async def _intent(self, candidate: Candidate, issue: Issue, fence: Fence | None) -> Intent | str:
        barred = exclusion_reason(issue.labels, self._policy.intake.exclude)  # the list may be older than this reading
        if left := barred or self._assignee_reason(issue, fence):
            return left
        pull_request = await self._pull_request(candidate, fence)
        if fence is not None and fence.round and pull_request is not None and self._is_paused(pull_request):
            return f"#{pull_request.number} is paused"
        said = await approval_intent(issue, fence, self._forge.comments, self._writers, self._policy.names)
        if said is not None:
            return said
        intent = find_intent(issue, pull_request, fence, self._policy, self._other_accounts.keys)
        if isinstance(intent, str):
            await self._tell(issue, pull_request, fence)
            return intent
        label = cause(intent, issue, pull_request, fence, self._policy.names)
        if label is None:
            again = urged(issue, pull_request, fence, self._policy.names)
            if again is None or fence is None or await self._refusal(again, issue, fence):
                return intent
            return replace(intent, attempt=fence.attempt)  # a new order: neither the wait nor its failures count
        blocker = await self.blockers.first(issue)
        circle = await self.blockers.circle(issue, blocker) if blocker is not None else ()
        if blocker is not None and not circle:
            return f"blocked by {blocker}"
        intent = await self._requests.refined(intent, issue, pull_request, fence)
        refusal = await self._refusal(label, issue, fence, intent)
        if blocker is None or refusal:
            return refusal or await self._wait_for_files(issue, intent) or intent
        told = intake_comments.cycle_status(circle)
        await self._forge.status.show(issue.number, told, Notice(issue.number, "circular"))
        return f"blocked by {blocker}, which depends on it"

    def _is_paused(self, pull_request: PullRequest) -> bool:
        return pull_request.open and Flag.PAUSED in self._policy.names.read(pull_request.labels).flags

    async def _wait_for_files(self, issue: Issue, intent: Intent) -> str:
        """Return why new work on an issue waits for another issue; posted once, as the text does not show it."""
        found = self._same_files.first(issue) if intent.phase == NextStep.RED else None
        if found is None:
            return ""
        sharing, is_news = found
        if is_news:
            await self._forge.status.show(
                issue.number, intake_comments.waiting_status(sharing), Notice(issue.number, "same files")
            )
        return f"#{sharing.on} names the same files"

    def _assignee_reason(self, issue: Issue, fence: Fence | None) -> str:
        """Return why an issue is left to its assignee. Work that has begun goes on: a person stops it by its label."""
        intake = self._policy.intake
        if intake.take_assigned or (fence is not None and fence.stage not in TERMINAL):
            return ""
        if intake.starts_assigned and any(map(self._writers.is_engine, issue.assignees)):
            return ""
        return assigned(issue, lambda one: self._writers.is_engine(one) or one.login == intake.assign)

    async def _tell(self, issue: Issue, pull_request: PullRequest | None, fence: Fence | None) -> None:
        """Post once how to continue stopped work that was asked for by the wrong label."""
        names = self._policy.names
        if pull_request is not None and opened_again(issue, pull_request, fence, names):
            await self._tell_of_opening(pull_request)
        asked = asked_in_vain(issue, pull_request, fence, names)
        if asked is None or fence is None or pull_request is None:
            return
        newest = self._newest(await self._forge.issues.label_events(issue.number), asked.stages)
        if newest is None or await self._distrust(newest.actor):
            return
        told = comments.ready_in_vain(fence, names, pull_request)
        await self._forge.status.show(issue.number, told, Notice(issue.number, "ready in vain"))

    async def _tell_of_opening(self, pull_request: PullRequest) -> None:
        """Reply once to a reopened pull request with the label that continues it; reads the thread once per process."""
        if pull_request.number not in self._answered:
            text = comments.opened_again(self._policy.names)
            await self._forge.replies.once(pull_request.number, "opened-again", text)
            self._answered[pull_request.number] = None

    async def _pull_request(self, candidate: Candidate, fence: Fence | None) -> PullRequest | None:
        number = (fence.pr if fence else 0) or candidate.pull_request
        if not number:
            return None
        found = await self._forge.pulls.pull_request(number)
        return found if issue_of_branch(found.head_branch) == candidate.number else None

    async def _refusal(self, label: Cause, issue: Issue, fence: Fence | None, intent: Intent | None = None) -> str:
        """Return why the label does not count: it is untrusted, or older than a stop. Empty if it counts."""
        if fence is None and issue.untouched and not await self._distrust(issue.author):
            return ""
        events = await self._forge.issues.label_events(label.number)
        newest = self._newest(events, label.stages)
        known = newest is not None and await self._other_accounts.asks(newest.actor, label, issue)
        refused = "" if known else await self._distrust(newest.actor if newest else None)
        if refused and newest is not None:
            await self._answer_stranger(label.number, newest)
        if newest is None and fence is None:
            await self._unexplained.look(issue, [self._policy.names.of(stage) for stage in label.stages])
        if refused or newest is None:
            return refused
        if fence is not None and fence.stage is Stage.WITHDRAWN and newest.at < fence.at:
            afresh = Stage.READY in label.stages and self._is_afresh(events, fence)
            if not afresh:
                return "a person stopped it after the label was set"
        return "" if intent is None else await self._doubt_text(issue, fence, intent, newest, label.number)

    async def _doubt_text(
        self, issue: Issue, fence: Fence | None, intent: Intent, asked: LabelEvent, asked_on: int
    ) -> str:
        """Return why the text that `intent` would be bound to may not be the one that a person saw; posted once.

        `asked` set the label, on the thread `asked_on`. An edit by a person with write access needs no approval.
        """
        known = {"", UNAPPROVED, fence.body_sha256 if fence else ""}
        if intent.body_sha256 in known or self._forge.texts.stood(issue, asked.at):
            return ""
        if self._writers.is_engine(issue.author) or await self._writers.may_order(issue.author):
            return ""
        told = intake_comments.doubtful(asked.label, issue, asked_on)
        await self._forge.status.show(issue.number, told, Notice(issue.number, "wording"))
        return told.sentence

    def _is_afresh(self, events: Sequence[LabelEvent], stopped: Fence) -> bool:
        """Return whether `ready` was set in place of the label that showed the stopped work.

        A label that is older, or removed since, asked for the work that was stopped: a reading that shows it is stale.
        """
        others = frozenset(Stage) - UNLABELLED - {Stage.READY}
        moves = [e for e in events if self._names(e, {Stage.READY}) or (e.added and self._names(e, others))]
        if not moves or not moves[-1].added or self._names(moves[-1], others):
            return False
        before = self._newest(moves, others)
        return before is not None and self._names(before, {Stage.REVIEWING} if stopped.round else WORKING)

    def _newest(self, events: Sequence[LabelEvent], stages: Collection[Stage]) -> LabelEvent | None:
        """Return the newest event that set one of these labels."""
        return next((event for event in reversed(events) if event.added and self._names(event, stages)), None)

    def _names(self, event: LabelEvent, stages: Collection[Stage]) -> bool:
        return event.label.casefold() in {self._policy.names.of(stage).casefold() for stage in stages}

    async def _answer_stranger(self, number: int, event: LabelEvent) -> None:
        """Reply once that an untrusted label starts nothing; this process reads the thread once for that."""
        if number not in self._answered:
            await self._forge.replies.once(number, *untrusted_label(event.label, event.actor.login))
            self._answered[number] = None

    async def _distrust(self, actor: Account | None) -> str:
        """Return why a label by `actor` (None: unknown) starts nothing; empty if the actor is trusted."""
        trusted = actor is not None and await self._writers.may_order(actor)
        return "" if trusted else "the label was not set by somebody with write access"


async def approval_intent(
    issue: Issue, fence: Fence | None, threads: Comments, writers: TrustedWriters, names: Labels
) -> Intent | str | None:
    """Return the work that a person's answer on a waiting refactoring continues, or why it still waits.

    The newest trusted command decides: `/approve` takes the refactoring, `/reject` goes on without it. None if no
    refactoring of this issue waits.
    """
    labels = names.read(issue.labels)
    if fence is None or fence.stage is not Stage.AWAITING_APPROVAL or labels.stages != {fence.stage}:
        return None
    if not issue.open or issue.locked or Flag.PAUSED in labels.flags:
        return None
    if fence.phase in set(_ANSWERS.values()):  # said already, and not carried out
        return Intent(fence.stage, fence.phase)
    since = [one for one in await threads.thread(issue.number) if one.created_at >= fence.at]
    for command in reversed(commands(since)):
        if command.verb in _ANSWERS and await writers.may_order(command.author):
            return Intent(fence.stage, _ANSWERS[command.verb], approved_by=command.author.login)
    return WAITS
