"""The commits of refs with their messages: read through the reader that stays open, or by git."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import anyio.to_thread

from shared.git import history, objects, ref_files
from shared.git.command import Git
from shared.git.failures import TooMuchOutput

READ_AT_ONCE = 100
"""Commits of one question."""


class RefTip(NamedTuple):
    """One ref, its object id, and that commit's author and message; both are empty if it is no commit."""

    ref: str
    oid: str
    author: str
    message: str


async def below(git: Git, prefix: str) -> tuple[RefTip, ...]:
    """Return all refs that begin with `prefix`, which ends with a slash, by their names. Raises `CommandFailed`."""
    found = await _read_tips(git, prefix) if git.has_readers else None
    if found is not None:
        return found
    layout = "--format=%(refname)%00%(objectname)%00%(authoremail)%00%(contents)%00"
    columns = (await git.run("for-each-ref", layout, prefix)).stdout.decode("utf-8", "replace").split("\0")
    rows = zip(columns[0::4], columns[1::4], columns[2::4], columns[3::4], strict=False)
    return tuple(
        RefTip(ref.removeprefix("\n"), oid, author, message.rstrip("\n")) for ref, oid, author, message in rows
    )


async def _read_tips(git: Git, prefix: str) -> tuple[RefTip, ...] | None:
    refs = await anyio.to_thread.run_sync(_sorted_refs, git.git_dir, prefix)
    found: list[RefTip] = []
    while refs is not None and len(found) < len(refs):
        some = refs[len(found) : len(found) + READ_AT_ONCE]
        try:
            told = await objects.whole(git, [oid for _, oid in some])
        except TooMuchOutput:
            return None
        for (ref, oid), one in zip(some, told, strict=True):
            commit = history.parsed(oid, one[1]) if one is not None and one[0] == b"commit" else None
            if commit is None:
                return None
            found.append(RefTip(ref, oid, commit[1], commit[0].message.lstrip("\n")))
    return None if refs is None else tuple(found)


def _sorted_refs(git_dir: Path, prefix: str) -> list[tuple[str, str]] | None:
    refs = ref_files.below(git_dir, prefix)
    return None if refs is None else sorted(refs.items(), key=lambda one: one[0].encode("utf-8", "surrogateescape"))
