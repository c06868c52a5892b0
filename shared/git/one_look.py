"""Refs that one look asks for: fetched at once, and answered from that until the look is over.

A look belongs to the task that has begun it. Questions of other tasks, a heartbeat say, go to the server as ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_Answers = dict[tuple[Path, str], str | None]

_ANSWERS: ContextVar[_Answers | None] = ContextVar("one_look", default=None)


@contextmanager
def look() -> Iterator[None]:
    """Begin a look, which knows nothing yet and ends with the block."""
    answers: _Answers = {}
    token = _ANSWERS.set(answers)
    try:
        yield
    finally:
        answers.clear()  # a task that was begun meanwhile and lives on sees them too
        _ANSWERS.reset(token)


def renew() -> None:
    """Begin the look of this task anew: from now on everything is read from the server again."""
    answers = _ANSWERS.get()
    if answers is not None:
        answers.clear()


def goes_on() -> bool:
    """Return whether this task is in a look."""
    return _ANSWERS.get() is not None


def knows(git_dir: Path, ref: str) -> bool:
    """Return whether the look has read the ref."""
    return (git_dir, ref) in (_ANSWERS.get() or {})


def known_commit(git_dir: Path, ref: str) -> str | None:
    """Return the commit of a ref that the look knows; None if there was no such ref."""
    return (_ANSWERS.get() or {})[git_dir, ref]


def keep(git_dir: Path, found: Mapping[str, str | None]) -> None:
    """Keep these answers for the rest of the look."""
    answers = _ANSWERS.get()
    if answers is not None:
        answers.update({(git_dir, ref): oid for ref, oid in found.items()})


def forget(git_dir: Path, refs: Iterable[str]) -> None:
    """Ask for these again: a push of our own may have moved them, or has found them moved."""
    answers = _ANSWERS.get()
    if answers is not None:
        for ref in refs:
            answers.pop((git_dir, ref), None)
