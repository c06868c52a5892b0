"""What a git directory has answered to questions that name objects by their whole ids: the same is true for good.

An object never changes, but it can be dropped with its directory, or by packing days after nothing led to it: answers
are forgotten after an hour, and with the directory.
"""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path

import anyio

from shared.process import Finished

KEPT_SECONDS = 3600.0
"""How long an answer is believed, also if its objects are dropped meanwhile: looking at them does not keep them."""

MAX_ANSWERS = 256
"""How many answers of one git directory are kept; the least recently used goes first."""

MAX_DIRECTORIES = 8
"""How many git directories are remembered; the one that was turned to longest ago goes first."""

MAX_BYTES = 2**20
"""Bytes of all answers of one git directory; one answer may take a quarter of it."""

Asked = tuple[tuple[str, ...], bytes]
"""git's arguments, and what it reads from standard input."""


def standing(git_dir: Path) -> tuple[int, int] | None:
    """Which git directory stands there: one that was made anew has another HEAD, which nothing else writes."""
    try:
        found = (git_dir / "HEAD").stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


class SettledAnswers:
    """The answers of one git directory."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._made: tuple[int, int] | None = None
        self._known: OrderedDict[Asked, tuple[Finished, float]] = OrderedDict()
        self._bytes = 0

    def find(self, question: Asked) -> Finished | None:
        """What was answered in the same directory less than an hour ago."""
        if self._made != standing(self._git_dir):
            self._forget_all()
            return None
        known = self._known.get(question)
        if known is None:
            return None
        if anyio.current_time() - known[1] >= KEPT_SECONDS:
            self._forget(question)
            return None
        self._known.move_to_end(question)
        return known[0]

    def keep(self, question: Asked, answer: Finished) -> None:
        """Remember an answer; one that is large is not worth it."""
        made = standing(self._git_dir)
        if made is None or len(answer.stdout) > MAX_BYTES // 4:
            return
        if made != self._made:
            self._forget_all()
            self._made = made
        self._forget(question)
        self._known[question] = answer, anyio.current_time()
        self._bytes += _size(question, answer)
        while len(self._known) > MAX_ANSWERS or self._bytes > MAX_BYTES:
            self._forget(next(iter(self._known)))

    def _forget(self, question: Asked) -> None:
        dropped = self._known.pop(question, None)
        if dropped is not None:
            self._bytes -= _size(question, dropped[0])

    def _forget_all(self) -> None:
        self._known.clear()
        self._bytes = 0


def _size(question: Asked, answer: Finished) -> int:
    return len(answer.stdout) + len(question[1]) + sum(map(len, question[0]))


class AnswersByDirectory:
    """What the git directories that were asked last have answered."""

    def __init__(self) -> None:
        self._of: OrderedDict[Path, SettledAnswers] = OrderedDict()

    def of(self, git_dir: Path) -> SettledAnswers:
        """The answers of one directory, whoever asks it."""
        known = self._of.pop(git_dir, None) or SettledAnswers(git_dir)
        self._of[git_dir] = known
        while len(self._of) > MAX_DIRECTORIES:
            self._of.popitem(last=False)
        return known
