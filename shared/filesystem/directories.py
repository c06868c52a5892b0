"""Removing, walking and making directories into which a hostile child may have written: no link is ever followed.

Nothing here recurses, however deep a child has nested directories, and removing raises nothing: a path that cannot be
removed is renamed within its own directory, reported once, and tried again by `retry`.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import structlog

ASIDE = ".not-removed-"
"""Prefix of the names that `remove` gives to paths that it could not remove."""

LONGEST_PATH = 3000
"""Bytes above which a path is shortened: the kernel takes 4,096 in one call."""

MOST_ANCHORS = 64
"""Descriptors that a walk keeps open to shorten paths; together with `LONGEST_PATH` they bound how deep it looks."""

BATCH = 10_000
"""Names of one directory that are held in memory."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC

log = structlog.get_logger()


def remove(path: Path) -> bool:
    """Remove whatever is at `path`, whatever its modes, names and depth; a missing path is fine. Raises nothing.

    A path that cannot be removed is renamed, with one warning, so that `path` is free all the same. Return False if not
    even that was possible.
    """
    if (error := _clear(path)) is None:
        return True
    aside = path.with_name(f"{ASIDE}{secrets.token_hex(6)}")
    try:
        path.rename(aside)
    except OSError as second:
        log.warning("not_removed", outcome="failed", path=_printable_path(path), error=second.strerror)
        return False
    log.warning(
        "not_removed",
        outcome="retrying",
        path=_printable_path(path),
        aside=_printable_path(aside),
        error=error.strerror,
        sentence="It was moved aside and is tried again later; `workflow-engine doctor` lists what is left.",
    )
    return True


def set_aside(directory: Path) -> tuple[Path, ...]:
    """Return the paths in this directory that `remove` has renamed because it could not remove them."""
    found: list[Path] = []
    with suppress(OSError), os.scandir(directory) as entries:
        found = [directory / entry.name for entry in entries if entry.name.startswith(ASIDE)]
    return tuple(sorted(found))


def retry(directory: Path) -> None:
    """Try once more to remove the paths that `remove` has renamed in this directory; raises and reports nothing."""
    for path in set_aside(directory):
        if _clear(path) is None:
            log.info("removed_after_all", path=_printable_path(path))


def renew(path: Path) -> Path:
    """Make an empty directory at `path`, removing what was there; raises `OSError` if that fails."""
    remove(path)
    path.mkdir(parents=True)
    return path


