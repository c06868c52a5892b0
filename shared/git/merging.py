"""A merge of two commits without a work tree, an index or a ref: the tree it would have, and its conflicts.

git >= 2.38 does this by itself (https://git-scm.com/docs/git-merge-tree); older ones cannot serve the engine anyway.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from shared.errors import Transient
from shared.git import names
from shared.git.command import Git
from shared.git.failures import local
from shared.git.names import fields

_CLEAN, _COLLIDES = 0, 1
"""Exit codes of `git merge-tree`; any other is a fault."""

_KINDS = {
    frozenset("123"): "UU",
    frozenset("23"): "AA",
    frozenset("1"): "DD",
    frozenset("2"): "AU",
    frozenset("3"): "UA",
    frozenset("13"): "DU",
    frozenset("12"): "UD",
}
"""The stages of an unmerged path -> its name in `git status`: the change by ours, then by theirs."""

_MARKERS = (b"<<<<<<< ", b"||||||| ", b">>>>>>> ")
"""Beginnings of the lines that git writes around both sides; `=======` alone also underlines headings."""


class MergeFailed(Transient):
    """git could not merge, and not because of a conflict."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path that both sides changed. `kind` is UU, AA, DD, AU, UA, DU or UD, as `git status` names it."""

    path: str
    kind: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of a merge. With `conflicts` the files in `tree` hold git's markers where both sides differ."""

    tree: str
    conflicts: tuple[Conflict, ...] = ()


async def merge(git: Git, ours: str, theirs: str) -> Merged:
    """Merge two commits of one git directory; nothing is written but objects.

    Raises `MergeFailed` if git fails without naming a conflict.
    """
    verb = ("merge-tree", "--write-tree", "--no-messages", "-z")
    finished = await git.run(*verb, names.oid(ours), names.oid(theirs), ok=range(256))
    tree, *entries = fields(finished.stdout) or ("",)
    if finished.code == _CLEAN:
        return Merged(names.oid(tree))
    conflicts = _conflicts(entries) if finished.code == _COLLIDES else ()
    if not conflicts:  # a commit that is not there ends with 1, too
        raise MergeFailed(f"git could not merge {theirs[:12]} into {ours[:12]}: {local(finished)}")
    return Merged(names.oid(tree), conflicts)


def has_markers(content: bytes) -> bool:
    """Return whether a file still holds git's markers around the two sides of a conflict."""
    return any(line.startswith(_MARKERS) for line in content.split(b"\n"))


def _conflicts(entries: Iterable[str]) -> tuple[Conflict, ...]:
    stages: dict[str, set[str]] = {}
    for entry in entries:
        facts, _, path = entry.partition("\t")
        stages.setdefault(path, set()).add(facts.rpartition(" ")[2])
    return tuple(Conflict(path, _KINDS[frozenset(found)]) for path, found in stages.items())
