"""Effects of a moved branch on pull requests: new heads, unknown mergeability, closed, merged."""

from __future__ import annotations

from dataclasses import replace

from lab.github.repositories import diff_lines
from lab.github.repositories.bare import pushed_by
from lab.github.repositories.pull_refs import hide_merge, show_head
from lab.github.world.pulls import InlineRecord, PullRecord
from lab.github.world.repository import RepositoryRecord

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
        now = diff_lines.place(old.path, patches.get(old.path), line=old.line, side=old.side)
        if now is None or now.text != old.text:
            repository.pulls.inline.change(remark.id, line=None)
        else:
            place = replace(old, position=now.position)
            repository.pulls.inline.change(remark.id, place=place, commit_id=pull.head_sha)
