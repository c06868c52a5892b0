"""What the engine asks of a coding backend, and what it gets back: the same for every backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from shared.llm.kept_sessions import Continuation


class CoderCall(StrEnum):
    """What is asked. The first five edit files in a tree, the others read and answer JSON."""

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
        """Whether the work tree, and not the answer, is the evidence."""
        return self in _EDITING


_EDITING = frozenset(
    {CoderCall.WRITE_TESTS, CoderCall.IMPLEMENT, CoderCall.REFACTOR, CoderCall.FIX_CI, CoderCall.RESOLVE_CONFLICT}
)


class Ending(StrEnum):
    """How a run ended; what to do about each is decided by `shared.retry`.

    USAGE_LIMIT is a limit of the account (`retry_at` says until when, where the vendor says it),
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
    """What one run may take."""

    max_turns: int = 50
    budget_usd: float = 5.0
    deadline_seconds: float = 45 * 60.0
    silence_seconds: float = 25 * 60.0


@dataclass(frozen=True, slots=True)
class Request:
    """One call: who asks for what, about which item, on which tree.

    `attempt`, `round` and `retry` count from 1, 0 and 0: implementation tries, review rounds, and
    repeats of the same call (CI fixes, repairs of a malformed answer). Together with `call` and
    `title` they name the call, so a resumed run asks exactly what the interrupted one asked. `body` is the
    item's text, for recordings.
    `tree` is None for calls that need no files. `schema` is the JSON schema of the wanted answer.
    `model` is the backend's own word for one, None its default; `protected` are patterns of paths in
    the tree that the backend's own editing tools refuse. `run` names the call in the ledger, empty when
    nobody counts it; `account` is the issue that it is counted to, empty when that is `item` itself.
    `readable` is what a sandbox shows besides the tree: what was set up for it. `images` are files in the tree that
    the prompt names; a backend whose program takes images by itself hands them over. `size` is how hard the item is (a
    word of `specification.Size`), empty when nobody says. `ladder` are the backends and models of the repository's own
    ladder, empty for the usual ones; None: the configured ladder holds. `continues` is set where the program's own
    session may be continued and kept; None: the call begins anew and leaves nothing.
    """

    call: CoderCall
    item: str
    title: str
    role: str
    prompt: str
    body: str = field(default="", kw_only=True)
    tree: Path | None = None
    attempt: int = 1
    round: int = 0
    retry: int = 0
    schema: Mapping[str, Any] | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    model: str | None = None
    protected: tuple[str, ...] = (".github/**", ".workflow-engine.yml")
    run: str = ""
    account: str = ""
    readable: tuple[Path, ...] = ()
    images: tuple[Path, ...] = ()
    size: str = ""
    ladder: tuple[tuple[str, str], ...] | None = None
    continues: Continuation | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one run; `cost_usd` None means that nobody knows.

    `input_tokens` counts what was neither read from the vendor's cache nor written to it.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    model: str = ""
    cost_usd: float | None = None
    cost_source: str = "unknown"


DISABLED = (
    r"organi[sz]ation has been (?:disabled|deactivated|suspended)|(?:organization|account)_(?:disabled|deactivated)"
    r"|(?:disabled|deactivated|suspended) organi[sz]ation"
)
"""How vendors word that an account is closed, whatever the status: a matter of its owner, as a wrong key is."""

MOST_USD = 10_000.0
"""No single run costs more: a larger figure, an infinite one or one that is no number is not believed."""


def money(value: object) -> float | None:
    """A cost in US dollars as a program or a file says it; None for what cannot be one."""
    believed = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_USD
    return float(value) if believed and isinstance(value, int | float) else None


NOT_RUN = Usage(cost_usd=0.0, cost_source="not run")
"""Of a call for which nothing was started."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What a run led to. `answer` is set only for a structured call that completed.

    `notes` are sentences about what did not decide the ending, for example denied tool calls; `log`
    is the file with everything the backend said, where it is kept. `RoleRouter` sets `role`, `backend` and `rung`.
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
    """The step of the ladder that it was made on, as in "2 of 3: sonnet"; empty without a ladder."""
    resumed: int | None = None
    """Tokens of a continued session that were read from the vendor's cache; None: the call began anew."""


class Coder(Protocol):
    """One coding backend."""

    @property
    def name(self) -> str:
        """The configured word, for example `claude`."""
        ...

    async def run(self, request: Request) -> RunOutcome:
        """Make one call within its limits; never raises for a failed run, the outcome says so."""
        ...
