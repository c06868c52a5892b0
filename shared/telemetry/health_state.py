"""Whether a process lives and can work, and the figures that are read when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from shared.clock import Clock
from shared.github.limits import Budget

STUCK_SECONDS = 900.0
"""A loop that has not ticked for so long, beside three of its intervals, does not live."""

SILENT_SECONDS = 300.0
"""GitHub has answered within so long, beside three intervals, or the agent is not ready."""


@dataclass(slots=True)
class Pulse:
    """One loop: when (boot clock) it last ticked, and when GitHub last answered it."""

    interval_seconds: float
    ticked: float
    answered: float | None = None


@dataclass(slots=True)
class HealthState:
    """What one process shows of itself. Each loop joins when it has started, and leaves when it has ended."""

    clock: Clock
    pulses: dict[str, Pulse] = field(default_factory=dict)
    budgets: dict[str, Callable[[], Budget | None]] = field(default_factory=dict)
    """Repository -> GitHub's hourly limit and what is left of it."""
    queues: dict[str, Callable[[], Mapping[str, int]]] = field(default_factory=dict)
    """Repository -> how many open items stand at each stage."""
    share: Callable[[], float] = lambda: 1.0
    """The part of the account's write limits that the process uses."""
    refused: dict[str, str] = field(default_factory=dict)
    """Repository -> how GitHub has refused the token there, as long as it does."""
    aside: dict[str, str] = field(default_factory=dict)
    """Repository -> why it cannot be used now, in one sentence; it is tried again."""
    refusing: dict[str, float] = field(default_factory=dict)
    """Repository -> for how many seconds nothing is claimed, because its git server refuses fences."""
    untraced: Callable[[], int] = lambda: 0
    """How many events no trace will tell of, because the collector did not take them."""

    def join(self, repository: str, interval_seconds: float) -> None:
        """A loop begins."""
        self.pulses[repository] = Pulse(interval_seconds, self.clock.boot())

    def left(self, repository: str) -> None:
        """A loop has ended: that it ticks no more is no sign of anything."""
        self.refused.pop(repository, None)
        self.pulses.pop(repository, None)

    def ticked(self, repository: str) -> None:
        """A tick begins."""
        if repository in self.pulses:
            self.pulses[repository].ticked = self.clock.boot()

    def answered(self, repository: str) -> None:
        """GitHub has said what there is."""
        if repository in self.pulses:
            self.pulses[repository].answered = self.clock.boot()

    def stuck(self) -> str:
        """Why the process does not live, in one sentence; empty when it does. One that still starts lives."""
        now = self.clock.boot()
        for name, pulse in self.pulses.items():
            silent = now - pulse.ticked
            if silent > STUCK_SECONDS + 3 * pulse.interval_seconds:
                return f"The loop of {name} has not ticked for {silent:.0f} seconds."
        return ""

    def unready(self) -> str:
        """Why it cannot work now, in one sentence; empty when it can."""
        if not self.pulses:
            return "It is still starting."
        now = self.clock.boot()
        for name, pulse in self.pulses.items():
            if pulse.answered is None:
                return f"GitHub has not answered for {name} yet."
            silent = now - pulse.answered
            if silent > SILENT_SECONDS + 3 * pulse.interval_seconds:
                return f"GitHub has not answered for {name} for {silent:.0f} seconds."
        return self.stuck()
