"""The person who starts: what is asked of them, one line for each question, and what is said when nobody is there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import typer

from runtime.exit_codes import LeftOff
from shared.errors import EngineError, Misconfigured

INTERRUPTED = 130
"""Exit code after Ctrl-C, as of every program that a signal ends."""

TRIES = 3
"""Times that a question is put while the answers cannot be used."""


class Person(Protocol):
    """Somebody who can be asked."""

    def ask(self, question: str, *, secret: bool = False) -> str:
        """One line of answer, empty for Enter alone; a `secret` one is not shown. Raises `LeftOff` for Ctrl-C."""
        ...


class Terminal:
    """This process's own terminal."""

    def ask(self, question: str, *, secret: bool = False) -> str:
        """The line that was typed."""
        try:
            answer = typer.prompt(question, default="", show_default=False, hide_input=secret)
        except typer.Abort:
            raise LeftOff("\nInterrupted. What was done stays; the same command goes on.", INTERRUPTED) from None
        return str(answer).strip()


class Nobody:
    """Nobody can be asked: with `--yes` every question is left at its default, without it that is an error."""

    def __init__(self, *, agreed: bool) -> None:
        self._agreed = agreed

    def ask(self, question: str, *, secret: bool = False) -> str:
        """Enter alone; raises `Misconfigured` where nobody has said that this is enough."""
        if self._agreed:
            return ""
        what = " a secret" if secret else ""
        raise Misconfigured(f"Nobody can be asked{what} here ('{question}'): give --yes, and options for the rest.")


def ask(
    person: Person,
    question: str,
    usable: Callable[[str], str],
    *,
    secret: bool = False,
    otherwise: type[EngineError] = Misconfigured,
) -> str:
    """The first answer that is usable; `usable` says what is wrong with one, or nothing. Raises `otherwise`."""
    wrong = ""
    for _ in range(TRIES):
        answer = person.ask(f"{wrong}\n{question}" if wrong else question, secret=secret)
        wrong = usable(answer)
        if not wrong:
            return answer
        if isinstance(person, Nobody):
            break
    raise otherwise(wrong)
