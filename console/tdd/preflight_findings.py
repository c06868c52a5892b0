"""Findings before a task begins: all errors, and warnings for the person."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.errors import EngineError, Misconfigured, NotAllowed, Unauthorized


class Unready(Misconfigured):
    """Something keeps the task from beginning."""

    def __init__(self, errors: tuple[str, ...], warnings: tuple[str, ...], *, credentials: bool) -> None:
        """`credentials`: nothing but credentials or rights is missing."""
        super().__init__("\n".join([*(f"error: {one}" for one in errors), *(f"warning: {one}" for one in warnings)]))
        self.errors, self.warnings, self.credentials = errors, warnings, credentials


@dataclass
class Findings:
    """Errors (and whether each is about credentials) and warnings for the person."""

    errors: list[tuple[str, bool]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def wrong(self, sentence: str) -> None:
        """Add an error: something that has to be changed first."""
        self.errors.append((sentence, False))

    def caught(self, error: EngineError) -> None:
        """Add the error's own sentence."""
        self.errors.append((str(error), isinstance(error, Unauthorized | NotAllowed)))

    def check(self) -> None:
        """Raise `Unready` if there is any error."""
        if self.errors:
            errors = tuple(sentence for sentence, _ in self.errors)
            raise Unready(errors, tuple(self.warnings), credentials=all(told for _, told in self.errors))
