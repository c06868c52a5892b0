"""Every place to which something of a story goes, as names and bytes: GitHub, git, this machine, other people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from lab.github.http.exchanges import Exchange
from lab.github.world.repository import RepositoryRecord

Places = Mapping[str, bytes]


def of_threads(repository: RepositoryRecord) -> Places:
    """Return the texts that people read on GitHub: issues, comments, reviews, labels, and events."""
    issues, pulls = repository.issues, repository.pulls
    found: dict[str, object] = {f"issue {one.number}": one for one in issues.records.values()}
    found |= {f"comment {one.id}": one for one in repository.comments.records.values()}
    found |= {f"pull request {one.number}": one for one in pulls.records.values()}
    found |= {f"review {one.id}": one for one in pulls.reviews.values()}
    found |= {f"review comment {one.id}": one for one in pulls.inline.values()}
    found |= {f"check {one.id}": one for one in repository.checks.checks.values()}
    found |= {f"event {one.id}": one for one in issues.events}
    return {name: str(asdict(one)).encode() for name, one in found.items()}  # type: ignore[call-overload]


async def of_git(repository: RepositoryRecord) -> Places:
    """Return the content of git: the names of refs, and every object: commits, trees, files, notes."""
    git = repository.bare.git
    refs = await git.run("for-each-ref", "--format=%(refname) %(objectname)")
    objects = await git.run("cat-file", "--batch-all-objects", "--batch", "--unordered")
    return {"git refs": refs.stdout, "git objects": objects.stdout}


def of_requests(exchanges: Iterable[Exchange]) -> Places:
    """Return address and body of the requests to GitHub, without the header whose place is to carry the token."""
    return {
        f"request {number}": f"{one.method} {one.path}?{one.query}\n".encode() + one.request_body
        for number, one in enumerate(exchanges)
    }


def of_files(root: Path, kind: str = "file") -> Places:
    """Return every file below a directory, with its name; none if there is no such directory."""
    return {f"{kind} {path.relative_to(root)}": path.name.encode() + b"\n" + _content(path) for path in _files(root)}


def _files(root: Path) -> Iterator[Path]:
    return (path for path in sorted(root.rglob("*")) if path.is_symlink() or path.is_file())


def _content(path: Path) -> bytes:
    return bytes(path.readlink()) if path.is_symlink() else path.read_bytes()
