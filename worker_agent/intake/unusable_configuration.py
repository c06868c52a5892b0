"""A configuration with which nothing can be begun: said once, on one issue, and the others are left where they are."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from datetime import timedelta

import structlog

from shared.lock.claim import Intent
from shared.lock.hold import Held
from shared.scheduling.items import Skip
from shared.workflow import Stage
from worker_agent.decide import Phase

log = structlog.get_logger()

WAIT = "configuration"
"""Why the issue waits on which it was found."""

AGAIN = timedelta(minutes=10)
"""So often it is tried again: the file may be read by another process than this one, or the repository have changed."""


class Unusable:
    """Whether a repository can be worked on at all, as the newest start has found it; forgotten with the process."""

    def __init__(self, repository: str, shown: MutableMapping[str, str], boot: Callable[[], float]) -> None:
        """`shown` is what metrics and `status` tell of repositories that cannot be used, `boot` the boot clock."""
        self._repository = repository
        self._shown = shown
        self._boot = boot
        self._found: tuple[int, str, float] | None = None

    def begin(self, number: int, why: str) -> None:
        """It was found on issue `number`; nothing else is begun for a while."""
        if self._found is None or self._found[1] != why:
            log.error("repository_held", outcome="skipped", repo=self._repository, error=why)
        self._found = number, why, self._boot() + AGAIN.total_seconds()
        self._shown[self._repository] = why

    def end(self) -> None:
        """Something could be begun."""
        if self._found is not None:
            self._found = None
            self._shown.pop(self._repository, None)
            log.info("repository_free", outcome="completed", repo=self._repository)

    def skip(self, number: int, wish: Intent) -> Skip | None:
        """Why a start is put off; the issue on which it was found is tried again by its own wait."""
        if self._found is None or wish.stage is not Stage.IMPLEMENTING or wish.phase != Phase.RED:
            return None
        found, why, until = self._found
        left = until - self._boot()
        return Skip(f"nothing can be begun here: {why}", left) if found != number and left > 0 else None


def is_unbegun(held: Held) -> bool:
    """Whether nothing was made of an item that is held, so that it can wait as if it had never been begun."""
    fence = held.fence
    return fence.stage is Stage.IMPLEMENTING and fence.phase == Phase.RED and not (fence.work_head or fence.pr)
