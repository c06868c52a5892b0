"""The error families: divided by what the caller does, not by what went wrong.

A class docstring is its default message; facts are attributes. Anything that is none of these
families is a bug and reaches the loop's boundary as such.
"""

from __future__ import annotations

from datetime import datetime


class EngineError(Exception):
    """Something went wrong."""

    category = "engine"
    """One word for the kind of failure, for people and programs."""
    advice = ""
    """Advice for a person, if there is more to say than `category`."""
    kept = ""
    """Description of the work that was kept on the agent's machine, if any was."""
    edited = False
    """True if a text differs from the approved one: `/approve` approves the present text."""
    diagnosable = False
    """True if a backend's diagnosis may tell people more about the cause than this error does."""
    diagnosis = ""
    """A backend's diagnosis of the cause, if one was asked."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip().split("\n")[0])


class Transient(EngineError):
    """GitHub, git or a backend did not answer as it should; the next tick tries again, or one `seconds` from now."""

    seconds: float | None = None
    is_limit = False
    """True for a limit with a known end, for which the process waits: not a failure that makes pauses grow."""


class UnknownOutcome(Transient):
    """A write was sent and its reply was lost: look before writing again."""


class RunFailed(Transient):
    """A paid run failed for a passing reason; it may be repeated, but not for ever."""

    def __init__(
        self,
        message: str | None = None,
        *,
        category: str = "transient",
        reset: datetime | None = None,
        final: Blocked | None = None,
    ) -> None:
        """`category` is a value of `shared.retry.failures.Category`, `reset` the time that a vendor named, `final` the
        error that a person sees when retries have not helped.
        """
        super().__init__(message)
        self.category = category
        self.reset = reset
        self.final = final


class Blocked(EngineError):
    """A person has to do something before this can go on."""

    category = "needs-a-person"


class Unexplained(Blocked):
    """It was given up; the agent ended before it could say why. Its log does."""


class Misconfigured(Blocked):
    """The configuration or the arguments cannot be used."""

    category = "configuration"


class Invisible(Misconfigured):
    """GitHub does not show this repository to this token."""

    category = "permission"


class Outdated(Blocked):
    """This agent is older than what it reads: upgrade it."""

    category = "version"


class NotAllowed(Blocked):
    """GitHub refuses this operation to this token."""

    category = "permission"


class Unauthorized(Blocked):
    """GitHub does not accept the token."""

    def __init__(self, message: str | None = None, *, logged: bool = False) -> None:
        """`logged` is True if the log has this error already."""
        super().__init__(message)
        self.logged = logged


class MissingCredentials(Unauthorized):
    """There is no usable token."""


class Gone(Blocked):
    """The issue, pull request or repository no longer exists here."""


class Lost(EngineError):
    """The lease is lost: stop silently, keep the patch."""
