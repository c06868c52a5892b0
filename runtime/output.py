"""What a command says to whoever started it; that nobody listens any more is no error."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

from shared.text import shown


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
