"""The port to the terminal at which a person sits: show, ask, edit."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from rich.console import RenderableType

from shared.errors import Blocked, EngineError


class Cancelled(EngineError):
    """Cancelled: nothing was created."""


class EditorUnusable(Blocked):
    """The editor cannot be used: set $VISUAL or $EDITOR to one that runs here."""


class Console(Protocol):
    """A terminal with a person in front of it."""

    def show(self, shown: RenderableType) -> None:
        """Print something."""
        ...

    def busy(self, sentence: str) -> AbstractContextManager[object]:
        """Return a block for work that takes a while; `sentence` says what the work is."""
        ...

    async def ask(self, question: str) -> str:
        """Return what the person typed, pasted lines included; raises `Cancelled` for Ctrl-C and the end of input."""
        ...

    async def edit(self, text: str, suffix: str) -> str:
        """Return `text` as the person leaves it in their editor, as a file that ends with `suffix`.

        Raises `EditorUnusable` if the editor does not start or ends with an error.
        """
        ...
