"""The report for programs: JSON of a shape that stays; docs/observability.md lists its fields."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

from console.report.figures import Cast, Cost, Figures, Spell
from console.report.targets import judged

VERSION = 1


def document(f: Figures) -> str:
    """One line of JSON. Rates are parts of 1, costs US dollars; null means that nothing is known."""
    rework = {"rate": _round(f.rework_rate), "reasons": _words(f.rework), "week_not_over": f.too_young}
    return json.dumps(
        {
            "version": VERSION,
            "repository": f.repository,
            "since": _time(f.since),
            "until": _time(f.until),
            "outcomes": _words(f.outcomes),
            "zero_touch": {"items": f.zero_touch, "rate": _round(f.zero_touch_rate), "touches": _words(f.touches)},
            "tries": {"mean": _round(f.tries_mean), "distribution": _words(f.tries)},
            "rounds": _words(f.rounds),
            "rework": rework,
            "cost_usd": _cost(f.cost),
            "lead_median_seconds": f.lead_median_seconds,
            "stages": [_spell(one) for one in f.spells],
            "runs": [_cast(one) for one in f.casts],
            "setbacks": dict(f.setbacks),
            "targets": {
                name: {"target": target.bound, "at_least": target.at_least, "met": target.met(value)}
                for name, (target, value) in judged(f).items()
            },
        }
    )


def _cost(cost: Cost) -> dict[str, Any]:
    return {
        "source": cost.source,
        "total": _round(cost.total),
        "per_merged": _round(cost.per_merged),
        "own_mean": _round(cost.own),
        "unknown_runs": cost.unknown_runs,
    }


def _spell(one: Spell) -> dict[str, Any]:
    return {
        "kind": one.track,
        "stage": one.stage,
        "items": one.items,
        "median_seconds": one.median_seconds,
        "mean_seconds": _round(one.mean_seconds),
    }


def _cast(one: Cast) -> dict[str, Any]:
    return {
        "role": one.role,
        "backend": one.backend,
        "runs": one.runs,
        "completed": one.completed,
        "rate": _round(one.completed / one.runs),
        "cost_usd": _round(one.usd),
    }


def _words(counts: Any) -> dict[str, int]:
    return {str(word): count for word, count in counts.items()}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")
