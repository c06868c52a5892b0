"""The item that a command is about: the thread's track and stage, the fence that decides the stage, related items."""

from __future__ import annotations

from dataclasses import dataclass, replace

from shared.commands.command_rules import Effect
from shared.commands.recovery import Case
from shared.errors import Gone
from shared.git.names import issue_of_branch
from shared.github.ports import Issues, Pulls
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.port import Port, ReadFence
from shared.models import Issue
from shared.specification import body_sha256
from shared.workflow import HALTED, Role, Stage, Track
from shared.workflow.labels import Labels

_WORKERS = HALTED | {Stage.READY, Stage.IMPLEMENTING, Stage.TESTING}
"""Stages of the worker's fence at which a pull request is the worker's concern."""

_OF_THE_ISSUE = frozenset({Effect.SPEC_REVIEW, Effect.CLOSE_AND_RESET})
"""Effects of a command on a pull request that concern its issue."""


@dataclass(frozen=True, slots=True)
class CommandTarget:
    """A thread as commands see it. `owner` is the kind of agent whose fence, if there is one, decides the stage."""

    case: Case
    track: Track
    stage: Stage
    owner: Role
    of_issue: Fence | None = None
    """The worker's fence, if the thread is a pull request."""

    @property
    def edited(self) -> bool:
        """True if the text of an issue is not the one that its fence is bound to."""
        fence, issue = self.case.fence, self.case.issue
        if fence is None or issue is None or self.track is not Track.SPECIFICATION:
            return False
        return fence.body_sha256 not in {"", body_sha256(issue.title, issue.body)}

    def case_for(self, effect: Effect) -> Case | None:
        """Return the case that `effect` concerns; None if it needs the issue of a pull request and there is none."""
        if self.track is not Track.PULL_REQUEST or effect not in _OF_THE_ISSUE:
            return self.case
        return None if self.case.issue is None else replace(self.case, fence=self.of_issue)


class CommandTargets:
    """Reads the item that a command is about."""

    def __init__(self, issues: Issues, pulls: Pulls, port: Port, names: Labels, attempts: int = 0) -> None:
        self._issues = issues
        self._pulls = pulls
        self._port = port
        self._names = names
        self._attempts = attempts

    async def target(self, number: int) -> CommandTarget:
        """Return the thread `number` as it is now; raises `Transient`, and `Gone` if it does not exist."""
        thread = await self._issues.issue(number)
        return await (self._of_pull_request if thread.is_pull_request else self._of_issue)(thread)

    async def _of_issue(self, thread: Issue) -> CommandTarget:
        story = self._names.read(thread.labels).story
        fence = await self._fence(Role.PLANNER if story else Role.WORKER, thread.number)
        if story:
            return CommandTarget(Case(thread, fence, thread), Track.STORY, self._stage(thread, fence), Role.PLANNER)
        pull_request = await self._pulls.pull_request(fence.pr) if fence is not None and fence.pr else None
        case = Case(thread, fence, thread, pull_request, self._attempts)
        return CommandTarget(case, Track.SPECIFICATION, self._stage(thread, fence), Role.WORKER)

    async def _of_pull_request(self, thread: Issue) -> CommandTarget:
        pull_request = await self._pulls.pull_request(thread.number)
        named = issue_of_branch(pull_request.head_branch) if pull_request.from_own_branch else None
        working = await self._fence(Role.WORKER, named) if named else None
        if working is not None and working.pr != thread.number:
            working = None
        issue = None if working is None else await self._issue(working.key.number)
        reviewing = await self._fence(Role.REVIEWER, thread.number)
        owner, fence = Role.REVIEWER, reviewing
        if working is not None and working.stage in _WORKERS:
            owner, fence = Role.WORKER, working
        attempts = self._attempts if owner is Role.WORKER else 0  # a review has none
        case = Case(thread, fence, issue, pull_request, attempts)
        return CommandTarget(case, Track.PULL_REQUEST, self._stage(thread, fence), owner, working)

    def _stage(self, thread: Issue, fence: Fence | None) -> Stage:
        """Return the fence's stage; without a fence that of the label, or `NEW`."""
        shown = self._names.read(thread.labels).stage
        return fence.stage if fence is not None else shown or Stage.NEW

    async def _issue(self, number: int) -> Issue | None:
        try:
            return await self._issues.issue(number)
        except Gone:
            return None

    async def _fence(self, kind: Role, number: int) -> Fence | None:
        return (await self._port.request(ReadFence(ItemKey(kind, number)))).value
