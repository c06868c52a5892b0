"""The router of roles: a coder that gives each request to the backend, model and limits of its role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from shared.errors import Blocked
from shared.llm.port import Coder, CoderCall, Request, RunLimits, RunOutcome

ROLE_OF_CALL: Mapping[CoderCall, str] = {
    CoderCall.WRITE_TESTS: "test-automation",
    CoderCall.IMPLEMENT: "developer",
    CoderCall.REFACTOR: "code-reviewer",
    CoderCall.FIX_CI: "debugger",
    CoderCall.RESOLVE_CONFLICT: "developer",
    CoderCall.SUMMARISE: "architect",
    CoderCall.PLAN: "architect",
    CoderCall.TRIAGE: "architect",
    CoderCall.ANSWER: "assistant",
    CoderCall.REVIEW: "code-reviewer",
    CoderCall.CHECK_CRITERIA: "qa",
    CoderCall.DIAGNOSE: "debugger",
}
"""The role of each call, unless the configuration says otherwise."""

GENERALIST = "generalist"
"""The role that includes all others."""

WORKER_ROLES = (*dict.fromkeys(role for call, role in ROLE_OF_CALL.items() if call.edits), GENERALIST)
"""Roles to which a worker may be restricted: those of the calls that edit."""


@dataclass(frozen=True, slots=True)
class RoleOverride:
    """Overrides of one role; None keeps the value for all roles. Limits can only lower a call's own."""

    coder: Coder | None = None
    model: str | None = None
    max_turns: int | None = None
    budget_usd: float | None = None
    deadline_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Rung:
    """One step of a model ladder: another backend, another model, or both; None keeps the value without a ladder."""

    coder: Coder | None = None
    model: str | None = None


CLIMBING = frozenset({CoderCall.WRITE_TESTS, CoderCall.IMPLEMENT, CoderCall.REFACTOR, CoderCall.FIX_CI})
"""Calls that use the ladder: each further try of one goes one rung up."""


def rung_of(request: Request, rungs: int) -> int | None:
    """Return the index of the rung for a call; None if the call uses no ladder, or there is none.

    A small item, or one of unknown size, begins at the lowest, a medium one in the middle, a large one at the highest.
    """
    if not rungs or request.call not in CLIMBING:
        return None
    start = {"medium": (rungs - 1) // 2, "large": rungs - 1}.get(request.size, 0)
    return min(start + request.attempt - 1 + request.retry, rungs - 1)


@dataclass(frozen=True, slots=True)
class RoleRouter:
    """The backend of a repository, the overrides of roles, and the calls that are given to other roles."""

    coder: Coder
    overrides: Mapping[str, RoleOverride] = field(default_factory=dict)
    phases: Mapping[CoderCall, str] = field(default_factory=dict)
    built: Mapping[str, Coder] = field(default_factory=dict)
    choices: Mapping[str, str] = field(default_factory=dict)
    """Items whose calls a person has given to one of `built`, whatever their roles say: item -> backend."""
    ladder: tuple[Rung, ...] = ()
    """The rungs for further tries of a call, whatever their roles say."""

    @property
    def name(self) -> str:
        """Name of the default backend."""
        return self.coder.name

    async def run(self, request: Request) -> RunOutcome:
        """Make one call as its role; a role without an override uses the generalist's.

        Raises `BackendMissing` if the item's backend is not configured here.
        """
        role, override = self._role_and_override(request)
        ladder = self._ladder(request)
        rung = rung_of(request, len(ladder))
        step = override if rung is None else ladder[rung]
        coder = step.coder or self.coder
        model = override.model or request.model if rung is None else step.model
        chosen = self.choices.get(request.item)
        if chosen is not None and chosen != coder.name:
            coder, model, rung = self._backend_called(chosen), None, None  # a model is a word of its own backend
        shown = ""
        if rung is not None:
            shown = f"{rung + 1} of {len(ladder)}: {step.model or (step.coder or self.coder).name}"
        outcome = await coder.run(replace(request, role=role, model=model, limits=lowered(request.limits, override)))
        return replace(outcome, role=role, backend=coder.name, rung=shown)

    def _ladder(self, request: Request) -> tuple[Rung, ...]:
        if request.ladder is None:
            return self.ladder
        return tuple(
            Rung(self._backend_called(name) if name else None, model or None) for name, model in request.ladder
        )

    def backend_of(self, request: Request) -> str:
        """Return the name of the backend that makes this call, even if it is not configured here."""
        _, override = self._role_and_override(request)
        ladder = self._ladder(request)
        rung = rung_of(request, len(ladder))
        usual = override.coder if rung is None else ladder[rung].coder
        return self.choices.get(request.item) or (usual or self.coder).name

    def _role_and_override(self, request: Request) -> tuple[str, RoleOverride]:
        role = self.phases.get(request.call, request.role)
        return role, self.overrides.get(role) or self.overrides.get(GENERALIST) or RoleOverride()

    def _backend_called(self, name: str) -> Coder:
        if name not in self.built:
            raise BackendMissing(name)
        return self.built[name]


class BackendMissing(Blocked):
    """The item is to go on with a backend that is not configured on this machine."""

    def __init__(self, name: str) -> None:
        super().__init__(f"`/retry` asked for the backend '{name}', which is not configured on this machine.")


def lowered(limits: RunLimits, override: RoleOverride) -> RunLimits:
    """Lower `limits` to those of the role."""
    return replace(
        limits,
        max_turns=min(limits.max_turns, override.max_turns or limits.max_turns),
        budget_usd=min(limits.budget_usd, override.budget_usd or limits.budget_usd),
        deadline_seconds=min(limits.deadline_seconds, override.deadline_seconds or limits.deadline_seconds),
    )


def has_role(roles: frozenset[str], role: str) -> bool:
    """Return whether an agent restricted to `roles` (empty: not restricted) does the work of `role`."""
    return not roles or GENERALIST in roles or role in roles
