"""Targets of a report's figures, for an engine that works well, and the comparison with them (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from console.report.figures import Figures


@dataclass(frozen=True, slots=True)
class Target:
    """A bound that a figure should keep to: from below when `at_least`, else from above."""

    bound: float
    at_least: bool
    spelled: str

    def met(self, value: float | None) -> bool | None:
        """Return whether the figure reaches the target; None where the figure is unknown."""
        if value is None:
            return None
        return value >= self.bound if self.at_least else value <= self.bound

    def formatted(self, value: float | None) -> str:
        """Return the text that follows the figure in the report."""
        met = self.met(value)
        return f" [target: {self.spelled}{'' if met is None else ', met' if met else ', missed'}]"


ZERO_TOUCH = Target(0.7, True, "70 % or more")
TRIES = Target(1.5, False, "1.5 or fewer")
REWORK = Target(0.1, False, "10 % or less")
COST = Target(5.0, False, "$5.00 or less for each")
RUNS = Target(0.9, True, "90 % or more")
"""Share of the paid runs of one role by one backend that complete."""


def judged(f: Figures) -> Mapping[str, tuple[Target, float | None]]:
    """The figures that have a target, as they are named in the JSON."""
    runs = sum(one.runs for one in f.backend_runs)
    return {
        "zero_touch": (ZERO_TOUCH, f.zero_touch_rate),
        "tries": (TRIES, f.tries_mean),
        "rework": (REWORK, f.rework_rate),
        "cost_per_merged": (COST, f.cost.per_merged),
        "runs_completed": (RUNS, sum(one.completed for one in f.backend_runs) / runs if runs else None),
    }
