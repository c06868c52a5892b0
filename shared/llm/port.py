"""The port of coding backends: the engine's request and the outcome of a run, the same for every backend."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from shared.llm.kept_sessions import Continuation


class CoderCall(StrEnum):
    """The kind of call. The first five edit files in a tree, the others read and answer JSON."""

    WRITE_TESTS = "write_tests"
    IMPLEMENT = "implement"
    REFACTOR = "refactor"
    FIX_CI = "fix_ci"
    RESOLVE_CONFLICT = "resolve_conflict"
    SUMMARISE = "summarise"
    PLAN = "plan"
    TRIAGE = "triage"
    ANSWER = "answer"
    REVIEW = "review"
    CHECK_CRITERIA = "check_criteria"
    DIAGNOSE = "diagnose"

    @property
    def edits(self) -> bool:
        """True if the work tree, and not the answer, is the result."""
        return self in _EDITING


_EDITING = frozenset(
    {CoderCall.WRITE_TESTS, CoderCall.IMPLEMENT, CoderCall.REFACTOR, CoderCall.FIX_CI, CoderCall.RESOLVE_CONFLICT}
)


class Ending(StrEnum):
    """The ending of a run; `shared.retry` decides what to do about it.

    USAGE_LIMIT is a limit of the account (`retry_at` is its end, if the vendor names it),
    OVERLOADED a 429 or 529 that names no time, TIMED_OUT our own deadline or limit of silence,
    KILLED a signal that was not ours. AUTH and BILLING need a person at the vendor's, CONFIG one at
    this machine (a bad flag, an unknown model, a missing program). MALFORMED answers do not fit the
    schema, EMPTY ones say nothing, REFUSED ones decline the task.
    """

    COMPLETED = "completed"
    MAX_TURNS = "max_turns"
    MAX_BUDGET = "max_budget"
    USAGE_LIMIT = "usage_limit"
    OVERLOADED = "overloaded"
    TIMED_OUT = "timed_out"
    TRANSIENT = "transient"
    PERSISTENT = "persistent"
    MALFORMED = "malformed"
    EMPTY = "empty"
    REFUSED = "refused"
    AUTH = "auth"
    BILLING = "billing"
    CONFIG = "config"
    KILLED = "killed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Limits of one run: turns, US dollars, seconds in all, seconds without output."""

    max_turns: int = 50
    budget_usd: float = 5.0
    deadline_seconds: float = 45 * 60.0
    silence_seconds: float = 25 * 60.0


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of one run; `cost_usd` is None if the cost is unknown.

    `input_tokens` excludes tokens read from the vendor's cache or written to it.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    model: str = ""
    cost_usd: float | None = None
    cost_source: str = "unknown"

    def plus(self, request: Usage) -> Usage:
        """Add the tokens of one more request of the same run."""
        return replace(
            self,
            input_tokens=self.input_tokens + request.input_tokens,
            output_tokens=self.output_tokens + request.output_tokens,
            cached_tokens=self.cached_tokens + request.cached_tokens,
            cache_write_tokens=self.cache_write_tokens + request.cache_write_tokens,
        )


NOT_RUN = Usage(cost_usd=0.0, cost_source="not run")
"""Usage of a call for which nothing was started."""


@dataclass(slots=True)
class UsageSoFar:
    """The usage of a call that has not ended: `read` is replaced when the call gets its endpoint."""

    read: Callable[[], Usage] = lambda: NOT_RUN


@dataclass(frozen=True, slots=True)
class Request:
    """One call: its kind, its item, its tree, its prompt and its limits.

    `call`, `title`, `attempt`, `round` and `retry` name it, so a resumed run asks exactly what the interrupted one
    asked.
    """

    call: CoderCall
    item: str
    title: str
    role: str
    prompt: str
    body: str = field(default="", kw_only=True)
    """The item's text, for recordings."""
    tree: Path | None = None
    """Work tree of the call; None for calls that need no files."""
    attempt: int = 1
    """The implementation try, from 1 on."""
    round: int = 0
    """The review round, from 0 on."""
    retry: int = 0
    """The repeat of the same call (a CI fix, a repair of a malformed answer), from 0 on."""
    schema: Mapping[str, Any] | None = None
    """JSON schema of the wanted answer."""
    limits: RunLimits = field(default_factory=RunLimits)
    model: str | None = None
    """The backend's own name for a model; None means its default."""
    protected: tuple[str, ...] = (".github/**", ".workflow-engine.yml")
    """Patterns of paths in the tree that the backend's own editing tools refuse."""
    run: str = ""
    """Name of the call in the ledger; empty if it is not counted."""
    billed_to: str = ""
    """The issue that the call is counted to; empty if that is `item` itself."""
    readable: tuple[Path, ...] = ()
    """Paths that a sandbox shows besides the tree: those set up for it."""
    images: tuple[Path, ...] = ()
    """Files in the tree that the prompt names; a backend whose program takes images by itself hands them over."""
    size: str = ""
    """Difficulty of the item (a value of `specification.Size`); empty if unknown."""
    ladder: tuple[tuple[str, str], ...] | None = None
    """Backends and models of the repository's own ladder, empty for the usual ones; None: the configured ladder."""
    continues: Continuation | None = None
    """The program's own session, to be continued and kept; None: the call starts a new one and leaves nothing."""
    usage_so_far: UsageSoFar = field(default_factory=UsageSoFar, repr=False, compare=False)
    """Usage of the call while it lasts, for whoever must settle one that was cancelled."""


MOST_USD = 10_000.0
"""Largest plausible cost of a single run: larger, infinite and non-numeric figures are rejected."""


def plausible_usd(value: object) -> float | None:
    """Return a cost in US dollars as a program or a file gives it; None if it is implausible."""
    believed = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_USD
    return float(value) if believed and isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The outcome of a run. `answer` is set only for a structured call that completed.

    `notes` are sentences about facts that did not decide the ending, for example denied tool calls; `log`
    is the file with the backend's whole output, if it is kept. `RoleRouter` sets `role`, `backend` and `rung`.
    """

    ending: Ending
    text: str = ""
    answer: Mapping[str, Any] | None = None
    usage: Usage = Usage()
    retry_at: datetime | None = None
    notes: tuple[str, ...] = ()
    log: Path | None = None
    role: str = ""
    backend: str = ""
    rung: str = ""
    """The step of the model ladder, as in "2 of 3: sonnet"; empty without a ladder."""
    resumed: int | None = None
    """Tokens of a continued session that were read from the vendor's cache; None if the call started a new session."""


class Coder(Protocol):
    """One coding backend."""

    @property
    def name(self) -> str:
        """The backend's name in the configuration, for example `claude`."""
        ...

    async def run(self, request: Request) -> RunOutcome:
        """Make one call within its limits; never raises for a failed run, the outcome says so."""
        ...
