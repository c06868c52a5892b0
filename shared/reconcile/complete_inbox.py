"""An agent's sources of work: the lists of its inbox and the orphans that lists lack."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime

import structlog

from shared.errors import EngineError
from shared.github.inbox import Inbox
from shared.models import Issue
from shared.process import CommandFailed
from shared.reconcile.label_drift import unknown
from shared.reconcile.sweep import Sweep
from shared.workflow.labels import Labels

log = structlog.get_logger()

ExtraLook = Callable[[Mapping[int, Issue]], Awaitable[object]]
"""An additional look, which receives the listed items."""

MOST_HINTS = 1000
"""Hints that are remembered, so that each is given once."""


class CompleteInbox:
    """An inbox that misses nothing: the listed items, and the orphans."""

    def __init__(self, lists: Inbox, sweep: Sweep) -> None:
        self._lists = lists
        self._sweep = sweep
        self._looks: list[tuple[str, ExtraLook]] = []

    def add_look(self, name: str, look: ExtraLook) -> CompleteInbox:
        """Add a look to the end of each `look`; its errors keep nobody from work. Returns itself."""
        self._looks.append((name, look))
        return self

    @property
    def known(self) -> Mapping[int, Issue]:
        """The listed items."""
        return self._lists.known

    @property
    def gone(self) -> Mapping[int, Issue]:
        """Listed items that the last look found closed; told once."""
        return self._lists.gone

    @property
    def orphans(self) -> Mapping[int, Issue]:
        """Items, open or closed, that no list shows although their fence says that there is work."""
        return self._sweep.orphans

    def version(self, number: int) -> datetime | None:
        """Return when an open item last changed; None if the change list does not reach to it."""
        return self._lists.version(number)

    def follow(self, listed: Issue) -> None:
        """Follow an item that a list has shown, whatever its labels, until it is closed."""
        self._lists.follow(listed)

    def dismiss(self, number: int) -> None:
        """Forget an item that we ended ourselves: nobody has to look at it any more."""
        self._lists.dismiss(number)
        self._sweep.dismiss(number)

    async def look(self) -> Mapping[int, Issue]:
        """Refresh the lists, and every ten minutes the orphans; raises what reading the lists raises."""
        known = await self._lists.look()
        await self._sweep.look(known)
        for name, look in self._looks:
            try:
                await look(known)
            except (EngineError, CommandFailed) as error:
                log.warning("look_put_off", outcome="retrying", subject=name, error=str(error))
        return known


class Hints:
    """Log messages, one for each label that looks like a stage and is none: a person may have meant one."""

    def __init__(self, names: Labels) -> None:
        self._names = names
        self._logged: set[tuple[int, str]] = set()

    def give(self, issues: Iterable[Issue]) -> None:
        """Log the unknown stage labels of listed items, each once; the labels are left alone."""
        for issue in issues:
            for label in sorted(unknown(self._names, issue.labels)):
                if (issue.number, label) not in self._logged and len(self._logged) < MOST_HINTS:
                    self._logged.add((issue.number, label))
                    log.warning("unknown_stage_label", outcome="skipped", number=issue.number, label=label)
