"""The output of a CLI, read as it comes: JSON lines into events, everything into a capped file, the last lines kept."""

from __future__ import annotations

import json
import math
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LINE_CAP = 4 * 2**20
"""Bytes of one line; a longer one is dropped: parsing it would keep every other item waiting."""

LOG_CAP = 256 * 2**20
"""Bytes of one call that are written to disk."""

TAIL_LINES = 50
TAIL_LINE_CHARS = 500

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][0-9A-Z]|[@-Z\\-_])")

Event = Mapping[str, Any]


class JsonLines:
    """Calls `take(event)` for each line that is a JSON object; of other lines the last ones are kept.

    Bytes that are no UTF-8 become replacement characters, colours are removed, and a last line
    without its newline is read at `close`.
    """

    def __init__(self, take: Callable[[Event], None], *, cap: int = LINE_CAP) -> None:
        self._take = take
        self._cap = cap
        self._parts: list[bytes] = []
        self._size = 0
        self._dropping = False
        self.tail = Tail()

    def feed(self, chunk: bytes) -> None:
        """Process the next chunk, cut anywhere."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._append(piece)
            self._end_line()
        self._append(rest)

    def close(self) -> None:
        """Process the last line, even without a newline."""
        if self._size or self._dropping:
            self._end_line()

    def _append(self, piece: bytes) -> None:
        if self._dropping or not piece:
            return
        self._size += len(piece)
        if self._size > self._cap:
            self._dropping, self._parts = True, []
        else:
            self._parts.append(piece)

    def _end_line(self) -> None:
        line = b"".join(self._parts).decode("utf-8", "replace").strip()
        dropped = self._dropping
        self._parts, self._size, self._dropping = [], 0, False
        event = None if dropped else _event(line)
        if event is not None:
            self._take(event)
        elif line or dropped:
            self.tail.add(line or f"(a line of more than {self._cap} bytes)")


class Tail:
    """The last lines of a stream of text."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=TAIL_LINES)
        self._open = b""

    def feed(self, chunk: bytes) -> None:
        """Add the next chunk; only its end matters."""
        *ended, self._open = (self._open + chunk)[-(2**16) :].split(b"\n")
        for line in ended:
            self.add(line.decode("utf-8", "replace"))

    def add(self, line: str) -> None:
        """Add one whole line."""
        if text := plain(line).strip():
            self._lines.append(text[:TAIL_LINE_CHARS])

    @property
    def text(self) -> str:
        """The kept lines, including an unfinished one."""
        unfinished = plain(self._open.decode("utf-8", "replace")).strip()
        return "\n".join([*self._lines, *([unfinished[:TAIL_LINE_CHARS]] if unfinished else [])])


@contextmanager
def log_file(path: Path, *, cap: int = LOG_CAP) -> Iterator[Callable[[bytes], None]]:
    """Yield a function that writes to a new file (mode 0600), up to a cap. Raises `OSError` if the path exists."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    room = cap
    with os.fdopen(os.open(path, flags, 0o600), "wb") as file:

        def write(chunk: bytes) -> None:
            nonlocal room
            if room > 0:
                file.write(chunk[:room])
                room -= len(chunk)

        yield write


def plain(text: str) -> str:
    """Return `text` without the escape sequences of terminals."""
    return _ANSI.sub("", text)


def _event(line: str) -> Event | None:
    text = line if line.startswith("{") else plain(line).strip()
    if not text.startswith("{"):
        return None
    try:
        event = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite_number)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None


def _refuse_constant(word: str) -> float:
    """Raise `ValueError` for NaN and infinities: they are not JSON, and useless as numbers."""
    raise ValueError(f"{word} is no JSON")


def _finite_number(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse_constant(text)