def write(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Write a new file below a directory that is ours alone; raises `FileExistsError` if there is one.

    With `durable`, the file is on the disk before this returns.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        if durable:
            file.flush()
            os.fsync(descriptor)


def replace_content(path: Path, content: bytes) -> None:
    """Replace the content of a file, also behind a link, as a whole or not at all; owner and mode stay.

    Raises `OSError`.
    """
    real = path.resolve()
    before = real.stat()
    beside = real.with_name(f".{real.name}.{secrets.token_hex(6)}")
    try:
        write(beside, content, durable=True)
        mode = stat.S_IMODE(before.st_mode)
        try:
            os.chown(beside, before.st_uid, before.st_gid)
        except PermissionError:  # another account's: better ours alone than the old content
            mode &= 0o700
        beside.chmod(mode)
        beside.replace(real)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def open_directory(path: str | Path, inside: int | None = None) -> Iterator[int]:
    """Open a block with the descriptor of a directory; a link in its place is not followed. Raises `OSError`."""
    descriptor = os.open(path, _DIRECTORY, dir_fd=inside)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def open_regular(path: Path) -> BinaryIO:
    """Open a file that a child may have replaced: a link is not followed, a pipe not waited for. Raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return os.fdopen(descriptor, "rb")


def walk(
    root: Path,
    *,
    skipped: Collection[str] = (),
    deepest: int | None = None,
    left_out: Callable[[OSError], None] = lambda _: None,
) -> Iterator[os.DirEntry[str]]:
    """Yield everything below `root`, parents before their entries; unreadable directories are left out. Raises nothing.

    Directories named in `skipped` are not entered, nor those with a path of more than `deepest` bytes. Without that
    bound an entry's `path` is valid only until the next entry is read, because a deep one leads through a descriptor.
    `left_out` gets the error of each directory that could not be entered.
    """
    waiting: list[tuple[str, _Anchor | None]] = [(str(root), None)]
    while waiting:
        path, anchor = waiting.pop()
        try:
            if deepest is not None and len(os.fsencode(path)) > deepest:
                continue
            if len(os.fsencode(path)) > LONGEST_PATH:
                anchor = _Anchor(path, anchor)
                path = anchor.path
            with _list_entries(path) as entries:
                for entry in entries:
                    yield entry
                    if entry.is_dir(follow_symlinks=False) and entry.name not in skipped:
                        waiting.append((entry.path, anchor))
        except OSError as error:
            left_out(error)


class _Anchor:
    """An open directory: paths of entries below it start from its descriptor, so that they stay short."""

    def __init__(self, path: str, above: _Anchor | None) -> None:
        self.depth: int = 1 if above is None else above.depth + 1
        if self.depth > MOST_ANCHORS:
            raise OSError(errno.ENAMETOOLONG, "too deep")
        self._descriptor = os.open(path, _DIRECTORY)
        self.path = f"/proc/self/fd/{self._descriptor}"

    def __del__(self) -> None:
        with suppress(AttributeError, OSError):
            os.close(self._descriptor)


@contextmanager
def _list_entries(path: str) -> Iterator[Iterator[os.DirEntry[str]]]:
    """Yield the entries of a directory; if this account owns but may not read it, grant the rights first."""
    try:
        entries = os.scandir(path)
    except PermissionError:
        _permit(path)
        entries = os.scandir(path)
    with entries:
        yield entries


def _clear(path: Path) -> OSError | None:
    """Remove what is at `path`; return the error if that failed."""
    try:
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return None
        _permit(path)
        with open_directory(path) as top:
            _empty(top)
        path.rmdir()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return error
    return None


def _empty(top: int) -> None:
    """Remove everything in a directory; nested directories are moved up into it, so that no path grows long.

    Raises `OSError` when nothing more of what is left can be removed.
    """
    while True:
        with os.scandir(top) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in islice(entries, BATCH)]
        if not found:
            return
        errors = [_take_out(name, top, top) if is_dir else _unlink(name, top) for name, is_dir in found]
        if all(errors):
            raise errors[0] or OSError(errno.ENOTEMPTY, "not empty")


def _take_out(name: str, inside: int, top: int) -> OSError | None:
    """Remove one directory, or at least move its entries up; return the error if neither was possible."""
    moved = False
    try:
        os.rmdir(name, dir_fd=inside)
    except OSError:
        try:
            _permit(name, inside)
            with open_directory(name, inside) as here:
                moved = _move_up(here, top)
            os.rmdir(name, dir_fd=inside)
        except OSError as error:
            return None if moved else error
    return None


def _move_up(here: int, top: int) -> bool:
    """Remove the files of a directory and move its directories up to `top`; return whether anything changed."""
    moved = False
    while True:
        with os.scandir(here) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in islice(entries, BATCH)]
        errors = [_lift(name, here, top) if is_dir else _unlink(name, here) for name, is_dir in found]
        if all(errors):  # also when nothing is left
            return moved
        moved = True


def _lift(name: str, here: int, top: int) -> OSError | None:
    """Remove one directory if it is empty, else move it up to `top`; return the error if that failed."""
    try:
        os.rmdir(name, dir_fd=here)
    except OSError:
        try:
            _permit(name, here)
            os.rename(name, secrets.token_hex(16), src_dir_fd=here, dst_dir_fd=top)
        except OSError as error:
            return error
    return None


def _unlink(name: str, inside: int) -> OSError | None:
    try:
        os.unlink(name, dir_fd=inside)
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    return None


def _permit(path: str | Path, inside: int | None = None) -> None:
    """Give this account all rights to one of its own directories; other accounts' directories stay as they are."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=inside)
        try:
            mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
            if mode & 0o700 != 0o700:
                Path(f"/proc/self/fd/{descriptor}").chmod(mode | 0o700)
        finally:
            os.close(descriptor)


def _printable_path(path: Path) -> str:
    """Return a path as printable text, whatever bytes it has."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
