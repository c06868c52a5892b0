"""What is kept on this machine of calls: all that each has printed, the newest of them, within bounds."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from shared.filesystem import directories

FILES = 200
"""Transcripts in one directory; the oldest go first."""

DIRECTORY_BYTES = 2**30
"""What they may take together; the newest stays whatever it takes."""


def keep(events: Path, directory: Path, name: str) -> Path | None:
    """Move a call's events to `directory/name`; None when there are none or they cannot be kept.

    Names begin with a time, so that their order is that of the calls. Readable as `events` is. What is not the regular
    file that the daemon has written is not kept, wherever a link there leads.
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
    """In bytes; what cannot be looked at, as a name without a file, takes none and goes in its turn."""
    with suppress(OSError):
        return path.lstat().st_size
    return 0


def outdated(found: Sequence[tuple[Path, int]], *, size: int = DIRECTORY_BYTES) -> tuple[Path, ...]:
    """Which of these files, with their bytes and oldest first, go; the last one never does (pure)."""
    taken, staying = 0, 0
    for _, taking in reversed(found):
        taken += taking
        if staying and (staying >= FILES or taken > size):
            break
        staying += 1
    return tuple(path for path, _ in found[: len(found) - staying])
