"""The reasons why listed items are no candidates: labels by which the configuration or a person keeps an agent away."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import structlog

from config.repository import LabelSettings
from shared.models import Issue
from shared.newest import Newest
from shared.scheduling.order import exclusion_reason
from shared.workflow import Role
from shared.workflow.labels import Flag, Labels

log = structlog.get_logger()


@dataclass
class ExcludedItems:
    """Listed items that one agent passes over; each reason is logged once, with `--verbose`."""

    repository: str
    role: Role
    names: Labels
    filters: LabelSettings
    _logged: Newest[int, str] = field(default_factory=Newest)

    def note(self, listed: Iterable[Issue]) -> None:
        """Log the reasons that are new among these items."""
        for issue in listed:
            why = self.reason(issue)
            if why and self._logged.get(issue.number) != why:
                log.debug("item_left_alone", outcome="skipped", repo=self.repository, issue=issue.number, reason=why)
            if why:
                self._logged[issue.number] = why
            else:
                self._logged.pop(issue.number, None)

    def reason(self, issue: Issue) -> str:
        """Return why an item of this agent's is left alone; empty for a candidate, and for other agents' items."""
        labels = self.names.read(issue.labels)
        kind = Role.REVIEWER if issue.is_pull_request else Role.PLANNER if labels.story else Role.WORKER
        if not issue.open or kind is not self.role or not (labels.stages or labels.story):
            return ""
        if barred := exclusion_reason(issue.labels, self.filters.exclude):
            return barred
        if Flag.PAUSED in labels.flags:
            return f"it is paused: '{self.names.of(Flag.PAUSED)}'"
        carried, wanted = {label.casefold() for label in issue.labels}, self.filters.include
        if wanted and not issue.is_pull_request and not carried & {label.casefold() for label in wanted}:
            return f"it carries none of the labels in `labels.include`: {', '.join(wanted)}"
        return ""
