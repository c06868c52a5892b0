"""A repository that is looked at again and again, among others that may be readable when it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from console.history.repository_reader import unreadable
from console.status.row import Board
from shared.errors import EngineError
from shared.process import CommandFailed

UNREADABLE = (EngineError, CommandFailed, OSError)
"""Errors that keep one repository from being read: GitHub, git, or the disk of this machine."""


class Look(Protocol):
    """One repository that can be looked at again: `console.status.gather.Looking`."""

    @property
    def repository(self) -> str:
        """`owner/repo`."""
        ...

    async def look(self) -> Board: ...

    def unread(self, why: str) -> Board:
        """Its board when it cannot be read."""
        ...


@dataclass(frozen=True, slots=True)
class Unread:
    """A repository that could not be opened; its board says why."""

    board: Board

    @property
    def repository(self) -> str:
        """`owner/repo`."""
        return self.board.repository

    async def look(self) -> Board:
        """The same again."""
        return self.board

    def unread(self, why: str) -> Board:
        """The same again."""
        return self.board


async def first(looks: Sequence[Look]) -> list[Board]:
    """The boards of all; one that cannot be read says why. Raises what is in the way of the first where all are."""
    boards: list[Board] = []
    in_the_way: EngineError | None = None
    for look in looks:
        try:
            boards.append(await look.look())
        except UNREADABLE as error:
            told = error if isinstance(error, EngineError) else unreadable(look.repository, error)
            in_the_way = in_the_way or told
            boards.append(look.unread(str(told)))
    if in_the_way is not None and all(board.complaint for board in boards):
        raise in_the_way
    return boards


async def again(look: Look, before: Board) -> Board:
    """The newer board; what cannot be read stays as it was, with the reason."""
    try:
        return await look.look()
    except UNREADABLE as error:
        return replace(before, complaint=str(error))
