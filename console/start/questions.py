"""The person who starts: what is asked of them, what is printed of findings, and what stops a start."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import typer

from console.doctor.command import line
from console.doctor.finding import Finding, Status, only_passing
from runtime.exit_codes import LeftOff
from shared.errors import EngineError, Misconfigured, NotAllowed, Transient

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


SHOWN = frozenset({Status.WARN, Status.FAIL})


class NotReady(NotAllowed):
    """Something is missing that only the person can give: what was done stays, and the same command goes on."""


def steps_text(findings: Iterable[Finding]) -> str:
    """Return each problem with its next step, one line each."""
    return "\n".join(line(finding) for finding in findings if finding.status in SHOWN)


def failures(findings: Iterable[Finding]) -> str:
    """The same, without warnings."""
    return steps_text(finding for finding in findings if finding.status is Status.FAIL)


def refusal(findings: list[Finding]) -> EngineError:
    """Return the error that stops the start: missing credentials and the like, or a GitHub that does not answer."""
    sentence = f"{failures(findings)}\nDo what stands behind the arrows, and start again: what was done stays."
    return Transient(sentence) if only_passing(findings) else NotReady(sentence)
