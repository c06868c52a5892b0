"""Objects written without a process, byte for byte as git writes them: commits, trees, texts of the engine.

Files that a stranger may have written are left to git, which knows a forged SHA-1 when it computes one.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

Kind = Literal["tree", "blob"]
"""Kinds that `write` takes; a commit is made of `Words`, which its caller has cleaned of secrets."""

SPEED = 1
"""Compression level of a loose object: git's `core.looseCompression`."""

READ_ONLY = 0o444
"""The mode of an object's file, which is never changed again."""

HEADER_BYTES = 32
"""Bytes that the kind and size at an object's beginning do not exceed."""

_CHUNK_BYTES = 2**16
"""Bytes of a file that are read at once."""

_CRUD = "".join(map(chr, range(33))) + ".,:;<>\"\\'"
"""Characters that git takes off both ends of names and addresses."""

_DELIMITERS = str.maketrans("", "", "\n<>")
"""Characters that git takes out of names and addresses anywhere."""

_PLANE_ENDS = "".join(chr(plane << 16 | end) for plane in range(17) for end in (0xFFFE, 0xFFFF))

_NO_CHARACTER = re.compile(f"[\udc80-\udcff\ufdd0-\ufdef{_PLANE_ENDS}]")
"""Bytes that git does not take for UTF-8: invalid ones, surrogates in Python, and those of no character."""


class Unwritable(ValueError):
    """Data of which git makes no commit."""


@dataclass(frozen=True, slots=True)
class Words:
    """A commit without its time: tree, parents, author and message."""

    tree: str
    parents: Sequence[str]
    name: str
    email: str
    message: bytes

    def at(self, seconds: int) -> bytes:
        """Return the commit as `git commit-tree` makes it at this time, in UTC; raises `Unwritable`."""
        name, email = (text.strip(_CRUD).translate(_DELIMITERS) for text in (self.name, self.email))
        if not name or "\0" in name + email or b"\0" in self.message:
            raise Unwritable("a commit has the name of who made it, and no NUL byte.")
        lines = [f"tree {self.tree}", *(f"parent {parent}" for parent in dict.fromkeys(self.parents))]
        lines += [f"{role} {name} <{email}> {seconds} +0000" for role in ("author", "committer")]
        head = "\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")
        return _NO_CHARACTER.sub(_as_latin, (head + self.message).decode("utf-8", "surrogateescape")).encode()


def write(git_dir: Path, kind: Kind, content: bytes) -> str:
    """Write an object unless it is there, and return its id; raises `OSError`."""
    return _write_object(git_dir, kind, lambda seconds: content)


def commit(git_dir: Path, words: Words, at: int | None = None) -> str:
    """Write a commit and return its id; without `at` it is made now, by the disk's clock. `Unwritable`, `OSError`."""
    return _write_object(git_dir, "commit", lambda now: words.at(now if at is None else at))


def copy(git_dir: Path, kind: Kind | Literal["commit"], oid: str, content: bytes) -> None:
    """Write an object of another git directory under its name; raises `OSError`, and `Unwritable` if its id is another.

    For a directory that nobody trusts: a forged SHA-1 is not noticed here.
    """
    if _write_object(git_dir, kind, lambda seconds: content) != oid:
        raise Unwritable(f"the {kind} {oid} does not hold what its name says.")


def read(git_dir: Path, oid: str, most: int) -> tuple[bytes, bytes] | None:
    """Return kind and content of an object of at most `most` bytes; None if there is none, or git has to be asked."""
    try:
        with (git_dir / "objects" / oid[:2] / oid[2:]).open("rb") as file:
            whole = zlib.decompressobj().decompress(file.read(most + HEADER_BYTES), most + HEADER_BYTES)
    except (OSError, zlib.error):
        return None
    head, _, content = whole.partition(b"\0")
    kind, _, size = head.partition(b" ")
    is_whole = size == str(len(content)).encode() and len(content) <= most
    return (kind, content) if is_whole else None


def is_sound(path: Path, oid: str) -> bool:
    """Return whether a file holds the object of this name, to its end; raises `OSError`, also for a link."""
    digest, inflating = hashlib.sha1(usedforsecurity=False), zlib.decompressobj()
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return False
        try:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(inflating.decompress(chunk))
        except zlib.error:
            return False
    return inflating.eof and not inflating.unused_data and digest.hexdigest() == oid


class TreeEntry(NamedTuple):
    """One line of a tree."""

    mode: str
    name: str
    oid: str


def tree(entries: Iterable[TreeEntry]) -> bytes:
    """Return the content of a tree without directories."""
    ordered = sorted((entry.name.encode(), entry) for entry in entries)
    return b"".join(f"{entry.mode} ".encode() + name + b"\0" + bytes.fromhex(entry.oid) for name, entry in ordered)


def entries(content: bytes, oid_bytes: int) -> tuple[TreeEntry, ...]:
    """Return the lines of a tree; raises ValueError for any other content."""
    found, at = [], 0
    while at < len(content):
        end = content.index(b"\0", at) + 1
        mode, _, name = content[at : end - 1].partition(b" ")
        at = end + oid_bytes
        oid = content[end:at].hex()
        if len(oid) != 2 * oid_bytes:
            raise ValueError("a tree that ends too early")
        found.append(TreeEntry(mode.decode("ascii"), name.decode("utf-8", "surrogateescape"), oid))
    return tuple(found)


def _write_object(git_dir: Path, kind: Kind | Literal["commit"], content: Callable[[int], bytes]) -> str:
    """Write an object unsynced, as git does: important ones have been pushed."""
    objects = git_dir / "objects"
    with _new_file(objects) as (descriptor, path):
        body = content(int(os.fstat(descriptor).st_mtime))
        whole = f"{kind} {len(body)}\0".encode() + body
        oid = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        place = objects / oid[:2] / oid[2:]
        with suppress(FileNotFoundError):
            os.utime(place)  # packing drops what nothing leads to and nobody wrote for days
            return oid
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(zlib.compress(whole, SPEED))
        place.parent.mkdir(exist_ok=True)
        _give_name(path, place)
    return oid


def _give_name(path: Path, place: Path) -> None:
    """Give the file its name, unless another process has written the object meanwhile."""
    try:
        os.link(path, place)
    except FileExistsError:
        return
    except OSError:  # a file system without links
        path.rename(place)


@contextmanager
def _new_file(objects: Path) -> Iterator[tuple[int, Path]]:
    """Open a new file with the name by which `git prune` knows a killed writer's rest; removed at the block's end."""
    path = objects / f"tmp_obj_{secrets.token_hex(8)}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, READ_ONLY)
    try:
        yield descriptor, path
    finally:
        os.close(descriptor)
        path.unlink(missing_ok=True)


def _as_latin(found: re.Match[str]) -> str:
    """Decode a byte as git does, as one of Latin-1."""
    return found[0].encode("utf-8", "surrogateescape").decode("latin-1")
