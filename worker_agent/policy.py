"""What the configuration says to the worker, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from shared.llm.cast import PHASES
from shared.llm.port import Call, Limits
from shared.workflow import Labels
from worker_agent.decide import Bounds


@dataclass(frozen=True, slots=True)
class Policy:
    """One repository's rules for the worker."""

    repository: str
    names: Labels = field(default_factory=Labels)
    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset({"blocked", "do-not-automate"})
    priorities: tuple[str, ...] = ()
    bounds: Bounds = field(default_factory=Bounds)
    test_command: str | None = None
    test_report: str | None = None
    base_branch: str = ""
    default_branch: str = ""
    title_prefix: str = "auto"
    pull_request_labels: tuple[str, ...] = ("automated",)
    reviewers: tuple[str, ...] = ()
    assign: str | None = None
    slots: int = 1
    limits: Limits = field(default_factory=Limits)
    plays: frozenset[str] = frozenset()
    phases: Mapping[Call, str] = field(default_factory=lambda: PHASES)
