"""The log of a repository's refs: which of them moved together, from what to what, by whom and when."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class RefMove(NamedTuple):
    """One ref of a change; None stands for "does not exist"."""

    ref: str
    old: str | None
    new: str | None


@dataclass(frozen=True, slots=True)
class RefChange:
    """One push or API call: all that it moved, at once; nothing, when it was refused.

    `at` are seconds since the epoch by the server's clock, `by` is the login that changed them, empty for the server.
    """

    at: float
    by: str
    moves: tuple[RefMove, ...]


class RefLog:
    """One file of JSON lines, appended to as refs move; it outlives the lab, so that others can read it."""

    def __init__(self, path: Path, now: Callable[[], float]) -> None:
        self.path = path
        self._now = now

    def add(self, by: str | None, moves: Sequence[RefMove]) -> None:
        """Write down what has just been moved together."""
        line = json.dumps({"at": self._now(), "by": by or "", "moves": moves})
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    def read(self) -> list[RefChange]:
        """Everything in its order; nothing, if no ref has ever moved."""
        if not self.path.exists():
            return []
        return [_change(json.loads(line)) for line in self.path.read_text(encoding="utf-8").splitlines()]


def _change(line: dict[str, object]) -> RefChange:
    at, by, moves = line["at"], line["by"], line["moves"]
    if not isinstance(at, float | int) or not isinstance(by, str) or not isinstance(moves, list):
        raise ValueError(f"{line!r} is no line of a log of refs")
    return RefChange(float(at), by, tuple(RefMove(*move) for move in moves))
