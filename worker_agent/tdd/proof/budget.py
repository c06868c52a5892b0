"""The time budget of one item's damaged runs together: a share of the time of its other runs."""

from __future__ import annotations

from dataclasses import dataclass, field

import anyio

SHARE = 0.25
"""The share of the other runs' time, for suites that take longer than `LONG_SECONDS`."""

LONG_SECONDS = 60.0

SHORT_SUITE_SECONDS = 180.0
"""The seconds that damaged runs may take if the suite is quick."""

AT_LEAST = 3
"""The number of damages that are tried however long they take."""


@dataclass
class TimeBudget:
    """`suite_seconds` is the time that base, red and head took."""

    suite_seconds: float
    begun: float = field(default_factory=anyio.current_time)

    @property
    def seconds(self) -> float:
        """The seconds to spend."""
        long = self.suite_seconds > LONG_SECONDS
        return max(SHARE * self.suite_seconds, SHARE * LONG_SECONDS) if long else SHORT_SUITE_SECONDS

    def is_over(self, tried: int) -> bool:
        """Return whether no further damage may be tried after `tried` ones."""
        return tried >= AT_LEAST and anyio.current_time() - self.begun > self.seconds
