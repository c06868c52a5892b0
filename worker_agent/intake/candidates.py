"""Which open items the worker looks at, and in which order; lists only hint, so nothing here decides."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from shared.items import Candidate
from shared.labels import Flag
from shared.models import Issue
from shared.order import ordered
from shared.specification import read
from shared.workflow import Stage
from worker_agent import links
from worker_agent.decide import WORKING
from worker_agent.policy import Policy
from worker_agent.projection import is_doubled


class Candidates:
    """The candidates of one worker, out of what its inbox knows."""

    def __init__(self, policy: Policy, agent: str) -> None:
        self._policy = policy
        self._agent = agent
        self._last_open: dict[int, int] = {}
        self._before: tuple[Mapping[int, Issue], tuple[Issue, ...], tuple[Candidate, ...]] = ({}, (), ())

    def of(self, known: Mapping[int, Issue], orphans: Iterable[Issue] = ()) -> tuple[Candidate, ...]:
        """Issues with a worker's stage, and pull requests of ours that ask for changes; then what may be merged.

        `known` is a new mapping when something has changed: else thousands of issues are not looked through again.
        """
        lost = tuple(orphans)
        if self._before[0] is not known or self._before[1] != lost:
            self._before = known, lost, self._found(known, lost)
        return self._before[2]

    def _found(self, known: Mapping[int, Issue], orphans: Iterable[Issue]) -> tuple[Candidate, ...]:
        found: dict[int, Candidate] = {}
        issues = [issue for issue in known.values() if self._begins(issue)]
        policy = self._policy
        for item in ordered(issues, agent=self._agent, priorities=policy.priorities, slots=policy.slots):
            number = links.issue_named_by(item.body) if item.is_pull_request else item.number
            if number is not None:
                found.setdefault(number, Candidate(number, _version(item, known)))
        for issue in self._handed_over(known):
            version = f"{_version(issue, known)} #{self._last_open.get(issue.number, 0)}"
            found.setdefault(issue.number, Candidate(issue.number, version))
        for issue in orphans:
            if not issue.is_pull_request and self._allows(issue):
                found.setdefault(issue.number, Candidate(issue.number, _version(issue, known)))
        return tuple(found.values())

    def _handed_over(self, known: Mapping[int, Issue]) -> Iterator[Issue]:
        """Issues in review without an open pull request: GitHub closes an issue only for its default branch."""
        pulls = {links.issue_named_by(item.body): item.number for item in known.values() if item.is_pull_request}
        for issue in known.values():
            if issue.number in pulls:
                self._last_open[issue.number] = pulls[issue.number]
            elif not issue.is_pull_request and self._admits(issue, frozenset({Stage.REVIEWING})):
                yield issue

    def _begins(self, issue: Issue) -> bool:
        if not issue.is_pull_request and is_doubled(self._policy.names.read(issue.labels).stages):
            return self._allows(issue)
        if self._asks(issue):
            return self._allows(issue)
        return self._admits(issue, WORKING | {Stage.CHANGES_REQUESTED if issue.is_pull_request else Stage.READY})

    def _asks(self, issue: Issue) -> bool:
        """Whether a specification waits for a person; a story that does is the planner's."""
        labels = self._policy.names.read(issue.labels)
        return not issue.is_pull_request and not labels.story and labels.stages == {Stage.AWAITING_APPROVAL}

    def _admits(self, issue: Issue, stages: frozenset[Stage]) -> bool:
        return self._allows(issue) and bool(self._policy.names.read(issue.labels).stages & stages)

    def _allows(self, issue: Issue) -> bool:
        labels = {label.casefold() for label in issue.labels}
        if labels & {label.casefold() for label in self._policy.exclude}:
            return False
        include = {label.casefold() for label in self._policy.include}
        if include and not issue.is_pull_request and not labels & include:
            return False
        return Flag.PAUSED not in self._policy.names.read(issue.labels).flags


def mourns(item: Issue, listed: Mapping[int, Issue]) -> bool:
    """Whether anything follows from a listed item being gone: only from a pull request, while its issue is listed.

    What is held is read by whoever holds it; what a short list lacks comes back with the next one.
    """
    return item.is_pull_request and links.issue_named_by(item.body) in listed


def _version(item: Issue, known: Collection[int]) -> str:
    """What changes when the item does, or when a blocker of it is closed and so no longer known."""
    blockers = [str(number) for number in read(item.body).depends_on if number in known]
    return f"{item.number}@{item.updated_at.isoformat()} {item.comments} {','.join(blockers)}"
