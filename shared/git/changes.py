"""What differs between two trees, as values for the patch policy and as a diff for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from shared.git import names, objects
from shared.git.command import Git
from shared.git.output import fields
from shared.git.patch_policy import GITLINK, Change

TEXT_BYTES = 4 * 2**20
"""A file above this size is not read and counts as binary."""

_NOTHING = "0" * 40


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line of `git diff-tree --raw`."""

    path: str
    status: str
    old_mode: str
    new_mode: str
    old: str
    new: str


async def between(git: Git, old: str, new: str) -> tuple[Change, ...]:
    """Every path that differs from one commit or tree to another, in git's order; a rename is two changes."""
    verb = ("diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "--no-renames", "--no-ext-diff")
    finished = await git.run(*verb, names.oid(old), names.oid(new), "--")
    entries, counts = _parse(fields(finished.stdout))
    blobs = {entry.new for entry in entries if entry.new != _NOTHING and entry.new_mode != GITLINK}
    sizes = await objects.sizes(git, blobs)
    return tuple([await _change(git, e, counts[e.path], sizes.get(e.new, 0)) for e in entries])


async def diff(git: Git, old: str, new: str) -> str:
    """The unified diff, with renames."""
    verb = ("diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", "--no-color")
    return (await git.run(*verb, names.oid(old), names.oid(new), "--")).stdout.decode("utf-8", "replace")


def _parse(output: Sequence[str]) -> tuple[list[_Entry], dict[str, tuple[str, str]]]:
    entries, counts = [], {}
    rest: Iterator[str] = iter(output)
    for field in rest:
        if field.startswith(":"):
            old_mode, new_mode, old, new, status = field[1:].split(" ")
            entries.append(_Entry(next(rest), status, old_mode, new_mode, old, new))
        else:
            added, deleted, path = field.split("\t", 2)
            counts[path] = (added, deleted)
    return entries, counts


async def _change(git: Git, entry: _Entry, counts: tuple[str, str], size: int) -> Change:
    binary = counts[0] == "-" or size > TEXT_BYTES
    text = "" if binary or entry.new_mode == GITLINK else await _added_text(git, entry)
    added, deleted = (0 if count == "-" else int(count) for count in counts)
    return Change(entry.path, entry.status, entry.old_mode, entry.new_mode, added, deleted, binary, size, text)


async def _added_text(git: Git, entry: _Entry) -> str:
    new, old = await objects.read(git, [entry.new, entry.old])
    known = set((old or b"").split(b"\n"))
    return b"\n".join(line for line in (new or b"").split(b"\n") if line not in known).decode("utf-8", "replace")
