"""The open items that the worker looks at, in their order; lists only hint, so nothing here decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from shared.github.pulls import issue_named_by
from shared.models import Issue
from shared.scheduling.agent_contract import Candidate
from shared.scheduling.order import exclusion_reason, urgency
from shared.workflow import Stage
from shared.workflow.labels import Flag, folded
from worker_agent.decide import WORKING
from worker_agent.expected_labels import is_doubled
from worker_agent.policy import Policy


class Candidates:
    """The candidates of one worker, out of what its inbox knows."""

    def __init__(self, policy: Policy, times_freed: Callable[[int], int] = lambda number: 0) -> None:
        """`times_freed` returns for an issue how often a blocker of it was closed."""
        self._policy = policy
        self._times_freed = times_freed
        self._last_open: dict[int, int] = {}
        self._before: tuple[Mapping[int, Issue], tuple[Issue, ...], tuple[Candidate, ...]] = ({}, (), ())

    def of(self, known: Mapping[int, Issue], orphans: Iterable[Issue] = ()) -> tuple[Candidate, ...]:
        """Return issues with a worker's stage, and our pull requests that ask for changes; then finished ones.

        A pull request is as urgent as the issue that it closes. `known` is a new mapping if something has changed: else
        thousands of issues are not searched again.
        """
        lost = tuple(orphans)
        if self._before[0] is not known or self._before[1] != lost:
            self._before = known, lost, self._find(known, lost)
        return tuple(self._with_blockers(one) for one in self._before[2])

    def _with_blockers(self, candidate: Candidate) -> Candidate:
        times = self._times_freed(candidate.number)
        return replace(candidate, version=f"{candidate.version} freed {times}") if times else candidate

    def _find(self, known: Mapping[int, Issue], orphans: Iterable[Issue]) -> tuple[Candidate, ...]:
        found: dict[int, Candidate] = {}
        named = ((_number(item), item) for item in known.values() if self._begins(item))
        begun = [(number, item) for number, item in named if number is not None]
        queue = [
            (urgency(known.get(number, item), self._policy.intake.priorities), number, item) for number, item in begun
        ]
        for (rank, *_), number, item in sorted(queue, key=lambda one: one[:2]):
            pull = item.number if item.is_pull_request else 0
            found.setdefault(number, Candidate(number, _version(item), rank, pull_request=pull))
        last = len(self._policy.intake.priorities) + 1
        for issue in self._handed_over(known):
            pull = self._last_open.get(issue.number, 0)
            opened = f" {_version(known[pull])}" if pull in known else ""
            version = f"{_version(issue)} #{pull}{opened}"
            found.setdefault(issue.number, Candidate(issue.number, version, last))
        for issue in orphans:
            if not issue.is_pull_request and self._allows(issue):
                found.setdefault(issue.number, Candidate(issue.number, _version(issue), last))
        return tuple(found.values())

    def _handed_over(self, known: Mapping[int, Issue]) -> Iterator[Issue]:
        """Yield issues in review without an open pull request: GitHub closes an issue only for its default branch.

        Also those whose pull request shows no stage: a person may have opened it again.
        """
        pulls = {issue_named_by(item.body): item.number for item in known.values() if item.is_pull_request}
        self._last_open = {number: pull for number, pull in self._last_open.items() if number in known}
        for issue in known.values():
            if issue.number in pulls:
                self._last_open[issue.number] = pulls[issue.number]
                if self._stages(issue) == {Stage.REVIEWING} and not self._stages(known[pulls[issue.number]]):
                    yield issue
            elif not issue.is_pull_request and self._admits(issue, frozenset({Stage.REVIEWING})):
                yield issue

    def _stages(self, item: Issue) -> frozenset[Stage]:
        return self._policy.names.read(item.labels).stages if self._allows(item) else frozenset(Stage)

    def _begins(self, issue: Issue) -> bool:
        if not issue.is_pull_request and is_doubled(self._policy.names.read(issue.labels).stages):
            return self._allows(issue)
        if self._asks(issue):
            return self._allows(issue)
        return self._admits(issue, WORKING | {Stage.CHANGES_REQUESTED if issue.is_pull_request else Stage.READY})

    def _asks(self, issue: Issue) -> bool:
        """Return whether a specification waits for a person; a story that waits is the planner's."""
        labels = self._policy.names.read(issue.labels)
        return not issue.is_pull_request and not labels.story and labels.stages == {Stage.AWAITING_APPROVAL}

    def _admits(self, issue: Issue, stages: frozenset[Stage]) -> bool:
        return self._allows(issue) and bool(self._policy.names.read(issue.labels).stages & stages)

    def _allows(self, issue: Issue) -> bool:
        if exclusion_reason(issue.labels, self._policy.intake.exclude):
            return False
        include = folded(self._policy.intake.include)
        if include and not issue.is_pull_request and not folded(issue.labels) & include:
            return False
        return Flag.PAUSED not in self._policy.names.read(issue.labels).flags


def _number(item: Issue) -> int | None:
    """Return the number of the issue that is worked on."""
    return issue_named_by(item.body) if item.is_pull_request else item.number


def needs_followup(item: Issue, listed: Mapping[int, Issue]) -> bool:
    """Return whether work follows from a listed item's disappearance: for pull requests of listed issues only.

    A held item is read by its holder; an item that is missing in a short list comes back with the next one.
    """
    return item.is_pull_request and issue_named_by(item.body) in listed


def belongs(item: Issue, known: Mapping[int, Issue]) -> bool:
    """Return whether an item without a stage is followed: a pull request for a known issue, as if opened again."""
    return item.is_pull_request and issue_named_by(item.body) in known


def _version(item: Issue) -> str:
    """Return a text that changes with the item; GitHub does not update an issue whose blocker is closed."""
    return f"{item.number}@{item.updated_at.isoformat()} {item.comments} {item.blocked_by}"
