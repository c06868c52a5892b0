"""The figures of a report: work, notes and ledger folded to rates, means and sums, and compared with targets (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import mean, median
from typing import TypeVar

from console.report.item import Durations, Item, Touch, WorkState
from console.report.rework import WINDOW, Reason
from shared.budget import ledger_lines
from shared.budget.ledger_lines import Entry, Reservation, Settlement
from shared.workflow import Stage, Track

T = TypeVar("T", int, Touch, Reason)


@dataclass(frozen=True, slots=True)
class Facts:
    """Data of one repository for a report. `notes` maps a merged item to the cost of its worker's runs by its notes,
    None where the cost of a run is not known; `setbacks` counts the errors in notes by their type.
    """

    since: datetime
    until: datetime
    items: Sequence[Item] = ()
    stories: Sequence[tuple[datetime, Durations]] = ()
    rework: Mapping[int, Reason] = field(default_factory=dict)
    ledger: Sequence[Entry] = ()
    notes: Mapping[int, float | None] = field(default_factory=dict)
    setbacks: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cost:
    """US dollars. `total` is everything that was spent in the period, `per_merged` that over what was merged in it,

    `own` the mean of the merged items' own runs, whenever they were made. `source` is `ledger` or `notes`, which
    know the worker's runs alone; `unknown_runs` count what the configuration says.
    """

    source: str
    total: float | None
    per_merged: float | None
    own: float | None
    unknown_runs: int = 0


@dataclass(frozen=True, slots=True)
class Spell:
    """Seconds that items spent in one stage."""

    track: Track
    stage: Stage
    items: int
    median_seconds: float
    mean_seconds: float


@dataclass(frozen=True, slots=True)
class BackendRuns:
    """The paid runs of one role by one backend in the period; `completed` of those whose ending is known.

    `rung` is the step of a ladder that they were made on, empty without one; `merged` counts the items merged in the
    period whose last run of the role was one of these.
    """

    role: str
    backend: str
    runs: int
    completed: int
    usd: float
    rung: str = ""
    merged: int = 0


@dataclass(frozen=True, slots=True)
class Resumed:
    """The paid runs of the period that went on in an earlier run's session.

    `cached_tokens` is what their first requests read of those sessions from the vendor's cache, instead of paying for
    it anew.
    """

    runs: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Figures:
    """One repository's report."""

    repository: str
    since: datetime
    until: datetime
    outcomes: Mapping[WorkState, int]
    zero_touch: int
    touches: Mapping[Touch, int]
    tries: Mapping[int, int]
    rounds: Mapping[int, int]
    rework: Mapping[Reason, int]
    too_young: int
    """Merged items whose week is not over."""
    cost: Cost
    lead_median_seconds: float | None
    spells: tuple[Spell, ...]
    backend_runs: tuple[BackendRuns, ...]
    setbacks: Mapping[str, int]
    resumed: Resumed = Resumed()

    @property
    def merged(self) -> int:
        """Items merged in the period."""
        return self.outcomes[WorkState.MERGED]

    @property
    def zero_touch_rate(self) -> float | None:
        """The part of them that nobody had to help; None when none was merged."""
        return self.zero_touch / self.merged if self.merged else None

    @property
    def rework_rate(self) -> float | None:
        """The part of them that was put right within the week."""
        return sum(self.rework.values()) / self.merged if self.merged else None

    @property
    def tries_mean(self) -> float | None:
        """Implementations per merged item."""
        return sum(n * count for n, count in self.tries.items()) / self.merged if self.merged else None


def within(items: Iterable[Item], since: datetime, until: datetime) -> tuple[Item, ...]:
    """The items that belong to a period: they ended in it, or are open."""
    return tuple(item for item in items if item.outcome is WorkState.OPEN or since <= item.ended_at <= until)


def figures(repository: str, facts: Facts, unknown_run: float) -> Figures:
    """Everything about the items of the period; `unknown_run` is what a run counts whose cost nobody knows."""
    period = within(facts.items, facts.since, facts.until)
    merged = [item for item in period if item.outcome is WorkState.MERGED]
    counted = Counter(item.outcome for item in period)
    return Figures(
        repository=repository,
        since=facts.since,
        until=facts.until,
        outcomes={outcome: counted[outcome] for outcome in WorkState},
        zero_touch=sum(not item.touches for item in merged),
        touches=_sorted_counts(touch for item in merged for touch in item.touches),
        tries=_sorted_counts(item.tries for item in merged),
        rounds=_sorted_counts(item.rounds for item in merged),
        rework=_sorted_counts(facts.rework[item.number] for item in merged if item.number in facts.rework),
        too_young=sum(facts.until - item.ended_at < WINDOW for item in merged),
        cost=_cost(facts, merged, unknown_run),
        lead_median_seconds=median(item.lead.total_seconds() for item in merged) if merged else None,
        spells=_spells(facts, merged),
        backend_runs=_backend_runs(facts, merged),
        setbacks=dict(sorted(facts.setbacks.items())),
        resumed=_resumed_runs(facts),
    )


