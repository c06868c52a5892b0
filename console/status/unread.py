"""A repository that cannot be looked at, on a board among others."""

from __future__ import annotations

from dataclasses import dataclass

from console.status.row import Board


@dataclass(frozen=True, slots=True)
class Unread:
    """Its board says why."""

    board: Board

    async def look(self) -> Board:
        """The same again."""
        return self.board
