"""Who plays which role: a coder that gives each request to the backend, model and limits of its role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shared.llm.port import Call, Coder, Limits, Outcome, Request

PHASES: Mapping[Call, str] = {
    Call.WRITE_TESTS: "test-automation",
    Call.IMPLEMENT: "developer",
    Call.REFACTOR: "code-reviewer",
    Call.FIX_CI: "debugger",
    Call.RESOLVE_CONFLICT: "developer",
    Call.SUMMARISE: "architect",
    Call.PLAN: "architect",
    Call.REVIEW: "code-reviewer",
    Call.CHECK_CRITERIA: "qa",
    Call.DIAGNOSE: "debugger",
}
"""Which role makes which call, unless the configuration says otherwise."""

GENERALIST = "generalist"
"""The role that has all others."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one role has of its own; None leaves what holds for all. Limits can only lower a call's own."""

    coder: Coder | None = None
    model: str | None = None
    max_turns: int | None = None
    budget_usd: float | None = None
    deadline_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Cast:
    """The backend of a repository, the parts of the roles that differ from it, and calls that another role makes."""

    coder: Coder
    parts: Mapping[str, Part] = field(default_factory=dict)
    phases: Mapping[Call, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The configured word of what holds for every role without a part."""
        return self.coder.name

    async def run(self, request: Request) -> Outcome:
        """Make one call as its role; a role without a part plays as the generalist does."""
        role = self.phases.get(request.call, request.role)
        part = self.parts.get(role) or self.parts.get(GENERALIST) or Part()
        limits, model = lowered(request.limits, part), part.model or request.model
        coder = part.coder or self.coder
        outcome = await coder.run(replace(request, role=role, model=model, limits=limits))
        return replace(outcome, role=role, backend=coder.name)


def lowered(limits: Limits, part: Part) -> Limits:
    """`limits` as far as the role allows them."""
    return replace(
        limits,
        max_turns=min(limits.max_turns, part.max_turns or limits.max_turns),
        budget_usd=min(limits.budget_usd, part.budget_usd or limits.budget_usd),
        deadline_seconds=min(limits.deadline_seconds, part.deadline_seconds or limits.deadline_seconds),
    )


def plays(roles: frozenset[str], role: str) -> bool:
    """Whether an agent restricted to `roles` (empty: not restricted) does the work of `role`."""
    return not roles or GENERALIST in roles or role in roles
