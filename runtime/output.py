"""The output of a command to whoever started it; a stream that nobody reads any more is no error."""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
from contextlib import suppress
from typing import IO, TextIO

from shared.text import shown

WIDEST = 100
"""Columns above which lines are hard to read, however wide the terminal is."""

_COMMAND = re.compile(r"(?<=: )(?:workflow-engine|(?:planner|worker|reviewer)-agent|git|gh|export) [^`]*$")
"""A command that ends a line; it stays whole, for whoever copies it."""


def say(sentence: str, *, error: bool = False) -> None:
    """Print lines on standard output, or with `error` on standard error; nothing in them drives a terminal."""
    stream: TextIO | None = sys.stderr if error else sys.stdout
    if stream is None:  # closed before the start
        return
    try:
        stream.write(f"{shown(sentence)}\n")
        stream.flush()
    except (OSError, ValueError):  # nobody reads, or the disk is full
        discard_output(stream)


def show(text: str, *, error: bool = False) -> None:
    """Print `text` as `say` does, on a terminal with lines that end between words."""
    stream: TextIO | None = sys.stderr if error else sys.stdout
    say(laid_out(text, columns_of(stream)) if on_terminal(stream) else text, error=error)


def columns_of(stream: TextIO | None) -> int:
    """Return the maximum columns of a line on this terminal."""
    try:
        columns = 0 if stream is None else os.get_terminal_size(stream.fileno()).columns
    except (OSError, ValueError):  # in memory, or closed meanwhile
        columns = 0
    return min(columns or shutil.get_terminal_size().columns, WIDEST)


def laid_out(text: str, columns: int, *, indent: int | None = None) -> str:
    """Return `text` in `columns` (pure): continuation lines are indented, no path, URL or command is cut.

    The indent is `indent` columns, or two more than that of the line that goes on.
    """
    return "\n".join(_fold_line(line, columns, indent) for line in text.splitlines())


def _fold_line(line: str, columns: int, indent: int | None) -> str:
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
    """Return whether a person reads this stream as it comes."""
    return stream is not None and not stream.closed and stream.isatty()


def discard_output(stream: IO[str]) -> None:
    """Drop what the stream still keeps: it would be tried again at the end, and Python exits with 120 over it."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
