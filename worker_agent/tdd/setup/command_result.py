"""The result of one command of a repository, as it was run in a checkout."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of one command; `code` None: stopped, and `output_tail` has the reason and the last output."""

    command: str
    code: int | None
    output_tail: str = ""

    @property
    def clean(self) -> bool:
        """True if the command found nothing."""
        return self.code == 0

    @property
    def ending(self) -> str:
        """The result in words, for notes and pull requests."""
        if self.clean:
            return "clean"
        return "stopped" if self.code is None else f"exit code {self.code}"
