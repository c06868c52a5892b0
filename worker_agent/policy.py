"""What the configuration says to the worker, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.github.base_branch import BaseBranch
from shared.llm.port import Call, Limits
from shared.llm.role_router import PHASES, RoleOverride, lowered
from shared.workflow.labels import Labels
from worker_agent.decide import Bounds

if TYPE_CHECKING:
    from config.repository import RepositorySettings

REPAIR = RoleOverride(max_turns=30, budget_usd=2.0)
"""What a repair of CI may take at most: the log names what is wrong, so one that needs more has gone astray."""


@dataclass(frozen=True, slots=True)
class SuitePolicy:
    """The tests of one directory of the repository, empty for its root; without a command the runner is detected."""

    directory: str = ""
    test_command: str | None = None
    test_report: str | None = None


def suites_of(configured: RepositorySettings) -> tuple[SuitePolicy, ...]:
    """The suites that are configured, else the one that the repository's own keys describe."""
    own = SuitePolicy(configured.working_directory, configured.test_command, configured.test_report)
    several = (SuitePolicy(one.directory, one.test_command, one.test_report) for one in configured.suites)
    return tuple(several) or (own,)


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
    working_directory: str = ""
    """Where the set-up and quality commands run; empty for the root."""
    suites: tuple[SuitePolicy, ...] = ()
    """At least one: given none, it is the one of the three fields above."""
    test_files: tuple[str, ...] = ()
    old_tests: str = "justified"
    local_suite: str = "full"
    damages: int = 20
    base: BaseBranch = field(default_factory=BaseBranch)
    title: str = "{title}"
    """The template of a pull request's title."""
    merge: str = "never"
    documentation: str | None = None
    """Where people of the repository read about commands; None where nowhere."""
    title_attempts: bool = False
    may_edit_workflows: bool = False
    pull_request_labels: tuple[str, ...] = ("automated",)
    reviewers: tuple[str, ...] = ()
    assign: str | None = None
    take_assigned: bool = False
    """Whether issues that are assigned to a person are begun all the same."""
    refactor: str = "off"
    cycles: str = "whole-spec"
    quality_commands: tuple[str, ...] | None = ()
    """None: detected."""
    limits: Limits = field(default_factory=Limits)
    repair: RoleOverride = REPAIR
    plays: frozenset[str] = frozenset()
    bots: tuple[str, ...] = ()
    phases: Mapping[Call, str] = field(default_factory=lambda: PHASES)

    def __post_init__(self) -> None:
        if not self.suites:
            only = SuitePolicy(self.working_directory, self.test_command, self.test_report)
            object.__setattr__(self, "suites", (only,))

    @property
    def base_branch(self) -> str:
        """The present name of the branch that work starts from."""
        return self.base.name

    @property
    def default_branch(self) -> str:
        """The repository's default branch: what is merged into another one closes no issue."""
        return self.base.default

    def limits_of(self, call: Call) -> Limits:
        """What one run of this call may take."""
        return lowered(self.limits, self.repair) if call is Call.FIX_CI else self.limits
