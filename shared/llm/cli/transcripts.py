"""The kept transcripts of calls: everything that each has printed, the newest ones, within limits."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from shared.filesystem import directories

FILES = 200
"""Transcripts in one directory, at most; the oldest are removed first."""

DIRECTORY_BYTES = 2**30
"""Bytes of all transcripts together; the newest stays whatever its size."""


def keep(events: Path, directory: Path, name: str) -> Path | None:
    """Move a call's events to `directory/name`; return None if there are none or they cannot be kept.

    Names begin with a time, so that they sort in the order of the calls. The mode of `events` stays. Only the regular
    file that the daemon has written is kept, wherever a link at that place leads.
    """
    kept = directory / name
    if not _has_text(events):
        return None
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.move(events, kept)
    except OSError:
        return None
    for old in outdated([(path, _size(path)) for path in sorted(directory.glob("*.jsonl"))]):
        directories.remove(old)
    return kept if _has_text(kept) else None


def _has_text(path: Path) -> bool:
    with suppress(OSError):
        found = path.lstat()
        return stat.S_ISREG(found.st_mode) and found.st_nlink == 1 and found.st_size > 0
    return False


def _size(path: Path) -> int:
    """Return the size in bytes; 0 for a path that cannot be examined, which is then removed in its turn."""
    with suppress(OSError):
        return path.lstat().st_size
    return 0


def outdated(found: Sequence[tuple[Path, int]], *, size: int = DIRECTORY_BYTES) -> tuple[Path, ...]:
    """Return those of these files (with bytes, oldest first) to be removed; never the last one (pure)."""
    taken, staying = 0, 0
    for _, taking in reversed(found):
        taken += taking
        if staying and (staying >= FILES or taken > size):
            break
        staying += 1
    return tuple(path for path, _ in found[: len(found) - staying])
