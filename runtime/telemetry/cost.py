"""The cost of a task so far: calls of coders, dollars, tokens and time; by its ledger and its events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from shared.budget import ledger_lines
from shared.budget.ledger_lines import Entry
from shared.telemetry.events import Event, EventKind

NOT_MADE = "not made"
"""The ending, in an event, of a call that was refused before it cost anything."""


@dataclass(frozen=True, slots=True)
class TaskCost:
    """Sums over all calls and all processes of a task.

    `usd` counts each of the `unpriced` calls, whose cost nobody knows, as the configuration says. Tokens of the
    vendor's cache are input tokens. `seconds` is the time in which a process worked on the task.
    """

    calls: int = 0
    usd: float = 0.0
    unpriced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0


def reckoned(
    events: Iterable[Event], entries: Sequence[Entry], *, now: datetime, unknown_run: float, seconds: float
) -> TaskCost:
    """Return what `events` and the ledger's `entries` add up to (pure).

    The ledger decides about dollars, because a killed process can lose events; a coder that costs nothing is not in it.
    Only events tell tokens.
    """
    calls = [one.data for one in events if one.kind is EventKind.LLM_CALL and one.data.get("ending") != NOT_MADE]
    runs = ledger_lines.runs(entries, now, unknown_run) if entries else []
    told = [call.get("cost_usd") for call in calls]
    usd = sum(run.usd for run in runs) if runs else sum(cost for cost in told if cost is not None)
    unpriced = sum(run.source == "unknown" for run in runs) if runs else told.count(None)
    inputs = ("input_tokens", "cached_tokens", "cache_write_tokens")
    return TaskCost(
        calls=max(len(calls), len(runs)),
        usd=round(usd, 6),
        unpriced=unpriced,
        input_tokens=sum(int(call.get(name, 0)) for call in calls for name in inputs),
        output_tokens=sum(int(call.get("output_tokens", 0)) for call in calls),
        seconds=round(seconds, 1),
    )


def spelled(spent: TaskCost) -> str:
    """Return the cost in words, as in `5 calls, $1.20, 40,312 tokens in and 8,120 out, 12 min 5 s`."""
    parts = [f"{spent.calls} call{'s' * (spent.calls != 1)}", f"${spent.usd:.2f}"]
    if spent.unpriced:
        parts[1] += f" ({spent.unpriced} of them of unknown cost)"
    if spent.input_tokens or spent.output_tokens:
        parts.append(f"{spent.input_tokens:,} tokens in and {spent.output_tokens:,} out")
    return ", ".join([*parts, lasting(spent.seconds)])


def lasting(seconds: float) -> str:
    """Return a length of time for people."""
    minutes, left = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {left} s" if minutes else f"{left} s"
