"""A git directory's answers to questions that name objects by their whole ids: they stay true for good.

An object never changes, but it can be dropped with its directory, or by packing days after nothing led to it: answers
are forgotten after an hour, and with the directory.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from shared.newest import Newest
from shared.process import Finished

KEPT_SECONDS = 3600.0
"""Seconds for which an answer is used, even if its objects are dropped: reading objects does not keep them."""

MAX_ANSWERS = 256
"""Most answers kept of one git directory; the least recently used goes first."""

MAX_DIRECTORIES = 8
"""Most git directories remembered; the least recently used goes first."""

MAX_BYTES = 2**19
"""Bytes of all answers of one git directory, as they are kept."""

LARGEST_BYTES = 2**18
"""Most bytes of one answer as git gives it; packed, it may take a quarter of all."""

PACKED_BYTES = 1024
"""Bytes from which an output is kept packed: text becomes a quarter of it, in less time than git takes to start."""

Asked = tuple[tuple[str, ...], bytes]
"""git's arguments, and what it reads from standard input."""


def standing(git_dir: Path) -> tuple[int, int] | None:
    """Return the identity of a git directory, None without one: a new one has another HEAD, which stays unchanged."""
    try:
        found = (git_dir / "HEAD").stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


@dataclass(frozen=True, slots=True)
class _Kept:
    """An answer, with its output compressed if `is_packed`, and when it was given."""

    answer: Finished
    at: float
    is_packed: bool

    @property
    def whole(self) -> Finished:
        """The answer as git gave it."""
        return replace(self.answer, stdout=zlib.decompress(self.answer.stdout)) if self.is_packed else self.answer


class SettledAnswers:
    """The answers of one git directory."""

    def __init__(self, git_dir: Path) -> None:
        self._git_dir = git_dir
        self._made: tuple[int, int] | None = None
        self._known: OrderedDict[Asked, _Kept] = OrderedDict()
        self._bytes = 0

    @property
    def size(self) -> int:
        """Bytes of all answers kept."""
        return self._bytes

    def find(self, question: Asked) -> Finished | None:
        """Return the answer of the same directory if it is less than an hour old; else None."""
        if self._made != standing(self._git_dir):
            self._forget_all()
            return None
        known = self._known.get(question)
        if known is None:
            return None
        if anyio.current_time() - known.at >= KEPT_SECONDS:
            self._forget(question)
            return None
        self._known.move_to_end(question)
        return known.whole

    def keep(self, question: Asked, answer: Finished) -> None:
        """Remember an answer; a large one is not worth it."""
        made = standing(self._git_dir)
        if made is None or len(answer.stdout) > LARGEST_BYTES:
            return
        if made != self._made:
            self._forget_all()
            self._made = made
        self._forget(question)
        kept = _kept(answer)
        if len(kept.answer.stdout) > MAX_BYTES // 4:
            return
        self._known[question] = kept
        self._bytes += _size(question, kept)
        while len(self._known) > MAX_ANSWERS or self._bytes > MAX_BYTES:
            self._forget(next(iter(self._known)))

    def _forget(self, question: Asked) -> None:
        dropped = self._known.pop(question, None)
        if dropped is not None:
            self._bytes -= _size(question, dropped)

    def _forget_all(self) -> None:
        self._known.clear()
        self._bytes = 0


def _kept(answer: Finished) -> _Kept:
    is_packed = len(answer.stdout) >= PACKED_BYTES
    kept = replace(answer, stdout=zlib.compress(answer.stdout, 1)) if is_packed else answer
    return _Kept(kept, anyio.current_time(), is_packed)


def _size(question: Asked, kept: _Kept) -> int:
    return len(kept.answer.stdout) + len(question[1]) + sum(map(len, question[0]))


class AnswersByDirectory:
    """The answers of the git directories that were asked last."""

    def __init__(self) -> None:
        self._of: Newest[Path, SettledAnswers] = Newest(MAX_DIRECTORIES)

    def of(self, git_dir: Path) -> SettledAnswers:
        """Return the answers of one directory, for every caller."""
        self._of[git_dir] = known = self._of.get(git_dir) or SettledAnswers(git_dir)
        return known
