"""The check before a claim that the work it begins can be paid for: what the budget tells the loop."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Shortage:
    """Reason why paid work cannot begin, and the time from which it can; `until` None: when a person makes room."""

    sentence: str
    until: datetime | None


class BudgetCheck(Protocol):
    """Check that a run could be paid for."""

    async def shortage(self, number: int) -> Shortage | None:
        """Return why no run for this item could be paid for now; None if one could."""
        ...
