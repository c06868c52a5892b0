"""What a command says to whoever started it; that nobody listens any more is no error."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from contextlib import suppress
from typing import TextIO

from shared.text import shown

WIDEST = 100
"""Columns above which lines are hard to read, however wide the terminal is."""

_COMMAND = re.compile(r"(?<=: )(?:workflow-engine|(?:planner|worker|reviewer)-agent|git|gh|export) [^`]*$")
"""A command that ends a line: who copies it wants it whole."""


def say(sentence: str, *, error: bool = False) -> None:
    """One or more lines on standard output, or with `error` on standard error; nothing in them drives a terminal."""
    stream: TextIO | None = sys.stderr if error else sys.stdout
    if stream is None:  # closed before the start
        return
    try:
        stream.write(f"{shown(sentence)}\n")
        stream.flush()
    except (OSError, ValueError):  # nobody reads, or the disk is full
        _forget(stream)


def show(text: str, *, error: bool = False) -> None:
    """Say it as `say` does, on a terminal with lines that end between words."""
    stream: TextIO | None = sys.stderr if error else sys.stdout
    say(laid_out(text, columns_of(stream)) if on_terminal(stream) else text, error=error)


def columns_of(stream: TextIO | None) -> int:
    """How wide lines on this terminal may be."""
    try:
        columns = 0 if stream is None else os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # in memory, or closed meanwhile
        columns = 0
    return min(columns or shutil.get_terminal_size().columns, WIDEST)


def laid_out(text: str, columns: int, *, indent: int | None = None) -> str:
    """`text` in so many columns (pure): what goes on in the next line is indented, no path, URL or command is cut.

    By so many columns, `indent`, or by two more than the line that goes on.
    """
    return "\n".join(_folded(line, columns, indent) for line in text.splitlines())


def _folded(line: str, columns: int, indent: int | None) -> str:
    if len(line) <= columns or len(line.split()) < 2:
        return line
    further = " " * (len(line) - len(line.lstrip()) + 2 if indent is None else indent)
    command = _COMMAND.search(line)
    folder = textwrap.TextWrapper(columns, subsequent_indent=further, break_long_words=False, break_on_hyphens=False)
    if command is None:
        return folder.fill(line) or line
    return f"{folder.fill(line[: command.start()].rstrip())}\n{further}{command[0]}"


def keep_streams() -> None:
    """Give closed standard streams their numbers back, before a database or a socket gets one that others write to."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free: this one


def on_terminal(stream: TextIO | None) -> bool:
    """Whether a person reads this stream as it comes."""
    return stream is not None and not stream.closed and stream.isatty()


def _forget(stream: TextIO) -> None:
    """What the stream still keeps would be tried again at the end, and Python exits with 120 over it."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
