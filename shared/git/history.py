"""Commits and the refs at them, read through the reader that stays open; long or branched histories are left to git."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

import anyio.to_thread

from shared.git import names, objects, ref_files
from shared.git.command import Git
from shared.git.failures import TooMuchOutput

WALKED = 32
"""Commits of one history that are read one by one; git returns more than that sooner."""

COMMIT_BYTES = 64 * 2**10
"""Size above which a commit is left to git too."""

READ_AT_ONCE = 100
"""Commits of one question."""

_HEAD = re.compile(
    rb"tree [0-9a-f]{40,64}\n((?:parent [0-9a-f]{40,64}\n)*)author [^<\n]*(<[^>\n]*>)[^\n]*\n"
    rb"committer [^\n]*> ([0-9]{1,11}) ([+-])([01][0-9]|2[0-3])([0-5][0-9])(?:\n|\Z)"
)


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a history."""

    oid: str
    parents: tuple[str, ...]
    at: datetime
    message: str

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


class RefTip(NamedTuple):
    """One ref, its object id, and that commit's author and message; both are empty if it is no commit."""

    ref: str
    oid: str
    author: str
    message: str


class _LeftToGit(Exception):
    """The answer is not found by reading a few commits in a row."""


async def log(git: Git, ref: str, limit: int, without: str = "") -> tuple[Commit, ...]:
    """Return at most `limit` commits of a ref's history, newest first; not those in the history of `without`."""
    try:
        found = (await _walk_both(git, ref, without)).commits if without else await _newest_commits(git, ref, limit)
        return tuple(found[:limit])
    except _LeftToGit:
        pass
    span = (names.revision(ref), *([f"^{names.revision(without)}"] if without else []))
    layout = ("--topo-order", "--format=%H%n%P%n%cI%n%B")
    ask = git.settled if names.are_oids(ref, *filter(None, [without])) else git.run
    finished = await ask("log", "-z", *layout, f"--max-count={limit}", *span, "--")
    return tuple(_parse_commit(entry) for entry in finished.stdout.decode("utf-8", "replace").split("\0") if entry)


async def is_ancestor(git: Git, ancestor: str, commit: str) -> bool:
    """Return whether `commit` has `ancestor` in its history, or is it itself. `CommandFailed`: one is missing."""
    try:
        walk = await _walk_both(git, commit, ancestor)
        return walk.met == walk.other
    except _LeftToGit:
        pass
    arguments = ("merge-base", "--is-ancestor", names.revision(ancestor), names.revision(commit))
    if not names.are_oids(ancestor, commit):
        return (await git.run(*arguments, ok=(0, 1))).code == 0
    # A commit in between that is missing makes git say no, with an error: it may come.
    return (await git.settled(*arguments, ok=(0, 1), holds=lambda finished: not finished.stderr)).code == 0


async def merge_base(git: Git, commit: str, other: str) -> str | None:
    """Return the newest commit that both have in their history; None if none. `CommandFailed`: one is missing."""
    try:
        return (await _walk_both(git, commit, other)).met
    except _LeftToGit:
        pass
    verb = ("merge-base", names.revision(commit), names.revision(other))
    ask = git.settled if names.are_oids(commit, other) else git.run
    return (await ask(*verb, ok=(0, 1))).text or None


@dataclass(frozen=True, slots=True)
class _Walk:
    """Commits from one end down to where they `met` the history of the `other` end; `met` is None if they do not."""

    commits: list[Commit]
    met: str | None
    other: str


async def _walk_both(git: Git, ref: str, without: str) -> _Walk:
    """Walk both histories, one commit of each in turn, until they meet or end; neither is followed beyond a merge.

    Above that each commit has one parent at most, so the first that both have is the only one at which they meet.
    """
    here, there = await _commit_of(git, ref), await _commit_of(git, without)
    other, ours, theirs = there, dict[str, Commit](), dict[str, Commit]()
    ends: list[Commit] = []
    while here or there:
        if here:
            ours[here] = await _read_commit(git, here, len(ours))
        if there:
            theirs[there] = await _read_commit(git, there, len(theirs))
        if met := (here if here in theirs else there if there in ours else ""):
            before = list(ours)
            return _Walk([ours[oid] for oid in before[: before.index(met)]], met, other)
        ends += [*([ours[here]] if here else []), *([theirs[there]] if there else [])]
        here, there = _parent(ours.get(here)), _parent(theirs.get(there))
    if any(len(commit.parents) > 1 for commit in ends):
        raise _LeftToGit
    return _Walk(list(ours.values()), None, other)


async def _newest_commits(git: Git, ref: str, limit: int) -> list[Commit]:
    found: list[Commit] = []
    here = await _commit_of(git, ref)
    while here and len(found) < limit:
        found.append(await _read_commit(git, here, len(found)))
        if len(found) < limit and len(found[-1].parents) > 1:
            raise _LeftToGit
        here = _parent(found[-1])
    return found


def _parent(commit: Commit | None) -> str:
    """Return the only parent; empty if there is none, or more than one."""
    return commit.parents[0] if commit is not None and len(commit.parents) == 1 else ""


async def _commit_of(git: Git, revision: str) -> str:
    if not git.has_readers:
        raise _LeftToGit
    found = await objects.peeled(git, revision, "commit")
    if found is None:
        raise _LeftToGit  # its error says what is missing
    return found


async def _read_commit(git: Git, oid: str, read: int) -> Commit:
    """Return one commit; `_LeftToGit` if it is missing or unusual, or if `read` commits before it were enough."""
    if read >= WALKED:
        raise _LeftToGit
    try:
        (found,) = await objects.whole(git, [oid])
    except TooMuchOutput:
        raise _LeftToGit from None
    if found is None or found[0] != b"commit":
        raise _LeftToGit
    if (commit := parsed(oid, found[1])) is None:
        raise _LeftToGit
    return commit[0]


def parsed(oid: str, content: bytes) -> tuple[Commit, str] | None:
    """Return a commit and the address of its author, in angle brackets; None for an unusual one (pure)."""
    lines, _, body = content.partition(b"\n\n")
    head = _HEAD.match(lines)
    if head is None or len(content) > COMMIT_BYTES or b"\nencoding " in lines:
        return None
    away = timedelta(hours=int(head[5]), minutes=int(head[6]))
    try:
        at = datetime.fromtimestamp(int(head[3]), timezone(-away if head[4] == b"-" else away))
    except (ValueError, OverflowError, OSError):
        return None
    parents = tuple(line.partition(" ")[2] for line in head[1].decode().splitlines())
    message = body.partition(b"\0")[0].decode("utf-8", "replace").rstrip("\n")
    return Commit(oid, parents, at, message), head[2].decode("utf-8", "replace")


def _parse_commit(entry: str) -> Commit:
    oid, parents, at, message = entry.split("\n", 3)
    return Commit(oid, tuple(parents.split()), datetime.fromisoformat(at), message.rstrip("\n"))


async def tips_below(git: Git, prefix: str) -> tuple[RefTip, ...]:
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
            commit = parsed(oid, one[1]) if one is not None and one[0] == b"commit" else None
            if commit is None:
                return None
            found.append(RefTip(ref, oid, commit[1], commit[0].message.lstrip("\n")))
    return None if refs is None else tuple(found)


def _sorted_refs(git_dir: Path, prefix: str) -> list[tuple[str, str]] | None:
    refs = ref_files.below(git_dir, prefix)
    return None if refs is None else sorted(refs.items(), key=lambda one: one[0].encode("utf-8", "surrogateescape"))
