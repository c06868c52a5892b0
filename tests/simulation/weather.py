"""What the server refuses for a while, and how wrong it dates its answers: drawn before a schedule begins."""

from __future__ import annotations

from collections import Counter
from random import Random

from shared.errors import Blocked, NotAllowed, Transient

from .worlds import HEAL, Special

HOUR = 3600.0
WRONG_DATE_SECONDS = 3600.0
"""How far a single answer's date may be off, either way."""
BURST_SECONDS = 480.0
"""How long all answers may be dated wrong by the same; the engine believes what lasts for ten minutes."""

LONGEST_WAIT = 4500.0
"""Whoever was refused by a rule comes back after so long at the latest."""

MOST_CHARACTERS, LESS_CHARACTERS = 65_536, 16_384
"""How long a comment may be; and how long where something before GitHub refuses it sooner."""

Window = tuple[float, float]
"""From when to when; never, if both are the same."""

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
    """What is drawn for one schedule."""

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
        """How many requests it has met, by what it did to them."""

    @property
    def seconds(self) -> float:
        """How long all of it lasts together, with the longest waits of whoever meets it."""
        windows = (self.rule, self.outage, *self.limited, self.burst)
        lasted = sum(until - began for began, until in windows)
        return lasted + (LONGEST_WAIT if self.special.rule or self.special.outage else 0.0)

    def refuses(self, now: float) -> bool:
        """Whether the git server takes no fences at this time."""
        return _within(self.outage, now) or _within(self.rule, now)

    def pushing(self, now: float, *, creates: bool, probes: bool = False) -> None:
        """Raise what the git server says to a push of a fence."""
        if _within(self.outage, now):
            self.met["git server that was down"] += 1
            raise Down
        if _within(self.rule, now) and (self.special.rule == "all" or not creates or probes):
            self.met["push refused by a rule"] += 1
            raise Refused

    def fetching(self, now: float) -> None:
        """Raise what the git server says to a fetch."""
        if self.special.outage == "git" and _within(self.outage, now):
            self.met["git server that was down"] += 1
            raise Down

    def writing(self, now: float, body: str) -> None:
        """Raise what GitHub says to a comment."""
        if len(body) > (LESS_CHARACTERS if self.special.limited else MOST_CHARACTERS):
            self.met["text refused as too long"] += 1
            raise TooLong
        if any(_within(window, now) for window in self.limited):
            self.met["comment refused by a limit"] += 1
            raise Limited

    def ahead(self, now: float, rng: Random) -> float:
        """By how many seconds an answer is dated ahead."""
        if _within(self.burst, now):
            self.met["answer dated wrong"] += 1
            return self.burst_ahead
        if self.special.wrong_dates and now < HEAL and rng.random() < self.special.wrong_dates:
            self.met["answer dated wrong"] += 1
            return (rng.random() * 2 - 1) * WRONG_DATE_SECONDS
        return 0.0


def _window(rng: Random, shortest: float, longest: float) -> Window:
    """It begins while the work is under way, and is over when the world heals."""
    began = 1500.0 * rng.random()
    return began, min(began + shortest + (longest - shortest) * rng.random(), HEAL)


def _within(window: Window, now: float) -> bool:
    return window[0] <= now < window[1]
