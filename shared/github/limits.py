"""GitHub's rate limits as its headers state them, and the pace of writes, by which its other limits are not hit.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from shared.clock import Clock
from shared.errors import Transient
from shared.github.errors import GraphqlUsedUp, Limited
from shared.github.points import Points
from shared.github.server_time import ServerTime
from shared.github.waits import report_wait
from shared.retry_times import bounded, http_date, later, since_1970

log = structlog.get_logger()

RESERVE = 0.1
"""Fraction of the hourly budget that only urgent requests may use, so that leases stay alive."""

SECONDARY_SECONDS = 60.0
"""Shortest pause after a secondary limit that names no time; doubled each time in a row."""

SECONDARY_MAX_SECONDS = 15 * 60.0
"""Longest pause after secondary limits."""

LIMIT_WORDS = {
    403: ("rate limit", "abuse detection", "blocked from content creation", "submitted too quickly"),
    422: ("submitted too quickly", "secondary rate limit", "abuse detection"),
}
"""GitHub's words, by status, about requests that came too fast; new content is refused with 422 too."""

REST, GRAPHQL = "core", "graphql"
"""GitHub's names of the two hourly limits that the engine's requests are charged to."""

WINDOWS = ((60.0, 80), (3600.0, 500))
"""GitHub's limits on content-generating requests: seconds and requests. Every write counts here."""

URGENT_RESERVE = 0.1
"""Fraction of each window that only urgent writes (releases, merges, heartbeats) may use."""

LOOK_SECONDS = 30.0
"""Seconds after which a waiting write looks again: the share may have become larger."""


@dataclass(frozen=True, slots=True)
class RateLimit:
    """The primary limit of one resource: requests per hour, those left, and the time of the next start."""

    limit: int
    remaining: int
    reset: datetime


class RateLimits:
    """The limit of each resource, from every answer, 304 included, and the pause that GitHub has ordered for all."""

    def __init__(self, server: ServerTime) -> None:
        self._server = server
        self._limits: dict[str, RateLimit] = {}
        self._pause: tuple[datetime, str] | None = None
        self._strikes = 0

    @property
    def primary(self) -> RateLimit | None:
        """The primary limit as the last answer stated it; None before the first answer."""
        return self._limits.get(REST)

    def note(self, headers: Mapping[str, str]) -> None:
        """Take over the limit of an answer that has just arrived, whose `Date` is known already."""
        try:
            limit, remaining = int(headers["x-ratelimit-limit"]), int(headers["x-ratelimit-remaining"])
            reset, now = since_1970(int(headers["x-ratelimit-reset"])), self._server.now()
        except (KeyError, ValueError, Transient):
            return  # not every answer carries them: GHES may have limits switched off
        if reset is not None:
            known = RateLimit(limit, remaining, bounded(reset, now))
            self._limits[headers.get("x-ratelimit-resource", REST)] = known

    def admit(self, *, urgent: bool) -> None:
        """Raise `Limited`, without sending anything, while GitHub would refuse or the reserve is touched."""
        if self._pause is not None and self._server.now() < self._pause[0]:
            raise Limited(*self._pause)
        primary = self.primary
        if primary is None or self._server.now() >= primary.reset:
            return
        if primary.remaining <= 0:
            raise Limited(primary.reset, "the hourly budget is used up")
        if not urgent and primary.remaining <= primary.limit * RESERVE:
            raise Limited(primary.reset, "the rest of the hourly budget is kept for leases and releases")

    def admit_graphql(self) -> None:
        """Raise `GraphqlUsedUp` while GraphQL's own hourly limit is known to be used up."""
        known = self._limits.get(GRAPHQL)
        if known is not None and known.remaining <= 0 and self._server.now() < known.reset:
            raise GraphqlUsedUp(known.reset, "GraphQL's hourly budget is used up")

    def succeeded(self) -> None:
        """Note that a request went through: the next secondary limit is the first in a row."""
        self._strikes = 0

    def refusal(self, status: int, headers: Mapping[str, str], message: str) -> Limited | None:
        """Return the limit that an answer states, from now on in force; None if it states none.

        `message` are all words of GitHub's answer.
        """
        exhausted = headers.get("x-ratelimit-remaining") == "0"
        named = any(words in message.casefold() for words in LIMIT_WORDS.get(status, ()))
        if status != 429 and not named and not (status == 403 and (exhausted or "retry-after" in headers)):
            return None
        if exhausted and headers.get("x-ratelimit-resource") == GRAPHQL and "retry-after" not in headers:
            return self._graphql_used_up(message)
        self._pause = self._until(headers, exhausted), message
        return Limited(*self._pause)

    def refusal_by_graphql(self, headers: Mapping[str, str], message: str) -> Limited | None:
        """Return the limit that GraphQL states in an answer 200, from now on in force; None if it states none.

        `message` are the sentences of all its errors. The headers may still name requests that are left.
        """
        if "rate limit" not in message.casefold():
            return None
        if "retry-after" in headers or "secondary" in message.casefold():
            self._pause = self._until(headers, exhausted=False), message
            return Limited(*self._pause)
        return self._graphql_used_up(message)

    def _graphql_used_up(self, message: str) -> GraphqlUsedUp:
        known, now = self._limits.get(GRAPHQL), self._server.now()
        reset = known.reset if known is not None and known.reset > now else now + timedelta(hours=1)
        self._limits[GRAPHQL] = RateLimit(known.limit if known is not None else 0, 0, reset)
        return GraphqlUsedUp(reset, message)

    def _until(self, headers: Mapping[str, str], exhausted: bool) -> datetime:
        now, primary = self._server.now(), self.primary
        if "retry-after" in headers:
            return _retry_after(headers["retry-after"], now)
        if exhausted and primary is not None:
            return max(primary.reset, now) + timedelta(seconds=1)
        pause = min(SECONDARY_SECONDS * 2**self._strikes, SECONDARY_MAX_SECONDS)
        self._strikes += 1
        return now + timedelta(seconds=pause)


