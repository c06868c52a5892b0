"""Faults of the machine that no command foresees, each as one sentence in place of a traceback."""

from __future__ import annotations

import errno
from collections.abc import Iterator

from shared.errors import EngineError, Misconfigured

_NOT_OURS = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE}
)
"""Error numbers that are no fault of the engine; every other error of a system call is a bug of the engine."""

_NO_TEMPORARY = "No usable temporary directory found"
"""Beginning of `tempfile`'s message, which comes with the error number of a missing file."""


def as_engine_error(error: Exception) -> EngineError | None:
    """Return the error that a command prints in place of a traceback, or None if `error` is a bug (pure)."""
    causes = list(_leaves(error))
    known = [told for cause in causes if (told := _engine_error(cause)) is not None]
    return known[0] if known and len(known) == len(causes) else None


def nobody_reads(error: Exception) -> bool:
    """Return whether a command has only failed because whoever read its output has left, as `head` does (pure)."""
    return all(isinstance(cause, BrokenPipeError) for cause in _leaves(error))


def _engine_error(error: Exception) -> EngineError | None:
    if isinstance(error, EngineError):
        return error
    if not isinstance(error, OSError):
        return None
    if (error.strerror or "").startswith(_NO_TEMPORARY):
        return Misconfigured(
            "No temporary directory can be used, neither /tmp nor the current directory: "
            "set TMPDIR to a directory that can be written and has room."
        )
    if error.errno not in _NOT_OURS:
        return None
    where = f"{error.filename}: " if error.filename else ""
    return Misconfigured(f"This machine does not allow what is needed: {where}{error.strerror}.")


def _leaves(error: Exception) -> Iterator[Exception]:
    if isinstance(error, ExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error
