"""What `start` says of findings, and the error with which it stops."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterable

from console.doctor.finding import Finding, Status, only_passing
from console.doctor.report import line
from runtime.output import on_terminal, say
from shared.errors import EngineError, NotAllowed, Transient

WIDEST = 100
"""Columns above which lines are hard to read, however wide the terminal is."""

SHOWN = frozenset({Status.WARN, Status.FAIL})


class NotReady(NotAllowed):
    """Something is missing that only the person can give: what was done stays, and the same command goes on."""


def show(text: str) -> None:
    """Say it, on a terminal with lines that end between words."""
    say(laid_out(text, min(shutil.get_terminal_size().columns, WIDEST)) if on_terminal(sys.stdout) else text)


def laid_out(text: str, columns: int) -> str:
    """`text` in so many columns (pure): what goes on in the next line is indented, no path or URL is cut."""
    return "\n".join(_folded(line, columns) for line in text.splitlines())


def _folded(line: str, columns: int) -> str:
    if len(line.split()) < 2:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    folder = textwrap.TextWrapper(columns, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return folder.fill(line) or line


def told(findings: Iterable[Finding]) -> str:
    """What is wrong, and what to do, a line for each."""
    return "\n".join(line(finding) for finding in findings if finding.status in SHOWN)


def failures(findings: Iterable[Finding]) -> str:
    """The same, without warnings."""
    return told(finding for finding in findings if finding.status is Status.FAIL)


def refusal(findings: list[Finding]) -> EngineError:
    """What stops the start: credentials and the like, or a GitHub that does not answer."""
    sentence = f"{failures(findings)}\nDo what stands behind the arrows, and start again: what was done stays."
    return Transient(sentence) if only_passing(findings) else NotReady(sentence)
