"""The board for programs: JSON of a shape that stays (docs/operating.md lists its fields)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from console.status import machine
from console.status.machine import Machine
from console.status.row import Board, ItemRow, Merged

VERSION = 1


def document(boards: Iterable[Board], this_machine: Machine | None = None) -> str:
    """One line of JSON with every board, and what was seen to run on this machine."""
    repositories = [
        {
            "repository": board.repository,
            "at": _time(board.at),
            "complaint": board.complaint or None,
            "items": [_item(row) for row in board.rows],
            "merged": [_merged_item(one) for one in board.merged],
            "spent": None
            if board.spent is None
            else {name: round(usd, 4) for name, usd in asdict(board.spent).items()},
        }
        for board in boards
    ]
    here = machine.document(this_machine or Machine())
    return json.dumps({"version": VERSION, "repositories": repositories, "machine": here})


def _item(row: ItemRow) -> dict[str, Any]:
    waiting = row.waiting
    return {
        "kind": row.track,
        "number": row.number,
        "title": row.title,
        "stage": row.stage,
        "moved_at": _time(row.moved_at),
        "holder": row.holder or None,
        "held_since": _time(row.held_since),
        "attempt": row.attempts[0] if row.attempts else None,
        "max_attempts": row.attempts[1] if row.attempts else None,
        "round": row.round,
        "cost_usd": None if row.usd is None else round(row.usd, 4),
        "ci": row.ci,
        "waits_for": None
        if waiting is None
        else {"whom": waiting.whom, "why": waiting.why, "until": _time(waiting.until)},
        "flags": list(row.flags),
        "commands": [f"/{verb}" for verb in row.commands],
        "issue": row.issue or None,
        "pull_request": row.pull_request or None,
        "story": row.story or None,
    }


def _merged_item(one: Merged) -> dict[str, Any]:
    return {"number": one.number, "title": one.title or None, "pull_request": one.pull_request, "at": _time(one.at)}


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat(timespec="seconds")
