"""Reading many objects of a git directory with one command."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shared.git.command import Git


async def read(git: Git, revisions: Sequence[str]) -> tuple[bytes | None, ...]:
    """The content of each file named (`<oid>` or `<oid>:<path>`); None when there is no such file.

    All together at most 16 MiB; raises `TooMuchOutput` above that.
    """
    asked = [revision.encode("utf-8", "surrogateescape") for revision in revisions if _askable(revision)]
    if not asked:
        return (None,) * len(revisions)
    finished = await git.run("cat-file", "--batch", "-z", stdin=b"".join(name + b"\0" for name in asked))
    found = dict(zip(asked, _contents(finished.stdout, asked), strict=True))
    return tuple(found.get(revision.encode("utf-8", "surrogateescape")) for revision in revisions)


def _askable(revision: str) -> bool:
    """git ends at a path that is relative to a work tree, which these never are."""
    return not revision.partition(":")[2].startswith(("./", "../")) and "\0" not in revision


def _contents(output: bytes, asked: Sequence[bytes]) -> list[bytes | None]:
    found: list[bytes | None] = []
    at = 0
    for name in asked:
        missing = name + b" missing\n"
        if output.startswith(missing, at):
            found.append(None)
            at += len(missing)
            continue
        start = output.index(b"\n", at) + 1
        _, kind, size = output[at : start - 1].split(b" ")
        found.append(output[start : start + int(size)] if kind == b"blob" else None)
        at = start + int(size) + 1
    return found


async def sizes(git: Git, oids: Collection[str]) -> dict[str, int]:
    """Object id -> bytes, for those that exist."""
    if not oids:
        return {}
    asked = "".join(f"{oid}\n" for oid in oids).encode()
    finished = await git.run("cat-file", "--batch-check=%(objectname) %(objectsize)", stdin=asked)
    pairs = (line.split(" ") for line in finished.text.splitlines())
    return {oid: int(size) for oid, size in pairs if size != "missing"}
