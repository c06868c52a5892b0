"""Refusals of the server for a while, and its wrong dates: drawn before a schedule begins."""

from __future__ import annotations

from collections import Counter
from random import Random

from shared.errors import Blocked, NotAllowed, Transient

from .worlds import HEAL, Special

HOUR = 3600.0
WRONG_DATE_SECONDS = 3600.0
"""Seconds by which a single answer's date may be wrong, either way."""
BURST_SECONDS = 480.0
"""Longest seconds in which all answers have the same wrong date; the engine believes one that lasts ten minutes."""

LONGEST_WAIT = 4500.0
"""Longest seconds until a process comes back that a rule refused."""

MOST_CHARACTERS, LESS_CHARACTERS = 65_536, 16_384
"""Characters of a comment, at most; and at most where something before GitHub refuses it sooner."""

Window = tuple[float, float]
"""Beginning and end; never, if both are the same."""

NEVER: Window = (0.0, 0.0)


class Refused(NotAllowed):
    """A rule of the server's."""


class Down(Transient):
    """503; nothing was done."""


class TooLong(Blocked):
    """422: the text is too long."""


class Limited(Transient):
    """403: too much content; nothing was done."""


class Weather:
    """The drawn refusals and dates of one schedule."""

    def __init__(self, rng: Random, special: Special) -> None:
        self.special = special
        self.rule = _window(rng, 600.0, 5400.0) if special.rule else NEVER
        self.outage = _window(rng, HOUR, HOUR) if special.outage else NEVER
        self.limited = [_window(rng, 60.0, 600.0) for _ in range(4)] if special.limited else []
        self.burst = _window(rng, 60.0, BURST_SECONDS) if special.burst else NEVER
        self.burst_ahead = (1600 + 2000 * rng.random()) * rng.choice((1, -1)) if special.burst else 0.0
        if special.burst and int(self.burst_ahead) % 10 < 3:  # some are under way when all agents start
            self.burst = (0.0, self.burst[1] - self.burst[0])
        self.met: Counter[str] = Counter()
        """Requests that it has met, by its effect on them."""

    @property
    def seconds(self) -> float:
        """Seconds of all of it together, with the longest waits of the processes that meet it."""
        windows = (self.rule, self.outage, *self.limited, self.burst)
        lasted = sum(until - began for began, until in windows)
        return lasted + (LONGEST_WAIT if self.special.rule or self.special.outage else 0.0)

    def refuses(self, now: float) -> bool:
        """Return whether the git server takes no fences at this time."""
        return _within(self.outage, now) or _within(self.rule, now)

    def pushing(self, now: float, *, creates: bool, probes: bool = False) -> None:
        """Raise the git server's error for a push of a fence, if any."""
        if _within(self.outage, now):
            self.met["git server that was down"] += 1
            raise Down
        if _within(self.rule, now) and (self.special.rule == "all" or not creates or probes):
            self.met["push refused by a rule"] += 1
            raise Refused

    def fetching(self, now: float) -> None:
        """Raise the git server's error for a fetch, if any."""
        if self.special.outage == "git" and _within(self.outage, now):
            self.met["git server that was down"] += 1
            raise Down

    def writing(self, now: float, body: str) -> None:
        """Raise GitHub's error for a comment, if any."""
        if len(body) > (LESS_CHARACTERS if self.special.limited else MOST_CHARACTERS):
            self.met["text refused as too long"] += 1
            raise TooLong
        if any(_within(window, now) for window in self.limited):
            self.met["comment refused by a limit"] += 1
            raise Limited

    def ahead(self, now: float, rng: Random) -> float:
        """Return the seconds by which an answer is dated ahead."""
        if _within(self.burst, now):
            self.met["answer dated wrong"] += 1
            return self.burst_ahead
        if self.special.wrong_dates and now < HEAL and rng.random() < self.special.wrong_dates:
            self.met["answer dated wrong"] += 1
            return (rng.random() * 2 - 1) * WRONG_DATE_SECONDS
        return 0.0


def _window(rng: Random, shortest: float, longest: float) -> Window:
    """Return a window that begins while the work is under way, and is over when the world heals."""
    began = 1500.0 * rng.random()
    return began, min(began + shortest + (longest - shortest) * rng.random(), HEAL)


def _within(window: Window, now: float) -> bool:
    return window[0] <= now < window[1]