def _sorted_counts(values: Iterable[T]) -> dict[T, int]:
    return dict(sorted(Counter(values).items()))


def _cost(facts: Facts, merged: Sequence[Item], unknown_run: float) -> Cost:
    if not facts.ledger:
        known = [usd for item in merged if (usd := facts.notes.get(item.number)) is not None]
        unknown = len(merged) - len(known)
        total = sum(known) if merged and not unknown else None
        each = total / len(merged) if total is not None else None
        return Cost("notes", total, each, each, unknown)
    runs = ledger_lines.runs(facts.ledger, facts.until, unknown_run)
    recent = [run for run in runs if facts.since <= run.at <= facts.until and not run.open]
    total = sum(run.usd for run in recent)
    numbers = {f"#{item.number}" for item in merged}
    own = sum(run.usd for run in runs if run.item in numbers)
    unknown = sum(run.source == "unknown" for run in recent)
    count = len(merged)
    return Cost("ledger", total, total / count if count else None, own / count if count else None, unknown)


def _spells(facts: Facts, merged: Sequence[Item]) -> tuple[Spell, ...]:
    told = [(Track.STORY, spans) for at, spans in facts.stories if facts.since <= at <= facts.until]
    told += [(track, spans) for item in merged for track, spans in item.stages.items()]
    found: dict[tuple[Track, Stage], list[float]] = {}
    for track, spans in told:
        for stage, span in spans.items():
            found.setdefault((track, stage), []).append(span.total_seconds())
    order = [(track, stage) for track in Track for stage in Stage if (track, stage) in found]
    return tuple(Spell(*key, len(found[key]), median(found[key]), mean(found[key])) for key in order)


def _backend_runs(facts: Facts, merged: Iterable[Item]) -> tuple[BackendRuns, ...]:
    """By the ledger's settlements; those that name no ending tell nothing of success."""
    found: dict[tuple[str, str, str], list[Settlement]] = {}
    for entry in facts.ledger:
        if isinstance(entry, Settlement) and entry.details.ending and facts.since <= entry.at <= facts.until:
            found.setdefault((entry.details.role, entry.details.backend, entry.details.rung), []).append(entry)
    brought = Counter(_last_runs(facts.ledger, {f"#{item.number}" for item in merged}))
    return tuple(
        BackendRuns(
            role,
            backend,
            len(runs),
            sum(run.details.ending == "completed" for run in runs),
            sum(run.usd for run in runs),
            rung,
            brought[role, backend, rung],
        )
        for (role, backend, rung), runs in sorted(found.items())
    )


def _resumed_runs(facts: Facts) -> Resumed:
    """By the ledger's settlements."""
    recent = (one.details.resumed for one in facts.ledger if isinstance(one, Settlement) and one.at >= facts.since)
    tokens = [count for count in recent if count is not None]
    return Resumed(len(tokens), sum(tokens))


def _last_runs(ledger: Sequence[Entry], items: Collection[str]) -> Iterator[tuple[str, str, str]]:
    """Role, backend and rung of the last run that each role made for each of these items."""
    of = {entry.run: entry.item for entry in ledger if isinstance(entry, Reservation)}
    last: dict[tuple[str, str], tuple[str, str, str]] = {}
    for entry in ledger:
        if isinstance(entry, Settlement) and entry.details.ending and of.get(entry.run) in items:
            details = entry.details
            last[of[entry.run], details.role] = details.role, details.backend, details.rung
    yield from last.values()


@dataclass(frozen=True, slots=True)
class Target:
    """A bound that a figure should keep to: from below when `at_least`, else from above."""

    bound: float
    at_least: bool
    spelled: str

    def met(self, value: float | None) -> bool | None:
        """Return whether the figure reaches the target; None where the figure is unknown."""
        if value is None:
            return None
        return value >= self.bound if self.at_least else value <= self.bound

    def formatted(self, value: float | None) -> str:
        """Return the text that follows the figure in the report."""
        met = self.met(value)
        return f" [target: {self.spelled}{'' if met is None else ', met' if met else ', missed'}]"


ZERO_TOUCH = Target(0.7, True, "70 % or more")
TRIES = Target(1.5, False, "1.5 or fewer")
REWORK = Target(0.1, False, "10 % or less")
COST = Target(5.0, False, "$5.00 or less for each")
RUNS = Target(0.9, True, "90 % or more")
"""Share of the paid runs of one role by one backend that complete."""


def judged(f: Figures) -> Mapping[str, tuple[Target, float | None]]:
    """The figures that have a target, as they are named in the JSON."""
    runs = sum(one.runs for one in f.backend_runs)
    return {
        "zero_touch": (ZERO_TOUCH, f.zero_touch_rate),
        "tries": (TRIES, f.tries_mean),
        "rework": (REWORK, f.rework_rate),
        "cost_per_merged": (COST, f.cost.per_merged),
        "runs_completed": (RUNS, sum(one.completed for one in f.backend_runs) / runs if runs else None),
    }
