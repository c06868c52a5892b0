"""The worker's configuration as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.git.patch_policy import PatchPolicy
from shared.github.base_branch import BaseBranch
from shared.llm.port import CoderCall, RunLimits
from shared.llm.role_router import ROLE_OF_CALL, RoleOverride, has_role, lowered
from shared.lock.claim import Intent
from shared.lock.fence import Fence
from shared.specification import Specification
from shared.workflow import Stage
from shared.workflow.labels import Labels
from worker_agent.decide import Action, Bounds, NextStep

if TYPE_CHECKING:
    from config.repository import RepositorySettings

REPAIR = RoleOverride(max_turns=30, budget_usd=2.0)
"""Limits of a CI repair: the log names the failure, so a repair that needs more has gone astray."""

_CALLS = {
    Action.WRITE_TESTS: CoderCall.WRITE_TESTS,
    Action.IMPLEMENT: CoderCall.IMPLEMENT,
    Action.REFACTOR: CoderCall.REFACTOR,
    Action.FIX_CI: CoderCall.FIX_CI,
    Action.ADDRESS_REVIEW: CoderCall.IMPLEMENT,
}
_FIRST_CALLS: Mapping[str, CoderCall] = {
    NextStep.RED: CoderCall.WRITE_TESTS,
    NextStep.GREEN: CoderCall.IMPLEMENT,
    NextStep.REFACTOR: CoderCall.REFACTOR,
    NextStep.FIX: CoderCall.FIX_CI,
    NextStep.FEEDBACK: CoderCall.IMPLEMENT,
    NextStep.TEXT: CoderCall.IMPLEMENT,
}
"""The coder's call in each paid step, and the first one after each phase of the fence."""


@dataclass(frozen=True, slots=True)
class SuitePolicy:
    """The tests of one directory of the repository, empty for its root; without a command the runner is detected."""

    directory: str = ""
    test_command: str | None = None
    test_report: str | None = None


def suites_of(configured: RepositorySettings) -> tuple[SuitePolicy, ...]:
    """Return the configured suites, else the one that the repository's own keys describe."""
    whole = SuitePolicy(configured.working_directory, configured.test_command, configured.test_report)
    several = (SuitePolicy(one.directory, one.test_command, one.test_report) for one in configured.suites)
    return tuple(several) or (whole,)


@dataclass(frozen=True, slots=True)
class IntakePolicy:
    """The issues that may begin, the people and bots whose words count, and the person who is shown as assignee."""

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset({"blocked", "do-not-automate"})
    priorities: tuple[str, ...] = ()
    take_assigned: bool = False
    """True if issues that are assigned to a person are begun all the same."""
    starts_assigned: bool = False
    """True if an assignment to the engine asks for the work, whoever else is assigned."""
    assign: str | None = None
    title_attempts: bool = False
    bots: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CodePolicy:
    """Rules for writing, running and judging tests and code."""

    suites: tuple[SuitePolicy, ...] = (SuitePolicy(),)
    """At least one."""
    working_directory: str = ""
    """Directory of the set-up and quality commands; empty for the root."""
    quality_commands: tuple[str, ...] | None = ()
    """Commands for code quality; None: detected."""
    test_files: tuple[str, ...] = ()
    old_tests: str = "justified"
    local_suite: str = "full"
    damages: int = 20
    cycles: str = "whole-spec"
    refactor: str = "off"
    may_edit_workflows: bool = False


def code_policy(repository: RepositorySettings) -> CodePolicy:
    """Return the rules for tests and code from a repository's configuration."""
    return CodePolicy(
        suites=suites_of(repository),
        working_directory=repository.working_directory,
        quality_commands=repository.quality_commands,
        test_files=repository.test_files,
        old_tests=repository.old_tests,
        local_suite=repository.local_suite,
        damages=repository.tdd.damages,
        cycles=repository.tdd.cycles,
        refactor=repository.refactor,
        may_edit_workflows=repository.ci.may_edit_workflows,
    )


@dataclass(frozen=True, slots=True)
class PullRequestPolicy:
    """The look of a pull request, and the time between two looks at its CI."""

    title: str = "{title}"
    """The template of its title."""
    labels: tuple[str, ...] = ("automated",)
    reviewers: tuple[str, ...] = ()
    merge: str = "never"
    documentation: str | None = None
    """Address of the documentation of commands for the repository's people; None if there is none."""
    ci_interval_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class RunPolicy:
    """Limits of the coding backend's runs, and the roles that this process plays in them (empty for all)."""

    limits: RunLimits = field(default_factory=RunLimits)
    repair: RoleOverride = REPAIR
    role_of_call: Mapping[CoderCall, str] = field(default_factory=lambda: ROLE_OF_CALL)
    roles: frozenset[str] = frozenset()

    def limits_of(self, call: CoderCall) -> RunLimits:
        """Return the limits of one run of this call."""
        return lowered(self.limits, self.repair) if call is CoderCall.FIX_CI else self.limits

    def passed_on(self, action: Action) -> str:
        """Return the role that a step is left to, as this agent does not play it; empty if the agent takes the step."""
        return self._missing_role(self._role_of(_CALLS.get(action)))

    def refusal(self, intent: Intent, fence: Fence | None) -> str:
        """Return the reason why another role has the next step, else an empty text. The fence's role goes first."""
        if intent.stage is not Stage.IMPLEMENTING or not self.roles:
            return ""
        continues = fence is not None and (fence.stage, fence.phase) == (intent.stage, intent.phase)
        named = fence.next_role if fence is not None and continues else ""
        role = self._missing_role(named or self._role_of(_FIRST_CALLS.get(intent.phase or NextStep.RED)))
        return f"its next step is for the role {role}" if role else ""

    def _role_of(self, call: CoderCall | None) -> str:
        return "" if call is None else self.role_of_call[call]

    def _missing_role(self, role: str) -> str:
        """Return the role if this process does not play it, else an empty text."""
        return "" if not role or has_role(self.roles, role) else role


@dataclass(frozen=True, slots=True)
class Policy:
    """One repository's rules for the worker."""

    repository: str
    names: Labels = field(default_factory=Labels)
    base: BaseBranch = field(default_factory=BaseBranch)
    bounds: Bounds = field(default_factory=Bounds)
    intake: IntakePolicy = field(default_factory=IntakePolicy)
    code: CodePolicy = field(default_factory=CodePolicy)
    pulls: PullRequestPolicy = field(default_factory=PullRequestPolicy)
    runs: RunPolicy = field(default_factory=RunPolicy)

    @property
    def base_branch(self) -> str:
        """The present name of the branch that work starts from."""
        return self.base.name

    @property
    def default_branch(self) -> str:
        """The repository's default branch: what is merged into another one closes no issue."""
        return self.base.default


def patch_policy_of(specification: Specification, fence: Fence, allowed: frozenset[str] = frozenset()) -> PatchPolicy:
    """Return what a change for a specification may touch; `allowed` are protected files that it may touch besides."""
    planned = frozenset(specification.files) | frozenset(specification.may_change)
    return PatchPolicy(planned=planned, allowed=allowed, head=fence.work_head)
