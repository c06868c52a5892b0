"""A configuration with which no work can begin: posted once, on one issue, while the others stay where they are."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from datetime import timedelta

import structlog

from shared.lock.claim import Intent
from shared.lock.hold import Held
from shared.scheduling.agent_contract import Skip
from shared.workflow import Stage
from worker_agent.decide import NextStep

log = structlog.get_logger()

WAIT = "configuration"
"""The reason of the wait of the issue on which it was found."""

AGAIN = timedelta(minutes=10)
"""Time until the next try: the file may be read by another process than this one, or the repository have changed."""


class Unusable:
    """The newest start's finding on whether a repository can be worked on at all; forgotten with the process."""

    def __init__(self, repository: str, shown: MutableMapping[str, str], boot: Callable[[], float]) -> None:
        """`shown` maps unusable repositories to reasons, for metrics and `status`; `boot` is the boot clock."""
        self._repository = repository
        self._shown = shown
        self._boot = boot
        self._found: tuple[int, str, float] | None = None

    def begin(self, number: int, reason: str) -> None:
        """Record that issue `number` could not begin because of `reason`; nothing else is begun for a while."""
        if self._found is None or self._found[1] != reason:
            log.error("repository_held", outcome="skipped", repo=self._repository, error=reason)
        self._found = number, reason, self._boot() + AGAIN.total_seconds()
        self._shown[self._repository] = reason

    def end(self) -> None:
        """Record that work could begin."""
        if self._found is not None:
            self._found = None
            self._shown.pop(self._repository, None)
            log.info("repository_free", outcome="completed", repo=self._repository)

    def skip(self, number: int, intent: Intent) -> Skip | None:
        """Return why a start is put off; None for the issue of the finding, which is retried by its own wait."""
        if self._found is None or intent.stage is not Stage.IMPLEMENTING or intent.phase != NextStep.RED:
            return None
        found, reason, until = self._found
        left = until - self._boot()
        return Skip(f"nothing can be begun here: {reason}", left) if found != number and left > 0 else None


def is_unbegun(held: Held) -> bool:
    """Return whether nothing was made of a held item yet, so that it can wait as if it had never been begun."""
    fence = held.fence
    return fence.stage is Stage.IMPLEMENTING and fence.phase == NextStep.RED and not (fence.work_head or fence.pr)
