"""GitHub's refusals as errors of the families of `shared.errors`, with GitHub's facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from gidgethub import HTTPException

from shared.errors import Blocked, EngineError, Gone, NotAllowed, Transient, Unauthorized


class NeverSent(Transient):
    """GitHub could not be reached, so nothing was sent."""


class Limited(Transient):
    """GitHub's rate limit is reached. `until` is server time."""

    is_limit = True

    def __init__(self, until: datetime, reason: str) -> None:
        super().__init__(f"GitHub's limit is reached until {until.isoformat(timespec='seconds')}: {reason}")
        self.until = until


class GraphqlUsedUp(Limited):
    """GraphQL's own hourly limit is used up; nothing has been changed. REST has another limit."""


class NotShown(Transient):
    """GitHub does not show yet what is known to exist; nothing has been changed. Ask again in `seconds`."""

    def __init__(self, thing: str, seconds: float) -> None:
        super().__init__(f"GitHub does not show {thing} yet, which was made or seen just now; it is asked again.")
        self.what = thing
        self.seconds: float = seconds


class HeadMoved(Transient):
    """The pull request's head is no longer the commit that was judged."""


class NotFound(Gone):
    """GitHub answered 404: it does not exist, or this token may not see it."""


class Moved(Gone):
    """It was moved to another repository."""


class Refused(Blocked):
    """GitHub understood the request and refused it. `errors` are GitHub's own sentences or codes."""

    def __init__(self, call: str, status: int, message: str, errors: tuple[str, ...] = ()) -> None:
        details = "".join(f"; {error}" for error in errors if error not in message)
        super().__init__(f"GitHub refused {call} ({status}): {message}{details}")
        self.status, self.message, self.errors = status, message, errors

    def says(self, *words: str) -> bool:
        """Return whether GitHub's message or one of its errors contains one of `words`, ignoring case."""
        text = "\n".join((self.message, *self.errors)).casefold()
        return any(word.casefold() in text for word in words)


class NothingToPull(Refused):
    """GitHub opens no pull request because the base has every commit of the branch."""


def failure(call: str, error: HTTPException) -> EngineError:
    """Return the error of an answer that is no limit, redirection or success; `call` is method and path."""
    status, message = int(error.status_code), str(error)
    match status:
        case 401:
            return Unauthorized(f"GitHub does not accept the token ({call}): {message}")
        case 403:
            return NotAllowed(f"GitHub does not allow {call} to this token: {message}")
        case 404:
            return NotFound(f"GitHub does not find {call}: {message}")
        case 410:
            return Gone(f"It is gone for good ({call}): {message}")
        case 304 | 408:
            return Transient(f"GitHub gave no answer to {call} ({status})")
        case _ if status >= 500:
            return Transient(f"GitHub answered {status} to {call}")
        case _:
            return Refused(call, status, message, _sentences(getattr(error, "errors", None)))


def words(error: HTTPException) -> str:
    """Return all words of an answer: GitHub's message, and its errors about single fields."""
    return "\n".join((str(error), *_sentences(getattr(error, "errors", None))))


def _sentences(errors: Any) -> tuple[str, ...]:
    """Return GitHub's `errors` as texts: a string, strings, or objects with a message or resource, field and code."""
    if isinstance(errors, str):
        return (errors,)
    if not isinstance(errors, Iterable):
        return ()
    return tuple(_sentence(error) for error in errors)


def _sentence(error: Any) -> str:
    if not isinstance(error, Mapping):
        return str(error)
    return str(error.get("message") or " ".join(str(error[k]) for k in ("resource", "field", "code") if error.get(k)))
