"""What is kept on this machine of calls: all that each has printed, the newest of them, within bounds."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

FILES = 200
"""Transcripts in one directory; the oldest go first."""

DIRECTORY_BYTES = 2**30
"""What they may take together; the newest stays whatever it takes."""


def keep(events: Path, directory: Path, name: str) -> Path | None:
    """Move a call's events to `directory/name`; None when there are none or they cannot be kept.

    Names begin with a time, so that their order is that of the calls. Readable as `events` is.
    """
    kept = directory / name
    with suppress(OSError):
        if events.stat().st_size == 0:
            return None
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.move(events, kept)
        for old in outdated([(path, path.stat().st_size) for path in sorted(directory.glob("*.jsonl"))]):
            old.unlink(missing_ok=True)
        return kept
    return None


def outdated(found: Sequence[tuple[Path, int]], *, size: int = DIRECTORY_BYTES) -> tuple[Path, ...]:
    """Which of these files, with their bytes and oldest first, go; the last one never does (pure)."""
    taken, staying = 0, 0
    for _, taking in reversed(found):
        taken += taking
        if staying and (staying >= FILES or taken > size):
            break
        staying += 1
    return tuple(path for path, _ in found[: len(found) - staying])
