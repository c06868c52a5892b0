"""The health of a process: its liveness and readiness, and the figures that are read on request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from shared.clock import Clock
from shared.github.limits import RateLimit

STUCK_SECONDS = 900.0
"""Seconds without a tick, in addition to three intervals, after which a loop counts as stuck."""

SILENT_SECONDS = 300.0
"""Seconds without an answer from GitHub, in addition to three intervals, after which the agent is not ready."""


@dataclass(slots=True)
class Pulse:
    """The times (boot clock) of one loop's last tick and of GitHub's last answer to it."""

    interval: Callable[[], float]
    """Returns the seconds between two ticks, which may change."""
    ticked: float
    answered: float | None = None
    planned: float = 0.0
    """The interval as it was at the last tick, in seconds: one that has become shorter is noticed later."""

    @property
    def longest(self) -> float:
        """Longest time in seconds that may pass between two ticks."""
        return max(self.planned, self.interval())


@dataclass(slots=True)
class HealthState:
    """The health of one process. Each loop joins when it has started, and leaves when it has ended."""

    clock: Clock
    pulses: dict[str, Pulse] = field(default_factory=dict)
    rate_limits: dict[str, Callable[[], RateLimit | None]] = field(default_factory=dict)
    """Repository -> GitHub's hourly limit and the remaining requests."""
    queues: dict[str, Callable[[], Mapping[str, int]]] = field(default_factory=dict)
    """Repository -> number of open items at each stage."""
    share: Callable[[], float] = lambda: 1.0
    """The fraction of the account's write limits that the process uses."""
    refused: dict[str, str] = field(default_factory=dict)
    """Repository -> the kind of GitHub's refusal of the token there, while it lasts."""
    aside: dict[str, str] = field(default_factory=dict)
    """Repository -> the reason, in one sentence, why it cannot be used now; it is tried again."""
    refusing: dict[str, float] = field(default_factory=dict)
    """Repository -> seconds for which nothing is claimed, because its git server refuses fences."""
    untraced: Callable[[], int] = lambda: 0
    """Number of events missing from traces, because the collector did not take them."""

    def join(self, repository: str, interval: Callable[[], float]) -> None:
        """Register a loop that has started; `interval` returns the seconds between two of its ticks."""
        self.pulses[repository] = Pulse(interval, self.clock.boot())

    def leave(self, repository: str) -> None:
        """Forget a loop that has ended, so that its missing ticks do not count."""
        self.refused.pop(repository, None)
        self.pulses.pop(repository, None)

    def ticked(self, repository: str) -> None:
        """Note that a loop begins a tick."""
        if repository in self.pulses:
            pulse = self.pulses[repository]
            pulse.ticked, pulse.planned = self.clock.boot(), pulse.interval()

    def answered(self, repository: str) -> None:
        """Note that GitHub has answered a loop."""
        if repository in self.pulses:
            self.pulses[repository].answered = self.clock.boot()

    def stuck(self) -> str:
        """Return the reason, in one sentence, why the process counts as dead; empty if it lives or is starting."""
        now = self.clock.boot()
        for name, pulse in self.pulses.items():
            silent = now - pulse.ticked
            if silent > STUCK_SECONDS + 3 * pulse.longest:
                return f"The loop of {name} has not ticked for {silent:.0f} seconds."
        return ""

    def unready(self) -> str:
        """Return the reason, in one sentence, why the process cannot work now; empty if it can."""
        if not self.pulses:
            return "It is still starting."
        now = self.clock.boot()
        for name, pulse in self.pulses.items():
            if pulse.answered is None:
                return f"GitHub has not answered for {name} yet."
            silent = now - pulse.answered
            if silent > SILENT_SECONDS + 3 * pulse.longest:
                return f"GitHub has not answered for {name} for {silent:.0f} seconds."
        return self.stuck()
