"""Files that say in one sentence what each running agent of a state directory does, for `workflow-engine status`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from shared.clock import Clock

LOOK_SECONDS = 1.0
"""Seconds between two looks at the sentences; they are written when they have changed."""

MOST_CHARACTERS = 500


class StatusFile:
    """The sentences of the agents of one process. A full or read-only disk keeps nobody from working."""

    def __init__(self, places: Sequence[tuple[Path, Callable[[], str]]]) -> None:
        """Take for each agent the file of its sentence (`place_of`) and the function that returns the sentence."""
        self._places = places
        self._said: dict[Path, str] = {}

    async def keep(self, clock: Clock) -> None:
        """Write what changes, until cancelled; then remove the files, because nobody does anything any more."""
        try:
            while True:
                self.write()
                await clock.sleep(LOOK_SECONDS)
        finally:
            for place, _ in self._places:
                with suppress(OSError):
                    place.unlink(missing_ok=True)

    def write(self) -> None:
        """Write the sentences that have changed."""
        for place, tell in self._places:
            sentence = tell()
            if sentence != self._said.get(place):
                with suppress(OSError):
                    fresh = place.with_name(f".{place.name}")
                    fresh.write_text(f"{sentence}\n", encoding="utf-8")
                    fresh.replace(place)
                    self._said[place] = sentence


def place_of(state_dir: Path, agent: str) -> Path:
    """Return the file of an agent's sentence."""
    return state_dir / "agents" / f"{agent}.doing"


def read(state_dir: Path, agent: str) -> str:
    """Return what a running agent says that it does; empty if it says nothing."""
    try:
        with place_of(state_dir, agent).open(encoding="utf-8", errors="replace") as file:
            return file.readline(MOST_CHARACTERS).strip()
    except OSError:
        return ""
