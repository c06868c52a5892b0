"""How long the damaged runs of one item may take together: a share of what its other runs took."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

SHARE = 0.25
"""Of the time of the other runs, for suites that take longer than `LONG_SECONDS`."""

LONG_SECONDS = 60.0

SHORT_SUITE_SECONDS = 180.0
"""What damaging may take where the suite is quick."""

AT_LEAST = 3
"""Damages that are tried however long they take."""


@dataclass
class TimeBudget:
    """`suite_seconds` is what base, red and head took."""

    suite_seconds: float
    begun: float = field(default_factory=anyio.current_time)

    @property
    def seconds(self) -> float:
        """What there is to spend."""
        long = self.suite_seconds > LONG_SECONDS
        return max(SHARE * self.suite_seconds, SHARE * LONG_SECONDS) if long else SHORT_SUITE_SECONDS

    def is_over(self, tried: int) -> bool:
        """Whether no further damage may be tried after so many."""
        return tried >= AT_LEAST and anyio.current_time() - self.begun > self.seconds
