"""Pull requests in git: the refs that only GitHub writes, and what a moved branch does to them.

The refs are a pull request's head, and the merge that it would be. By a move it gets a new head or an unknown
mergeability, or is closed or merged.
"""

from __future__ import annotations

from dataclasses import replace

from lab.github.repositories import changes, git_objects
from lab.github.repositories.bare import pushed_by
from lab.github.world.pulls import InlineRecord, PullRecord
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
    merge = await git_objects.merge_commit(repository.bare.git, base, pull.head_sha, message, author)
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


_BRANCHES = "refs/heads/"


async def follow(repository: RepositoryRecord, ref: str, new: str | None) -> None:
    """Bring the pull requests of `repository` up to date after `ref` moved to `new` (None: deleted)."""
    if not ref.startswith(_BRANCHES):
        return
    branch, actor = ref.removeprefix(_BRANCHES), pushed_by.get() or repository.facts.owner
    repository.pushed_at = repository.registrar.now()
    for pull in repository.pulls.opened_from(branch):
        await _follow_head(repository, pull, new, actor)
    for pull in repository.pulls.opened_onto(branch):
        if pull.number != repository.merging_number:
            await _follow_base(repository, pull, new, actor)


async def catch_up(repository: RepositoryRecord) -> None:
    """After a restart, apply branch moves that the pull requests missed because the lab was killed in between."""
    for pull in [one for one in repository.pulls.records.values() if repository.issues.require(one.number).open]:
        if pull.fork:
            continue
        ref = f"{_BRANCHES}{pull.head_branch}"
        head = await repository.bare.sha(ref)
        if head != pull.head_sha:
            await follow(repository, ref, head)


async def _follow_head(repository: RepositoryRecord, pull: PullRecord, new: str | None, actor: str) -> None:
    if new is None:
        repository.issues.record(pull.number, "head_ref_deleted", actor)
        repository.issues.close(pull.number, actor)
        await hide_merge(repository, pull.number)
        return
    base = await repository.bare.sha(pull.base_branch) or pull.base_sha
    moved = repository.pulls.move_head(pull.number, new, base, actor)
    _dismiss_stale(repository, moved, actor)
    await show_head(repository, moved)
    remarks = [
        remark
        for remark in repository.pulls.inline.values()
        if remark.number == pull.number and remark.line is not None
    ]
    if remarks:
        await _outdate(repository, moved, remarks)


def _dismiss_stale(repository: RepositoryRecord, pull: PullRecord, actor: str) -> None:
    """Dismiss approvals of an older commit, where the base's protection asks for it."""
    protection = repository.facts.protections.get(pull.base_branch)
    if protection is None or not protection.dismiss_stale:
        return
    for review in repository.pulls.reviews_of(pull.number):
        if review.state == "APPROVED":
            repository.pulls.dismiss(review, actor, "")


async def _follow_base(repository: RepositoryRecord, pull: PullRecord, new: str | None, actor: str) -> None:
    if new is not None and await repository.bare.merge_base(new, pull.head_sha) != pull.head_sha:
        repository.pulls.forget_mergeable(pull.number)
        return
    if new is None:
        repository.issues.close(pull.number, actor)
    else:
        repository.pulls.merge(pull.number, actor, new)
    await hide_merge(repository, pull.number)


async def _outdate(repository: RepositoryRecord, pull: PullRecord, remarks: list[InlineRecord]) -> None:
    """Remove the line of each remark whose line is no longer in the diff, or reads differently."""
    files = await repository.bare.changed_files(pull.base_sha, pull.head_sha)
    patches = {change.path: change.patch for change in files}
    for remark in remarks:
        old = remark.place
        now = changes.place(old.path, patches.get(old.path), line=old.line, side=old.side)
        if now is None or now.text != old.text:
            repository.pulls.inline.change(remark.id, line=None)
        else:
            place = replace(old, position=now.position)
            repository.pulls.inline.change(remark.id, place=place, commit_id=pull.head_sha)
