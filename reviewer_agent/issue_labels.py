"""Labels of issues that somebody set on a pull request: they start nothing there, and one reply says so."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import structlog

from reviewer_agent import comments
from shared.errors import Blocked, Transient
from shared.github.ports import Replies
from shared.models import Issue
from shared.newest import Newest
from shared.scheduling.order import exclusion_reason
from shared.workflow import UNLABELLED, Track, stages
from shared.workflow.labels import Labels

log = structlog.get_logger()

PURPOSE = "issue-label"

OF_ISSUES = frozenset({*stages(Track.STORY), *stages(Track.SPECIFICATION)}) - {*stages(Track.PULL_REQUEST), *UNLABELLED}
"""Stages that no pull request ever has."""


def misplaced(item: Issue, names: Labels) -> str:
    """Return the first label of issues that a pull request carries; empty if there is none."""
    if not item.is_pull_request:
        return ""
    known = {names.of(stage).casefold() for stage in OF_ISSUES} | {names.story.casefold()}
    return min((label for label in item.labels if label.casefold() in known), default="")


class IssueLabels:
    """The replies to such labels; one process reads each thread once for that."""

    def __init__(self, replies: Replies, names: Labels, exclude: Collection[str]) -> None:
        """Leave alone items that carry a label of `exclude`."""
        self._replies = replies
        self._names = names
        self._exclude = exclude
        self._answered: Newest[int, None] = Newest()

    async def answer(self, known: Iterable[Issue]) -> None:
        """Post in each thread that carries such a label what it is for; a failed post is retried at a later look."""
        for item in known:
            label = misplaced(item, self._names)
            if not label or item.number in self._answered or exclusion_reason(item.labels, self._exclude):
                continue
            try:
                await self._replies.once(item.number, PURPOSE, comments.of_issues(label, self._names))
            except Blocked as error:  # a locked thread, for one
                log.warning("label_not_answered", outcome="skipped", error=str(error))
            except Transient as error:  # no review waits for that
                log.warning("label_not_answered", outcome="retrying", error=str(error))
                return
            self._answered[item.number] = None
