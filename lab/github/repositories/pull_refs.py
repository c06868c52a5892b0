"""The refs of a pull request that only GitHub writes: its head, and the merge that it would be."""

from __future__ import annotations

from lab.github.repositories import merging
from lab.github.world.pulls import PullRecord
from lab.github.world.repository import RepositoryRecord


async def show_head(repository: RepositoryRecord, pull: PullRecord) -> None:
    """Keep the pull request's head as a ref that whoever clones can fetch: `refs/pull/N/head`."""
    await repository.bare.update_ref(f"refs/pull/{pull.number}/head", pull.head_sha)


async def try_merge(repository: RepositoryRecord, pull: PullRecord) -> bool:
    """Return whether head merges into base now; an open pull request gets that merge as `refs/pull/N/merge`.

    The result is remembered until either moves. A conflicting one has no such ref.
    """
    base = await repository.bare.sha(f"refs/heads/{pull.base_branch}")
    if base is None:
        return False
    thread = repository.pulls.thread(pull.number)
    if not thread.open:
        merges = await repository.bare.mergeable(base, pull.head_sha)
        repository.pulls.records.change(pull.number, mergeable=merges)
        return merges
    author = thread.author, f"{thread.author}@users.noreply.github.com"
    message = f"Merge {pull.head_sha} into {base}"
    merge = await merging.merge_commit(repository.bare.git, base, pull.head_sha, message, author)
    await _remember(repository, pull, base, merge)
    return merge is not None


async def hide_merge(repository: RepositoryRecord, number: int) -> None:
    """Delete `refs/pull/N/merge` of a pull request that is closed or merged."""
    await repository.bare.update_ref(merge_ref(number), None)


def merge_ref(number: int) -> str:
    """The ref of the merge that a pull request would be."""
    return f"refs/pull/{number}/merge"


async def _remember(repository: RepositoryRecord, pull: PullRecord, base: str, merge: str | None) -> None:
    """Keep the result, in git and in the world alike, unless head or base have moved since."""
    bare, ref = repository.bare, merge_ref(pull.number)
    same = f"verify refs/heads/{pull.base_branch} {base}\n"
    change = f"delete {ref}\n" if merge is None else f"update {ref} {merge}\n"
    async with bare.changing():
        now = repository.pulls.require(pull.number)
        as_seen = (now.head_sha, now.base_branch) == (pull.head_sha, pull.base_branch)
        if not as_seen or not repository.pulls.thread(pull.number).open:
            return
        if (await bare.git.run("update-ref", "--stdin", stdin=(same + change).encode())).code == 0:
            repository.pulls.records.change(pull.number, mergeable=merge is not None, test_merge_sha=merge)
