"""The merge queue: pull requests enter it in their order, and are merged or taken out when the site works on it."""

from __future__ import annotations

from lab.github.http.refusals import Refusal
from lab.github.merge_button import MergeOrder, complete, mergeable
from lab.github.merge_requirements import missing
from lab.github.world.accounts import AccountRecord
from lab.github.world.pulls import PullRecord
from lab.github.world.repository import RepositoryRecord


async def enter(repository: RepositoryRecord, pull: PullRecord, head: str | None, actor: AccountRecord) -> None:
    """Put it in; raises 422 with GitHub's sentence."""
    protection = repository.facts.protections.get(pull.base_branch)
    if protection is None or not protection.merge_queue:
        raise Refusal(422, "Merge queue is not enabled on this branch")
    if pull.queued_at is not None:
        raise Refusal(422, "Pull request is already in the queue")
    if head not in {None, pull.head_sha}:
        raise Refusal(422, "Head branch was modified. Review and try the merge again.")
    if not repository.pulls.thread(pull.number).open or not await mergeable(repository, pull):
        raise Refusal(422, "Pull request is not mergeable")
    if (wanted := await missing(repository, pull)) is not None:
        raise Refusal(422, wanted)
    repository.issues.record(pull.number, "added_to_merge_queue", actor.login)
    repository.pulls.records.change(pull.number, queued_at=repository.registrar.now())


def take_out(repository: RepositoryRecord, number: int, actor: AccountRecord, reason: str) -> None:
    """Its merge group has failed, or somebody has changed their mind."""
    detail = {"reason": reason, "by": "Bot" if actor.bot else "User"}
    repository.issues.record(number, "removed_from_merge_queue", actor.login, detail)
    repository.pulls.records.change(number, queued_at=None)


async def work(repository: RepositoryRecord, actor: AccountRecord) -> list[int]:
    """Merge what waits, first come first; what does not merge any more is taken out. Returns what was merged."""
    merged: list[int] = []
    queue = [pull for pull in repository.pulls.records.values() if pull.queued_at is not None and not pull.merged_at]
    for queued in sorted(queue, key=lambda pull: (pull.queued_at or 0, pull.number)):
        async with repository.merging:
            pull = repository.pulls.require(queued.number)
            if not await mergeable(repository, pull):
                take_out(repository, pull.number, actor, "merge_conflict")
                continue
            await complete(repository, pull, MergeOrder(method="squash"), actor)
            repository.pulls.records.change(pull.number, queued_at=None)
            merged.append(pull.number)
    return merged
