"""The differences between two trees, as values for the patch policy and as a diff for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shared.git import names, objects, tree_files
from shared.git.command import Git
from shared.git.names import fields
from shared.git.patch_policy import GITLINK, PathChange

FILE_BYTES = 4 * 2**20
"""Size above which a file, old or new, is not read and counts as binary."""

ALL_BYTES = 64 * 2**20
"""Bytes of text after which further files are not read: a patch of that size is refused in any case."""

PATCH_BYTES = 256 * 2**20
"""Most bytes of a patch; the largest change that is recorded at all takes less."""

_DIFF = ("diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color")

_ONE_READ_BYTES = 8 * 2**20

_NOTHING = "0" * 40

_LOOKED_AT_BYTES = 8000
"""Bytes at a file's start in which a NUL byte makes it binary for git."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of `git diff-tree --raw`."""

    path: str
    status: str
    old_mode: str
    new_mode: str
    old: str
    new: str

    def blobs(self) -> list[str]:
        """Return the ids of the files on both sides, as far as there are files."""
        sides = ((self.old_mode, self.old), (self.new_mode, self.new))
        return [oid for mode, oid in sides if mode != GITLINK and oid != _NOTHING]


async def between(git: Git, old: str, new: str) -> tuple[PathChange, ...]:
    """Return every path that differs between two commits or trees, in git's order; a rename is two changes."""
    entries, counts = await _compare(git, old, new)
    sizes = await objects.sizes(git, {oid for entry in entries for oid in entry.blobs()})
    readable = _readable_entries([entry for entry in entries if counts[entry.path][0] != "-"], sizes)
    texts = await _texts(git, [oid for entry in readable for oid in entry.blobs()], sizes)
    read = {entry.path for entry in readable}
    return tuple(_change(e, counts[e.path], sizes, texts if e.path in read else None) for e in entries)


async def entries(git: Git, old: str, new: str) -> list[Entry]:
    """Return the objects on both sides of every path that differs, in the same order."""
    return (await _compare(git, old, new))[0]


