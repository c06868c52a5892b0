"""The end of a program: one sentence for every error that is told to a person, and the exit code that goes with it."""

from __future__ import annotations

from runtime.output import show
from shared.errors import EngineError, Gone, Invisible, Misconfigured, NotAllowed, Unauthorized

OK, FAILED, MISCONFIGURED, NOTHING_TO_DO, NOT_ALLOWED = range(5)
"""Exit codes."""


class LeftOff(EngineError):
    """A person ended it before there was anything to do; `code` is the exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


def complain(error: Exception) -> int:
    """Print the error in one sentence on standard error; return the exit code that goes with it."""
    show(str(error), error=True)
    return code_of(error)


def code_of(error: Exception) -> int:
    """Return the exit code of a command that an error ends; what GitHub does not show counts as not allowed."""
    if isinstance(error, LeftOff):
        return error.code
    if isinstance(error, Unauthorized | NotAllowed | Gone | Invisible):
        return NOT_ALLOWED
    return MISCONFIGURED if isinstance(error, Misconfigured) else FAILED


def engine_error_of(group: ExceptionGroup[Exception]) -> EngineError:
    """Return the first error of a group and of the groups in it; raises the group if any of them is a bug."""
    first: Exception = group
    while isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    if group.split(EngineError)[1] is not None or not isinstance(first, EngineError):
        raise group
    return first
