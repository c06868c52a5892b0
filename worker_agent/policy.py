"""What the configuration says to the worker, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.labels import Labels
from shared.llm.cast import PHASES, Part, lowered
from shared.llm.port import Call, Limits
from worker_agent.decide import Bounds

REPAIR = Part(max_turns=30, budget_usd=2.0)
"""What a repair of CI may take at most: the log names what is wrong, so one that needs more has gone astray."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One repository's rules for the worker."""

    repository: str
    names: Labels = field(default_factory=Labels)
    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset({"blocked", "do-not-automate"})
    priorities: tuple[str, ...] = ()
    bounds: Bounds = field(default_factory=Bounds)
    ci_interval_seconds: float = 0.0
    test_command: str | None = None
    test_report: str | None = None
    base_branch: str = ""
    default_branch: str = ""
    title_prefix: str = "auto"
    title_attempts: bool = False
    may_edit_workflows: bool = False
    pull_request_labels: tuple[str, ...] = ("automated",)
    reviewers: tuple[str, ...] = ()
    assign: str | None = None
    slots: int = 1
    refactor: str = "off"
    cycles: str = "whole-spec"
    quality_commands: tuple[str, ...] | None = ()
    """None: detected."""
    limits: Limits = field(default_factory=Limits)
    repair: Part = REPAIR
    plays: frozenset[str] = frozenset()
    bots: tuple[str, ...] = ()
    phases: Mapping[Call, str] = field(default_factory=lambda: PHASES)

    def limits_of(self, call: Call) -> Limits:
        """What one run of this call may take."""
        return lowered(self.limits, self.repair) if call is Call.FIX_CI else self.limits
