"""Whether an agent may begin something new, and whether it is to let go of what it holds: drain, pause, full disks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import structlog

from shared.errors import Blocked
from shared.filesystem.disk_space import DiskSpace

log = structlog.get_logger()

MOST_CHARACTERS = 200
"""So much of the reason in a pause file is read."""


class Paused(Blocked):
    """Nothing is begun for now."""

    category = "paused"


Tell = Callable[[str, str], None]
"""Hears that something of the process has changed: its state, and why, where there is more to say."""


class Admission:
    """The orders that hold for all loops of one process.

    Paused or shut, nothing is begun, and what is held is let go when the phase in work has ended: any agent
    goes on from there. A pause ends when its file is gone; what is shut stays so.
    """

    def __init__(
        self,
        room: DiskSpace | None = None,
        *,
        pause_file: Path | None = None,
        quiet: Callable[[], str] = lambda: "",
        tell: Tell = lambda state, reason: None,
    ) -> None:
        """`pause_file` pauses by being there; its first line says why. `quiet` says why nothing is begun at this hour.

        What is held goes on in quiet hours.
        """
        self._quiet = quiet
        self._room, self._pause_file, self._tell = room or DiskSpace(()), pause_file, tell
        self._shut = self._paused = ""
        self._full = False
        self._watchers: list[Callable[[], None]] = []

    def join(self, watcher: Callable[[], None]) -> None:
        """Call it as soon as the process is shut."""
        self._watchers.append(watcher)

    def shut(self, why: str) -> None:
        """Begin nothing more, for good, and let go of everything at the end of its phase."""
        self._shut = self._shut or why
        for watcher in self._watchers:
            watcher()

    @property
    def final(self) -> bool:
        """Whether it is shut: who holds nothing any more has ended."""
        return bool(self._shut)

    @property
    def leaving(self) -> str:
        """Why what is held is to be let go at the end of its phase; empty when it is not."""
        return self._shut or self._pause()

    @property
    def holding_back(self) -> str:
        """Why nothing new is begun, in one sentence; empty when something may be."""
        return self.leaving or self._quiet() or (self._room.lacking if self._full else "")

    def admits(self, *, strict: bool = False) -> bool:
        """Whether something new may begin; asked at every tick. With `strict` raises `Paused` or `NoRoom` instead."""
        if self._shut:
            return False
        paused = self._pause() or self._quiet()
        if paused != self._paused:
            self._note_pause(paused)
        if paused and strict:
            raise Paused(paused)
        return not paused and self._has_room(strict=strict)

    def _pause(self) -> str:
        return "" if self._pause_file is None else pause_of(self._pause_file)

    def _note_pause(self, paused: str) -> None:
        self._paused = paused
        if paused:
            log.warning("paused", outcome="skipped", reason=paused)
        else:
            log.info("resumed")
        self._tell("paused" if paused else "resumed", paused)

    def _has_room(self, *, strict: bool) -> bool:
        room = self._room.admits(strict=strict)
        if room is self._full:
            self._full = not room
            self._tell("resumed" if room else "no_room", self._room.lacking)
        return room


def pause_of(file: Path) -> str:
    """Why agents are paused by this file, in one sentence; empty when it is not there."""
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            why = opened.readline(MOST_CHARACTERS).strip()
    except FileNotFoundError:
        return ""
    except OSError:  # it is there, whatever it is
        why = ""
    return f"paused{f' ({why})' if why else ''}: `workflow-engine resume` ends it, or removing {file}"
