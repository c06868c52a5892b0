"""Who plays which role: a coder that gives each request to the backend, model and limits of its role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shared.errors import Blocked
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
class RoleOverride:
    """What one role has of its own; None leaves what holds for all. Limits can only lower a call's own."""

    coder: Coder | None = None
    model: str | None = None
    max_turns: int | None = None
    budget_usd: float | None = None
    deadline_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class RoleRouter:
    """The backend of a repository, the parts of the roles that differ from it, and calls that another role makes."""

    coder: Coder
    parts: Mapping[str, RoleOverride] = field(default_factory=dict)
    phases: Mapping[Call, str] = field(default_factory=dict)
    built: Mapping[str, Coder] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    """Items whose calls a person has given to one of `built`, whatever their roles say: item -> backend."""

    @property
    def name(self) -> str:
        """The configured word of what holds for every role without a part."""
        return self.coder.name

    async def run(self, request: Request) -> Outcome:
        """Make one call as its role; a role without a part plays as the generalist does.

        Raises `BackendMissing` for an item of a backend that is not configured here.
        """
        role, part = self._played(request)
        limits, model = lowered(request.limits, part), part.model or request.model
        coder = part.coder or self.coder
        chosen = self.choices.get(request.item)
        if chosen is not None and chosen != coder.name:
            coder, model = self._built(chosen), None  # a model is a word of its own backend
        outcome = await coder.run(replace(request, role=role, model=model, limits=limits))
        return replace(outcome, role=role, backend=coder.name)

    def backend_of(self, request: Request) -> str:
        """The configured word of the backend that makes this call, whether or not it is configured here."""
        _, part = self._played(request)
        return self.choices.get(request.item) or (part.coder or self.coder).name

    def _played(self, request: Request) -> tuple[str, RoleOverride]:
        role = self.phases.get(request.call, request.role)
        return role, self.parts.get(role) or self.parts.get(GENERALIST) or RoleOverride()

    def _built(self, name: str) -> Coder:
        if name not in self.built:
            raise BackendMissing(name)
        return self.built[name]


class BackendMissing(Blocked):
    """The item is to go on with a backend that is not configured on this machine."""

    def __init__(self, name: str) -> None:
        super().__init__(f"`/retry` asked for the backend '{name}', which is not configured on this machine.")


def lowered(limits: Limits, part: RoleOverride) -> Limits:
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
