"""Refs of the engine's own git directories, read and moved without a process: as git's `files` format keeps them.

Anything unusual is left to git: another format, a ref that names a ref, a lock that another process holds.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from shared.git import names

LINE = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})\n")

_PACKED = re.compile(r"^([0-9a-f]{40,64}) (refs/[^\n]+)$", re.MULTILINE)

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def below(git_dir: Path, prefix: str) -> dict[str, str] | None:
    """Return ref -> object id of all that begin with `prefix`, which ends with a slash; None: git has to be asked."""
    if not _is_known(git_dir):
        return None
    found: dict[str, str] = {}
    try:
        top = f"{git_dir}/"
        for folder, _, files in os.walk(f"{top}{prefix}".removesuffix("/"), onerror=_fail):
            for name in files:
                if name.endswith(".lock"):
                    continue
                path = f"{folder}/{name}"
                with open(path, encoding="ascii") as file:  # noqa: PTH123 - a fifth of what a Path costs, for each ref
                    line = LINE.fullmatch(file.read())
                if line is None:
                    return None
                found[path.removeprefix(top)] = line[1]
        # Last, because packing names a ref there before its file goes.
        return {ref: oid for ref, oid in _packed_refs(git_dir).items() if ref.startswith(prefix)} | found
    except (OSError, ValueError):
        return None


def tip(git_dir: Path, ref: str) -> str | None:
    """The object id of a ref, empty where there is no such ref; None: git has to be asked."""
    if not _is_known(git_dir):
        return None
    try:
        line = LINE.fullmatch((git_dir / names.ref(ref)).read_text(encoding="ascii"))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return _packed_refs(git_dir).get(ref, "")
    except (OSError, ValueError):
        return None
    return None if line is None else line[1]


def move(git_dir: Path, ref: str, new: str, expected: str | None = None) -> bool:
    """Point a ref at an object that is here, if it is at `expected` (None: wherever); an empty `new` deletes it.

    False, and nothing is done: git has to do it, or say why it cannot be done. A ref that is new gets its file only
    if no packed one is in its way, and only one that is not packed is deleted.
    """
    path = git_dir / names.ref(ref)
    if not _is_known(git_dir) or (git_dir / "logs" / ref).exists():
        return False
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _lock_file(path) as lock:
            if not _may_move(git_dir, ref, path, expected):
                return False
            if not new:
                return _delete_loose(git_dir, ref, path)
            lock.fill(f"{names.oid(new)}\n")
    except (OSError, ValueError):
        return False
    return True


def _delete_loose(git_dir: Path, ref: str, path: Path) -> bool:
    """Delete a loose ref while nobody may pack: packing reads a ref long before it names it as packed."""
    with _lock_file(git_dir / "packed-refs"):
        if ref in _packed_refs(git_dir):
            return False
        path.unlink(missing_ok=True)
    return True


@dataclass(slots=True)
class _Lock:
    """git's lock on a file: another file, which takes its place once it is filled."""

    path: Path
    place: Path
    descriptor: int
    is_held: bool = True

    def fill(self, text: str) -> None:
        """Give the file this content; this ends the lock."""
        with os.fdopen(self.descriptor, "w", encoding="ascii", closefd=False) as file:
            file.write(text)
        os.fsync(self.descriptor)
        self.place.replace(self.path)
        self.is_held = False


@contextmanager
def _lock_file(path: Path) -> Iterator[_Lock]:
    """Hold the lock on a file; raises `OSError` if another process does, whose lock stays."""
    place = path.with_name(f"{path.name}.lock")
    lock = _Lock(path, place, os.open(place, _NEW, 0o666))
    try:
        yield lock
    finally:
        os.close(lock.descriptor)
        if lock.is_held:
            place.unlink(missing_ok=True)


def _may_move(git_dir: Path, ref: str, path: Path, expected: str | None) -> bool:
    """Return whether the locked ref is a plain one, or can be one, and has the expected value."""
    packed = _packed_refs(git_dir)
    if path.exists():
        line = LINE.fullmatch(path.read_text(encoding="ascii"))
        if line is None:
            return False
        now = line[1]
    else:
        now = packed.get(ref, "")
    above = {parent.as_posix() for parent in Path(ref).parents}
    is_free = not above & packed.keys() and not any(other.startswith(f"{ref}/") for other in packed)
    return is_free and expected in {None, now}


def _packed_refs(git_dir: Path) -> dict[str, str]:
    try:
        text = (git_dir / "packed-refs").read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return {}
    return {ref: oid for oid, ref in _PACKED.findall(text)}


def _is_known(git_dir: Path) -> bool:
    return not (git_dir / "reftable").exists() and (git_dir / "refs").is_dir()


def _fail(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error
