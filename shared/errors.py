"""The error families: divided by what the caller does, not by what went wrong.

A class docstring is its default message; facts are attributes. Anything that is none of these
families is a bug and reaches the loop's boundary as such.
"""

from __future__ import annotations

from datetime import datetime


class EngineError(Exception):
    """Something went wrong."""

    category = "engine"
    """One word for what kind of failure it is, for people and programs."""
    advice = ""
    """What a person can do about it, where there is more to say than `category`."""
    kept = ""
    """What is left of the work on the agent's machine, where something is."""
    edited = False
    """A text is not the one that was approved: `/approve` takes it as it stands."""
    diagnosable = False
    """Whether asking a backend for the cause may tell people more than this does."""
    diagnosis = ""
    """What a backend says of the cause, where one was asked."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip().split("\n")[0])


class Transient(EngineError):
    """GitHub, git or a backend did not answer as it should; the next tick tries again, or one `seconds` from now."""

    seconds: float | None = None
    is_limit = False
    """Whether a limit was reached whose end the process waits for: no failure, after which pauses grow."""


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
        """`category` is the word of `shared.retry.failures` for it, `reset` the time a vendor named, `final` what a
        person is told when repeating it has not helped.
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

    def __init__(self, message: str | None = None, *, told: bool = False) -> None:
        """`told`: the log has it already."""
        super().__init__(message)
        self.told = told


class MissingCredentials(Unauthorized):
    """There is no usable token."""


class Gone(Blocked):
    """The issue, pull request or repository no longer exists here."""


class Lost(EngineError):
    """The lease is lost: stop silently, keep the patch."""
