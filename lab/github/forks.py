"""Pull requests from forks: their commits are in the repository's git, as GitHub keeps them, and in no branch of it."""

from __future__ import annotations

from collections.abc import Mapping

from lab.github.repositories.pull_refs import show_head
from lab.github.world.pulls import PullRecord
from lab.github.world.repository import RepositoryRecord

BRANCH = "patch-1"
"""What GitHub calls the branch of somebody who edits a file on its pages."""


async def opened(
    repository: RepositoryRecord,
    author: str,
    files: Mapping[str, str],
    text: tuple[str, str],
    *,
    branch: str = BRANCH,
    draft: bool = False,
) -> PullRecord:
    """`author` proposes `files` from their fork, made of the default branch as it is; `text` is title and body."""
    base = repository.facts.default_branch
    tip = await repository.bare.sha(f"refs/heads/{base}")
    if tip is None:
        raise KeyError(base)
    head = await _committed(repository, author, tip, files)
    thread = repository.issues.open(author, *text, is_pull=True)
    fork = f"{author}/{repository.facts.name}"
    pull = repository.pulls.open(thread, (branch, head), (base, tip), draft=draft, fork=fork)
    await show_head(repository, pull)
    return pull


async def pushed(repository: RepositoryRecord, number: int, files: Mapping[str, str]) -> PullRecord:
    """Its author pushes one more commit to the fork."""
    pull = repository.pulls.require(number)
    head = await _committed(repository, pull.fork.partition("/")[0], pull.head_sha, files)
    base = await repository.bare.sha(f"refs/heads/{pull.base_branch}") or pull.base_sha
    moved = repository.pulls.move_head(number, head, base)
    await show_head(repository, moved)
    return moved


async def _committed(repository: RepositoryRecord, author: str, onto: str, files: Mapping[str, str]) -> str:
    """A commit on `onto` that only its id names from now on: until the pull request's own ref is there."""
    ref = f"refs/forks/{author}"
    who = f"{author} <{author}@users.noreply.github.com> now"
    head = f"commit {ref}\ncommitter {who}\ndata 7\nPropose\nfrom {onto}\n"
    parts = [f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n" for path, text in files.items()]
    git = repository.bare.git
    stream = "".join([head, *parts]).encode()
    await git.check("fast-import", "--quiet", "--force", "--date-format=now", stdin=stream)
    sha = (await git.check("rev-parse", ref)).text
    await git.check("update-ref", "-d", ref)
    return sha
