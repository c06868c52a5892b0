"""Reading one file somewhere below a directory into which a hostile child may have written: no step follows a link.

Each directory is opened from the one above it, so that a path swapped meanwhile leads nowhere else.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from re import Pattern

MOST_NAMES = 1000
"""Names per directory that are read, at most: a file hidden behind more is not found."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file: the names on the path to it from the root, and its whole content."""

    steps: tuple[str, ...]
    content: bytes


def only(root: Path, steps: Sequence[Pattern[str]], *, most: int) -> FoundFile | None:
    """Return the one file below `root` whose path matches `steps`, name by name.

    None if there is no such file or more than one; only plain files with one hard link and at most `most` bytes count.
    """
    try:
        top = os.open(root, _DIRECTORY)
    except OSError:
        return None
    found = list(islice(_matching_files(top, (), steps, most), 2))
    return found[0] if len(found) == 1 else None


def _matching_files(
    directory: int, before: tuple[str, ...], steps: Sequence[Pattern[str]], most: int
) -> Iterator[FoundFile]:
    """Yield all matching files; closes `directory`."""
    step, *further = steps
    try:
        with os.scandir(directory) as entries:
            names = sorted(entry.name for entry in islice(entries, MOST_NAMES) if step.fullmatch(entry.name))
        for name in names:
            with suppress(OSError):
                if further:
                    inside = os.open(name, _DIRECTORY, dir_fd=directory)
                    yield from _matching_files(inside, (*before, name), further, most)
                elif (content := _content(os.open(name, _FILE, dir_fd=directory), most)) is not None:
                    yield FoundFile((*before, name), content)
    finally:
        os.close(directory)


def _content(descriptor: int, most: int) -> bytes | None:
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1 or about.st_size > most:
            return None
        content = file.read(most + 1)  # it may still grow
    return content if len(content) <= most else None