async def _compare(git: Git, old: str, new: str) -> tuple[list[Entry], dict[str, tuple[str, str]]]:
    """Return the entries, and each path's lines added and deleted: one question, however the trees are named."""
    trees = [await objects.tree_of(git, names.oid(side)) for side in (old, new)]
    if (found := await _whole_files(git, *trees)) is not None:
        return found
    verb = ("diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "--no-renames", "--no-ext-diff")
    return _parse(fields((await git.settled(*verb, *trees, "--")).stdout))


async def _whole_files(git: Git, old: str, new: str) -> tuple[list[Entry], dict[str, tuple[str, str]]] | None:
    """Compare small trees in which files only came or went, without a process; None if git has to compare."""
    sides = [await tree_files.few(git, side) for side in (old, new)]
    if sides[0] is None or sides[1] is None:
        return None
    before, after = ({file.path: file for file in side.files} for side in sides if side is not None)
    if any(path in after and after[path] != file for path, file in before.items()):
        return None
    entries = [Entry(file.path, "D", file.mode, "000000", file.oid, _NOTHING) for file in before.values()]
    entries += [Entry(file.path, "A", "000000", file.mode, _NOTHING, file.oid) for file in after.values()]
    entries = [entry for entry in entries if (entry.path in before) is not (entry.path in after)]
    blobs = [oid for entry in entries for oid in entry.blobs()]
    sizes = await objects.sizes(git, set(blobs))
    if len(blobs) < len(entries) or sum(sizes.get(oid, ALL_BYTES) for oid in blobs) > _ONE_READ_BYTES:
        return None
    contents = await objects.read(git, blobs)
    if None in contents:
        return None
    lines = {entry.path: _lines(content or b"") for entry, content in zip(entries, contents, strict=True)}
    entries.sort(key=lambda entry: entry.path.encode("utf-8", "surrogateescape"))
    return entries, {e.path: _counts(lines[e.path], added=e.status == "A") for e in entries}


def _lines(content: bytes) -> str:
    """Return the number of lines as git counts them; a dash for content that it takes for binary."""
    if b"\0" in content[:_LOOKED_AT_BYTES]:
        return "-"
    return str(content.count(b"\n") + (content[-1:] not in {b"", b"\n"}))


def _counts(lines: str, *, added: bool) -> tuple[str, str]:
    none = "-" if lines == "-" else "0"
    return (lines, none) if added else (none, lines)


async def diff(git: Git, old: str, new: str) -> str:
    """Return the unified diff, with renames."""
    return (await git.settled(*_DIFF, names.oid(old), names.oid(new), "--")).stdout.decode("utf-8", "replace")


async def patch(git: Git, old: str, new: str) -> bytes:
    """Return the diff in a form that `git apply` takes, binary files too; at most `PATCH_BYTES`.

    Not by `--output`, because git does not notice when the disk is full.
    """
    finished = await git.run(*_DIFF, "--binary", names.oid(old), names.oid(new), "--", cap=PATCH_BYTES)
    return finished.stdout


def _parse(output: Sequence[str]) -> tuple[list[Entry], dict[str, tuple[str, str]]]:
    entries, counts = [], {}
    rest: Iterator[str] = iter(output)
    for field in rest:
        if field.startswith(":"):
            old_mode, new_mode, old, new, status = field[1:].split(" ")
            entries.append(Entry(next(rest), status, old_mode, new_mode, old, new))
        else:
            added, deleted, path = field.split("\t", 2)
            counts[path] = (added, deleted)
    return entries, counts


def _readable_entries(entries: Sequence[Entry], sizes: Mapping[str, int]) -> list[Entry]:
    readable, total = [], 0
    for entry in entries:
        of_entry = [sizes.get(oid, 0) for oid in entry.blobs()]
        if max(of_entry, default=0) <= FILE_BYTES and total + sum(of_entry) <= ALL_BYTES:
            readable.append(entry)
            total += sum(of_entry)
    return readable


async def _texts(git: Git, oids: Sequence[str], sizes: Mapping[str, int]) -> dict[str, bytes]:
    """Return the content of each blob, read in portions."""
    texts: dict[str, bytes] = {}
    portion: list[str] = []
    weight = 0
    for number, oid in enumerate(oids, 1):
        portion.append(oid)
        weight += sizes.get(oid, 0)
        if weight > _ONE_READ_BYTES or number == len(oids):
            found = await objects.read(git, portion)
            texts |= {oid: content or b"" for oid, content in zip(portion, found, strict=True)}
            portion, weight = [], 0
    return texts


def _added_lines(entry: Entry, texts: Mapping[str, bytes]) -> str:
    known = set(texts[entry.old].split(b"\n")) if entry.old in texts else set()
    new = texts.get(entry.new, b"").split(b"\n")
    return b"\n".join(line for line in new if line not in known).decode("utf-8", "replace")


def _change(
    entry: Entry, counts: tuple[str, str], sizes: Mapping[str, int], texts: Mapping[str, bytes] | None
) -> PathChange:
    """Return the change of one path; `texts` is None if its files were not read."""
    added, deleted = (0 if count == "-" else int(count) for count in counts)
    return PathChange(
        path=entry.path,
        status=entry.status,
        old_mode=entry.old_mode,
        new_mode=entry.new_mode,
        added=added,
        deleted=deleted,
        binary=texts is None,
        size=sizes.get(entry.new, 0) if entry.new_mode != GITLINK else 0,
        added_text=_added_lines(entry, texts) if texts is not None else "",
        only_line_ends=texts is not None and _only_line_ends(entry, texts),
    )


def _only_line_ends(entry: Entry, texts: Mapping[str, bytes]) -> bool:
    old, new = texts.get(entry.old, b""), texts.get(entry.new, b"")
    return old != new and old.replace(b"\r\n", b"\n") == new.replace(b"\r\n", b"\n")
