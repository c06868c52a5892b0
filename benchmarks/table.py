"""Rows of figures beside their goals: printed for people, written as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RESULTS = Path(__file__).with_name("results")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure. `goal` is the most that is allowed, None for a figure without one; `note` says what was counted."""

    what: str
    measured: float
    unit: str
    goal: float | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """The word whether the goal is met; empty if there is none."""
        if self.goal is None:
            return ""
        return "held" if self.measured <= self.goal else "missed"


def markdown(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    head = ["| what | measured | goal | |", "|---|---|---|---|"]
    return "\n".join(head + [_line(row) for row in rows])


def save(name: str, part: str, rows: Sequence[Row], details: Mapping[str, object]) -> Path:
    """Write one part of `results/NAME.json`, keeping the other parts that stand there."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    parts = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    parts[part] = {"rows": [asdict(row) | {"verdict": row.verdict} for row in rows], "details": details}
    path.write_text(json.dumps(parts, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return path


def _line(row: Row) -> str:
    what = f"{row.what} ({row.note})" if row.note else row.what
    goal = "" if row.goal is None else f"<= {_number(row.goal)} {row.unit}"
    return f"| {what} | {_number(row.measured)} {row.unit} | {goal} | {row.verdict} |"


def _number(value: float) -> str:
    return f"{value:.0f}" if float(value).is_integer() or abs(value) >= 1000 else f"{value:.3g}"
