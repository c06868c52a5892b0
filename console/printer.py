"""The console that commands print tables on; its reader may leave before the end, as `head` does."""

from __future__ import annotations

from typing import NoReturn

from rich.console import Console

from runtime.output import discard_output


class Printer(Console):
    """A console that raises `BrokenPipeError` when nobody reads it any more, and prints nothing from then on."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise what a task may catch; rich ends the program here, which tasks beside it take for a bug."""
        self.quiet = True
        discard_output(self.file)
        raise BrokenPipeError
