"""Permission to begin new items, and the order to release held ones: shutdown, pause, quiet hours and disks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import structlog

from shared.errors import Blocked
from shared.filesystem.disk_space import DiskSpace

log = structlog.get_logger()

MOST_CHARACTERS = 200
"""Characters of the first line of a pause file that are read as the reason."""


class Paused(Blocked):
    """Nothing is begun for now."""

    category = "paused"


Tell = Callable[[str, str], None]
"""Receives each change of the process's state: the new state and its reason, which may be empty."""


class Admission:
    """The orders that hold for all loops of one process.

    While paused or shut, nothing begins, and held items are released at the end of their current phase: any agent
    goes on from there. A pause ends when its file is gone; a shut admission stays shut.
    """

    def __init__(
        self,
        disk: DiskSpace | None = None,
        *,
        pause_file: Path | None = None,
        quiet: Callable[[], str] = lambda: "",
        tell: Tell = lambda state, reason: None,
    ) -> None:
        """`pause_file` pauses while it exists; its first line is the reason. `quiet` returns why nothing begins now.

        Held items go on in quiet hours.
        """
        self._quiet = quiet
        self._disk, self._pause_file, self._tell = disk or DiskSpace(()), pause_file, tell
        self._shut = self._paused = ""
        self._full = False
        self._watchers: list[Callable[[], None]] = []

    def join(self, watcher: Callable[[], None]) -> None:
        """Register a function that is called as soon as the process is shut."""
        self._watchers.append(watcher)

    def shut(self, reason: str) -> None:
        """Begin nothing more, for good, and release every item at the end of its phase."""
        self._shut = self._shut or reason
        for watcher in self._watchers:
            watcher()

    @property
    def final(self) -> bool:
        """True if the process is shut: a loop that holds nothing any more has ended."""
        return bool(self._shut)

    @property
    def leaving(self) -> str:
        """Reason to release held items at the end of their phase; empty if there is none."""
        return self._shut or self._pause()

    @property
    def holding_back(self) -> str:
        """Reason why nothing new begins, as one sentence; empty if something may begin."""
        return self.leaving or self._quiet() or (self._disk.lacking if self._full else "")

    def admits(self, *, strict: bool = False) -> bool:
        """Return whether a new item may begin; called at each tick. If `strict`, raise `Paused` or `DiskFull`."""
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
        room = self._disk.admits(strict=strict)
        if room is self._full:
            self._full = not room
            self._tell("resumed" if room else "no_room", self._disk.lacking)
        return room


def pause_of(file: Path) -> str:
    """Return the reason why this file pauses agents, as one sentence; empty if the file does not exist."""
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            reason = opened.readline(MOST_CHARACTERS).strip()
    except FileNotFoundError:
        return ""
    except OSError:  # it is there, whatever it is
        reason = ""
    return f"paused{f' ({reason})' if reason else ''}: `workflow-engine resume` ends it, or removing {file}"
