"""Reading of many objects of a git directory with one command."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from shared.git import failures, names
from shared.git.command import Git
from shared.git.loose_objects import TreeEntry, entries


async def read(git: Git, revisions: Sequence[str]) -> tuple[bytes | None, ...]:
    """Return the content of each file named (`<oid>` or `<oid>:<path>`); None if there is no such file.

    All together at most 16 MiB; raises `TooMuchOutput` above that.
    """
    asked = [revision.encode("utf-8", "surrogateescape") for revision in revisions if _is_askable(revision)]
    if not asked:
        return (None,) * len(revisions)
    settles = names.are_oids(*(revision.partition(":")[0] for revision in revisions))
    finished = await git.objects(asked, contents=True, settles=settles)
    found = dict(zip(asked, _parse_objects(finished.stdout, asked), strict=True))
    each = [found.get(revision.encode("utf-8", "surrogateescape")) for revision in revisions]
    return tuple(one[1] if one is not None and one[0] == b"blob" else None for one in each)


async def existing(git: Git, commit_or_tree: str, paths: Sequence[str]) -> dict[str, bytes]:
    """Return the content of those `paths` that exist in a commit or tree, in their order."""
    found = await read(git, [f"{commit_or_tree}:{path}" for path in paths])
    return {path: content for path, content in zip(paths, found, strict=True) if content is not None}


def _is_askable(revision: str) -> bool:
    """Return whether git can be asked: it ends at a path relative to a work tree, which these never are."""
    return not revision.partition(":")[2].startswith(("./", "../")) and "\0" not in revision


async def whole(git: Git, oids: Sequence[str]) -> list[tuple[bytes, bytes] | None]:
    """Return kind and content of each object, at least one; None for one that is not here. `TooMuchOutput`."""
    asked = [names.oid(oid).encode() for oid in oids]
    return _parse_objects((await git.objects(asked, contents=True, settles=True)).stdout, asked)


def _parse_objects(output: bytes, object_names: Sequence[bytes]) -> list[tuple[bytes, bytes] | None]:
    """Return kind and content of each."""
    found: list[tuple[bytes, bytes] | None] = []
    at = 0
    for name in object_names:
        missing = name + b" missing\n"
        if output.startswith(missing, at):
            found.append(None)
            at += len(missing)
            continue
        start = output.index(b"\n", at) + 1
        _, kind, size = output[at : start - 1].split(b" ")
        found.append((kind, output[start : start + int(size)]))
        at = start + int(size) + 1
    return found


async def sizes(git: Git, oids: Collection[str]) -> dict[str, int]:
    """Return object id -> bytes, for those that exist."""
    if not oids:
        return {}
    finished = await git.objects([oid.encode() for oid in oids], contents=False)
    pairs = (line.split(" ") for line in finished.text.splitlines())
    return {pair[0]: int(pair[2]) for pair in pairs if len(pair) == 3}


async def absent(git: Git, tree: str, paths: Sequence[str]) -> list[str]:
    """Return the paths that a tree does not have, or only as a submodule whose commit is not here."""
    asked = [f"{names.oid(tree)}:{path}".encode("utf-8", "surrogateescape") for path in paths]
    told = (await git.objects(asked, contents=False)).stdout if asked else b""
    missing, at = list[str](), 0
    for path, name in zip(paths, asked, strict=True):
        line = name + b" missing\n"
        if told.startswith(line, at):
            missing.append(path)
            at += len(line)
        else:
            at = told.index(b"\n", at) + 1
    return missing


async def exists(git: Git, ref: str) -> bool:
    """Return whether a full ref leads to any object that is here."""
    return not (await git.objects([names.ref(ref).encode()], contents=False)).stdout.endswith(b" missing\n")


async def peeled(git: Git, revision: str, kind: Literal["commit", "tree"]) -> str | None:
    """Return the commit, or the tree, that a full ref or whole object id leads to; None if there is none."""
    name = f"{names.revision(revision)}^{{{kind}}}".encode("utf-8", "surrogateescape")
    told = (await git.objects([name], contents=False, settles=names.are_oids(revision))).stdout
    return None if told == name + b" missing\n" else told.partition(b" ")[0].decode()


async def tree_of(git: Git, commit: str) -> str:
    """Return the tree of a commit or tree; raises `CommandFailed` if it is not here."""
    found = await peeled(git, commit, "tree")
    return found or (await git.run("rev-parse", "--verify", f"{names.oid(commit)}^{{tree}}")).text


async def tree(git: Git, commit: str) -> tuple[TreeEntry, ...]:
    """Return the lines of a commit's tree, which may name other trees. Raises `CommandFailed`, `TooMuchOutput`."""
    oid = await tree_of(git, commit)
    told = (await git.objects([oid.encode()], contents=True, settles=True)).stdout
    try:
        return entries(told.partition(b"\n")[2][:-1], len(oid) // 2)
    except ValueError as error:
        raise failures.unreadable(oid) from error


async def message(git: Git, oid: str) -> str:
    """Return a commit's whole message, without the newlines at its end."""
    told = (await git.objects([names.oid(oid).encode()], contents=True, settles=True)).stdout
    head, _, content = told.partition(b"\n")
    lines, _, body = content[:-1].partition(b"\n\n")
    if head.split(b" ")[1] != b"commit" or b"\nencoding " in lines:
        return (await git.settled("log", "-1", "--format=%B", oid, "--")).text
    return body.partition(b"\0")[0].decode("utf-8", "replace").rstrip("\n")