def _retry_after(value: str, now: datetime) -> datetime:
    """Parse `Retry-After`, seconds or a date: at least one second from now, and at most the longest wait."""
    until = later(now, float(value)) if value.isdecimal() else http_date(value)
    return bounded(max(until or now + timedelta(seconds=SECONDARY_SECONDS), now + timedelta(seconds=1)), now)


class Pacing:
    """The gaps between this process's writes.

    `share` is the fraction of GitHub's limits that this process may use, because the limits are the
    account's and processes do not see each other. An interval of 0 switches pacing off altogether,
    for servers without limits.
    """

    def __init__(self, clock: Clock, *, share: float = 1.0, write_interval_seconds: float = 1.0) -> None:
        self._clock = clock
        self._share = 0.0
        self.use(share)
        self._interval = write_interval_seconds
        self._granted: deque[float] = deque(maxlen=max(count for _, count in WINDOWS))
        self.points = Points(clock, share=share, off=self.off)

    def use(self, share: float) -> None:
        """Use this fraction of the limits from now on, also for writes that wait already."""
        if not 0 < share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, not {share}")
        self._share = share

    @property
    def share(self) -> float:
        """The fraction of GitHub's limits that this process uses."""
        return self._share

    @property
    def off(self) -> bool:
        """True if writes are not paced."""
        return self._interval <= 0

    def delay(self, now: float, *, urgent: bool = False) -> float:
        """Return the seconds after boot time `now` until the next write may go out; 0 if it may go at once."""
        if self.off or not self._granted:
            return 0.0
        ready = [self._granted[-1] + self._interval]
        for seconds, count in WINDOWS:
            allowed = max(1, int(count * self._share * (1 if urgent else 1 - URGENT_RESERVE)))
            if len(self._granted) >= allowed:
                ready.append(self._granted[-allowed] + seconds)
        return max(0.0, max(ready) - now)

    async def wait(self, *, urgent: bool = False) -> None:
        """Wait until one write may go out, and count it. Nothing is reserved while waiting; a long wait is logged."""
        told = False
        while (delay := self.delay(self._clock.boot(), urgent=urgent)) > 0:
            if delay > LOOK_SECONDS and not told:
                told = True
                log.warning("writes_used_up", outcome="retrying", seconds=round(delay), share=self._share)
            report_wait()
            await self._clock.sleep(min(delay, LOOK_SECONDS))
        self._granted.append(self._clock.boot())
        self.points.wrote()
