"""GitHub's refusals of a client's token. While it is refused, nothing is sent but one read every five minutes."""

from __future__ import annotations

import structlog

from shared.clock import Clock
from shared.errors import Misconfigured, Unauthorized

log = structlog.get_logger()

RETRY_SECONDS = 300.0
"""Seconds between tries of a refused token: each try with a bad one counts towards GitHub locking the account out."""


class TokenRefusals:
    """The refusals of one token, kept as data: nobody waits here, a caller that asks too early is refused at once."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._refusal: Unauthorized | Misconfigured | None = None
        self._next_try = 0.0
        self._known_good = False

    def admit(self, method: str) -> None:
        """Raise the refusal again unless the token is in order, or it is time for a read to try it."""
        if self._refusal is None:
            return
        if method != "GET" or self._clock.boot() < self._next_try:
            raise _again(self._refusal)
        self._next_try = self._clock.boot() + RETRY_SECONDS

    def refused(self, refusal: Unauthorized | Misconfigured) -> Unauthorized | Misconfigured:
        """Note a refusal, and return the error to raise.

        The log has one line for all refusals in a row; none for a token that never worked, with which
        nothing starts, and none for a refusal that was told already.
        """
        if self._known_good and self._refusal is None and not (isinstance(refusal, Unauthorized) and refusal.logged):
            log.error(
                "token_refused",
                outcome="retrying",
                error=str(refusal),
                consequence="nothing is claimed or written; what is in work stays on disk, its lease may run out",
                retry_seconds=RETRY_SECONDS,
                next_step="renew the token in its file, or restart with another one; nothing else is needed",
            )
        self._refusal = refusal
        self._next_try = self._clock.boot() + RETRY_SECONDS
        return _again(refusal)

    def accepted(self) -> None:
        """Note that GitHub has accepted the token."""
        self._known_good = True
        if self._refusal is not None:
            self._refusal = None
            log.info("token_accepted", outcome="completed")


def _again(refusal: Unauthorized | Misconfigured) -> Unauthorized | Misconfigured:
    """Return a new error of the same words: one that is raised again and again would collect tracebacks."""
    if isinstance(refusal, Misconfigured):
        return Misconfigured(str(refusal))
    return Unauthorized(str(refusal), logged=True)
