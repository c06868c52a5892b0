"""The fences of a trial from git, in the order in which the server moved them; nothing of the engine is asked.

A fence's message is parsed here anew: the judge of the engine's writes does not share its reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lab.github.repositories.bare import Bare
from lab.github.repositories.ref_log import RefChange

FENCE = re.compile(r"refs/ack/(?P<kind>planner|worker|reviewer)/(?P<number>[0-9]+)")
_TRAILER = re.compile(r"^([A-Z][A-Za-z0-9-]*): (.*)$", re.MULTILINE)
_PROGRESS = ("Stage", "Phase", "Work-Head", "Attempt", "Round", "Pr")


@dataclass(frozen=True, slots=True)
class FenceMove:
    """One move of a fence: its commit, the value and the first parent before it, and its trailers."""

    at: float
    ref: str
    old: str | None
    new: str
    parent: str | None
    trailers: Mapping[str, str]

    @property
    def nonce(self) -> str:
        """Name of the epoch."""
        return self.trailers.get("Nonce", "")

    @property
    def number(self) -> int:
        """Number that orders epochs: `Epoch` since the second format, before it the id of the ACK."""
        return int(self.trailers.get("Epoch") or self.trailers.get("Ack-Id") or 0)

    @property
    def agent(self) -> str:
        """Agent that wrote it, by its own trailer."""
        return self.trailers.get("Agent", "")

    @property
    def released(self) -> bool:
        """True if it says that the lock is free."""
        return bool(self.nonce) and self.trailers.get("Released", "") == self.nonce

    @property
    def runs(self) -> int:
        """Paid runs begun since the last progress."""
        return int(self.trailers.get("Runs") or 0)

    @property
    def progress(self) -> tuple[str, ...]:
        """Values that a paid run can change; runs that leave them as they are are made again."""
        return tuple(self.trailers.get(name, "") for name in _PROGRESS)


async def fence_moves(bare: Bare, changes: Sequence[RefChange]) -> dict[str, list[FenceMove]]:
    """Return the moves of each fence, in their order; a deletion is no move."""
    moved = list(_list_moves(changes))
    commits = await bare.commits({new for _, _, _, new in moved})
    found: dict[str, list[FenceMove]] = {}
    for at, ref, old, new in moved:
        info = commits[new]
        parent = info.parents[0] if info.parents else None
        trailers = dict(_TRAILER.findall(info.message))
        found.setdefault(ref, []).append(FenceMove(at, ref, old, new, parent, trailers))
    return found


def _list_moves(changes: Sequence[RefChange]) -> Iterator[tuple[float, str, str | None, str]]:
    for change in changes:
        for ref, old, new in change.moves:
            if new is not None and FENCE.fullmatch(ref):
                yield change.at, ref, old, new
