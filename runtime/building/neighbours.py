"""The other processes of this machine that poll GitHub under the same account: each says so in a file."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from shared.clock import Clock

LOOK_SECONDS = 60.0
"""Seconds between two looks at the files, and between two writings of an own one."""

FRESH_SECONDS = 300.0
"""Seconds (wall clock) for which a file counts after it was written: its process may have been killed."""

OLD_SECONDS = 86_400.0
"""Seconds after which a file that nobody writes any more is removed."""


class Neighbours:
    """The agents of one account on this machine. A full or read-only disk keeps nobody from polling."""

    def __init__(self, state_dir: Path, account: str, clock: Clock) -> None:
        """`account` names the server and the account, whose limit two processes spend; only a digest is written."""
        self._directory = state_dir / "polls" / hashlib.sha256(account.encode()).hexdigest()[:32]
        self._clock = clock
        self._own: dict[str, float] = {}
        self._others: tuple[float, ...] = ()
        self._looked: float | None = None

    def join(self, agent: str, polls: float) -> None:
        """Note that an agent of this process wants so many polls a minute; the others are told at the next look."""
        self._own[agent] = polls
        self._looked = None

    def leave(self, agent: str) -> None:
        """Note that an agent of this process polls no more; the others see it at their next look."""
        if self._own.pop(agent, None) is not None:
            with suppress(OSError):
                (self._directory / f"{agent}.json").unlink(missing_ok=True)

    def polls(self, counted: Collection[str] | None = None) -> tuple[float, ...]:
        """Return how many polls a minute each agent of other processes wants.

        Agents of this process that are not among `counted`, because they use another token, are others too.
        """
        now = self._clock.boot()
        if self._looked is None or now - self._looked >= LOOK_SECONDS:
            self._looked = now
            self._say()
            with suppress(OSError):  # they cannot be listed just now: what was known counts
                self._others = tuple(self._read())
        beside = self._own if counted is not None else {}
        return (*self._others, *(polls for agent, polls in beside.items() if agent not in (counted or ())))

    def _say(self) -> None:
        for agent, polls in self._own.items():
            place = self._directory / f"{agent}.json"
            fresh = place.with_name(f".{place.name}")
            with suppress(OSError):
                self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                fresh.write_text(json.dumps({"polls": polls, "at": self._clock.now()}) + "\n")
                fresh.replace(place)

    def _read(self) -> Iterator[float]:
        """Yield what each other agent wants; a file that cannot be read counts for nothing.

        Neither does one that is being written, or one from the future: the clock was set back.
        """
        for place in sorted(self._directory.glob("*.json")):
            if place.stem in self._own:
                continue
            with suppress(OSError, ValueError, TypeError, KeyError):
                said = json.loads(place.read_bytes())
                age, polls = abs(self._clock.now() - float(said["at"])), float(said["polls"])
                if age > OLD_SECONDS:
                    place.unlink(missing_ok=True)
                elif age <= FRESH_SECONDS and 0 < polls < math.inf and not place.name.startswith("."):
                    yield polls
