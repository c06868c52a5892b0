"""The clean-up of a disk: mirrors are packed, unused workspaces are removed. The decision is pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import structlog

from shared.clock import Clock
from shared.errors import EngineError
from shared.filesystem import directories
from shared.git.mirror import Mirror
from shared.process import CommandFailed

SWEEP_SECONDS = 600.0
"""Seconds between two looks at the disk."""

IDLE_SECONDS = 24 * 3600.0
"""Seconds without use after which a workspace is removed."""

BUSY_SECONDS = 2 * 3600.0
"""Seconds after its use in which another process of this machine may work in a workspace; it stays in any case."""

CEILING_BYTES = 20 * 2**30
"""Sum of bytes above which the workspaces that were idle longest are removed before their time."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class FoundWorkspace:
    """One workspace: seconds since its last use, and the bytes that its removal would free."""

    path: Path
    idle_seconds: float
    bytes: int


def expendable(
    found: Sequence[FoundWorkspace], busy: Collection[Path], *, ceiling: int = CEILING_BYTES
) -> tuple[Path, ...]:
    """Return the workspaces to remove: idle for a day, else the longest idle until the rest fits under `ceiling`."""
    going: list[Path] = []
    kept = sum(workspace.bytes for workspace in found)
    for workspace in sorted(found, key=lambda workspace: -workspace.idle_seconds):
        if workspace.path in busy or workspace.idle_seconds < BUSY_SECONDS:
            continue
        if workspace.idle_seconds >= IDLE_SECONDS or kept > ceiling:
            going.append(workspace.path)
            kept -= workspace.bytes
    return tuple(going)


class Disk:
    """One repository's mirror and the workspaces of a whole machine (`<workspaces>/<owner>__<repo>/issue-<n>`)."""

    def __init__(
        self,
        mirror: Mirror,
        workspaces: Path,
        clock: Clock,
        leave: Callable[[Path], Coroutine[Any, Any, None]] | None = None,
    ) -> None:
        """`leave` is awaited with each workspace before it is removed, for all of a sweep at once."""
        self._leave = leave
        self._mirror = mirror
        self._workspaces = workspaces
        self._clock = clock
        self._next: float | None = None

    async def sweep(self, busy: Collection[Path]) -> tuple[Path, ...]:
        """Every ten minutes, pack the mirror and remove expendable workspaces; those at `busy` stay.

        Returns the removed ones. A workspace that cannot be removed is moved aside, and tried again next time.
        """
        if self._next is not None and self._clock.boot() < self._next:
            return ()
        self._next = self._clock.boot() + SWEEP_SECONDS
        try:
            await self._mirror.pack()
        except (EngineError, CommandFailed) as error:
            log.warning("mirror_not_packed", outcome="retrying", error=str(error))
        await anyio.to_thread.run_sync(_retry, self._workspaces)
        found = await anyio.to_thread.run_sync(survey, self._workspaces)
        going = expendable(found, busy)
        if self._leave is not None:
            async with anyio.create_task_group() as group:
                for path in going:
                    group.start_soon(self._leave, path)
        return tuple([path for path in going if await anyio.to_thread.run_sync(_remove_workspace, path)])


def survey(workspaces: Path) -> tuple[FoundWorkspace, ...]:
    """Return every workspace with its age by the disk's own clock; none if the directory does not exist."""
    roots = sorted(workspaces.glob("*__*/issue-*"))
    if not roots:
        return ()
    marker = workspaces / ".swept"
    marker.touch()
    now = marker.stat().st_mtime
    return tuple(FoundWorkspace(root, now - root.stat().st_mtime, _bytes(root)) for root in roots if root.is_dir())


def leftovers(workspaces: Path) -> tuple[Path, ...]:
    """Return the parts of workspaces that could not be removed, and were moved aside."""
    places = (*workspaces.glob("*__*"), *workspaces.glob("*__*/issue-*"))
    return tuple(path for place in sorted(places) for path in directories.set_aside(place))


def _retry(workspaces: Path) -> None:
    for place in sorted({path.parent for path in leftovers(workspaces)}):
        directories.retry(place)


def _remove_workspace(path: Path) -> bool:
    """Move it aside before removing it: a process that opens the workspace meanwhile makes a new one."""
    aside = path.with_name(f"{path.name}.removed")
    try:
        directories.remove(aside)
        path.rename(aside)
    except OSError as error:
        log.warning("workspace_kept", path=str(path), error=str(error))
        return False
    directories.remove(aside)
    log.info("workspace_removed", path=str(path))
    return True


def _bytes(root: Path) -> int:
    """Return the bytes that its removal frees: a file with another link (a pack of the mirror) is not counted."""
    total = 0
    for entry in directories.walk(root):
        with suppress(OSError):  # somebody works there
            found = entry.stat(follow_symlinks=False)
            total += found.st_blocks * 512 if found.st_nlink == 1 else 0
    return total
