"""A repository that is looked at again and again, among others that may be readable when it is not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from console.status.row import Board
from shared.errors import EngineError
from shared.process import CommandFailed

UNREADABLE = (EngineError, CommandFailed, OSError)
"""What keeps one repository from being read: GitHub, git, or the disk of this machine."""


class Look(Protocol):
    """One repository that can be looked at again: `console.status.gather.Looking`."""

    async def look(self) -> Board: ...


@dataclass(frozen=True, slots=True)
class Unread:
    """A repository that could not be opened; its board says why."""

    board: Board

    async def look(self) -> Board:
        """The same again."""
        return self.board


async def again(look: Look, before: Board) -> Board:
    """The newer board; what cannot be read stays as it was, with the reason."""
    try:
        return await look.look()
    except UNREADABLE as error:
        return replace(before, complaint=str(error))
