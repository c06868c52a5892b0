"""Merging a pull request: GitHub's conditions, the merge itself, and the issues it closes.

Of a branch with a merge queue: pull requests enter it in their order, and are merged or taken out when the site works
on it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lab.github.http.refusals import Refusal
from lab.github.merge_requirements import QUEUE, is_behind, missing, passed
from lab.github.repositories import git_objects
from lab.github.repositories.pull_refs import hide_merge, try_merge
from lab.github.world.accounts import AccountRecord
from lab.github.world.pulls import PullRecord
from lab.github.world.repository import RepositoryRecord

_CLOSES = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s+(?P<repository>[\w.-]+/[\w.-]+)?#(?P<number>\d+)\b",
    re.IGNORECASE,
)

HEAD_MOVED = "expected head sha didn’t match current head ref."
"""Reason why a head branch is not updated."""

COMMITS_READ = 250
"""Commits of a pull request that are read, as on GitHub."""


_METHODS = {"merge": "Merge commits", "squash": "Squash merges", "rebase": "Rebase merges"}


@dataclass(frozen=True, slots=True)
class MergeOrder:
    """Order of the caller of the merge operation; None leaves it to GitHub."""

    method: str = "merge"
    sha: str | None = None
    title: str | None = None
    message: str | None = None


async def press(repository: RepositoryRecord, number: int, order: MergeOrder, actor: AccountRecord) -> str:
    """Merge and return the new commit; raises 405 or 409 with GitHub's sentence."""
    async with repository.merging:
        pull = repository.pulls.require(number)
        await _permit(repository, pull, order)
        if not await mergeable(repository, pull):
            raise Refusal(405, "Pull Request is not mergeable")
        return await complete(repository, pull, order, actor)


async def complete(repository: RepositoryRecord, pull: PullRecord, order: MergeOrder, actor: AccountRecord) -> str:
    """Merge what may be merged, while `repository.merging` is held; return the new commit."""
    repository.merging_number = pull.number
    try:
        sha = await _merge(repository, pull, order, actor)
    finally:
        repository.merging_number = 0
    repository.pulls.merge(pull.number, actor.login, sha)
    if pull.base_branch == repository.facts.default_branch:
        _close_issues(repository, pull, actor.login, sha)
    await hide_merge(repository, pull.number)
    return sha


async def bring_up_to_date(repository: RepositoryRecord, pull: PullRecord, actor: AccountRecord) -> None:
    """Merge the base into the head branch; raises 422 with GitHub's sentence when that cannot be."""
    bare = repository.bare
    base = await bare.sha(f"refs/heads/{pull.base_branch}") or pull.base_sha
    if await bare.merge_base(base, pull.head_sha) == base:
        raise Refusal(422, "There are no new commits on the base branch.")
    message = f"Merge branch '{pull.base_branch}' into {pull.head_branch}"
    new = await git_objects.merge_commit(bare.git, pull.head_sha, base, message, _author(actor))
    if new is None:
        raise Refusal(422, "merge conflict between base and head")
    if not await bare.update_ref(f"refs/heads/{pull.head_branch}", new, expected=pull.head_sha):
        raise Refusal(422, HEAD_MOVED)


async def mergeable(repository: RepositoryRecord, pull: PullRecord) -> bool:
    """Return whether head merges into base now; remembered until either moves."""
    return await try_merge(repository, pull) if pull.mergeable is None else pull.mergeable


async def state(repository: RepositoryRecord, pull: PullRecord) -> str:
    """GitHub's `mergeable_state`."""
    if pull.mergeable is None:
        return "unknown"
    if pull.draft:
        return "draft"
    if not pull.mergeable:
        return "dirty"
    if await missing(repository, pull) is not None:
        return "blocked"
    if await is_behind(repository, pull):
        return "behind"
    return "clean" if _checks_passed(repository, pull.head_sha) else "unstable"


def closing_numbers(text: str, full_name: str) -> list[int]:
    """The issues of this repository that a text promises to close (`Closes #12`)."""
    mentions = _CLOSES.finditer(text)
    return [int(found["number"]) for found in mentions if (found["repository"] or full_name) == full_name]


async def _permit(repository: RepositoryRecord, pull: PullRecord, order: MergeOrder) -> None:
    if not repository.pulls.thread(pull.number).open:
        raise Refusal(405, "Pull Request is not mergeable")
    if pull.draft:
        raise Refusal(405, "Pull Request is still a draft")
    if order.method not in repository.facts.merge_methods:
        raise Refusal(405, f"{_METHODS[order.method]} are not allowed on this repository.")
    if order.sha is not None and order.sha != pull.head_sha:
        raise Refusal(409, "Head branch was modified. Review and try the merge again.")
    protection = repository.facts.protections.get(pull.base_branch)
    if protection is not None and protection.merge_queue:
        raise Refusal(405, QUEUE)
    if (wanted := await missing(repository, pull)) is not None:
        raise Refusal(405, wanted)
    if protection is not None and await is_behind(repository, pull):
        count = len(protection.checks)
        raise Refusal(405, f"{count} of {count} required status checks are expected.")


def _checks_passed(repository: RepositoryRecord, sha: str) -> bool:
    names = {check.name for check in repository.checks.of(sha)}
    names |= {status.context for status in repository.checks.statuses_of(sha)}
    return names <= passed(repository, sha)


async def _merge(repository: RepositoryRecord, pull: PullRecord, order: MergeOrder, actor: AccountRecord) -> str:
    thread, owner = repository.pulls.thread(pull.number), repository.facts.owner
    if order.method == "merge":
        title, message = f"Merge pull request #{pull.number} from {owner}/{pull.head_branch}", thread.title
    else:
        title, message = f"{thread.title} (#{pull.number})", ""
    sha = await repository.bare.merge(
        pull.base_branch,
        pull.head_sha,
        method=order.method,
        title=title if order.title is None else order.title,
        message=message if order.message is None else order.message,
        author=_author(actor),
    )
    if sha is None:
        raise Refusal(405, "Pull Request is not mergeable")
    return sha


def _close_issues(repository: RepositoryRecord, pull: PullRecord, actor: str, sha: str) -> None:
    body = repository.pulls.thread(pull.number).body or ""
    for number in closing_numbers(body, repository.full_name):
        issue = repository.issues.records.get(number)
        if issue is not None and issue.open and not issue.is_pull:
            repository.issues.close(number, actor, commit=sha)


def _author(actor: AccountRecord) -> tuple[str, str]:
    return actor.login, f"{actor.id}+{actor.login}@users.noreply.github.com"


async def enter_queue(repository: RepositoryRecord, pull: PullRecord, head: str | None, actor: AccountRecord) -> None:
    """Put a pull request into the merge queue; raises 422 with GitHub's sentence."""
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


def take_out_of_queue(repository: RepositoryRecord, number: int, actor: AccountRecord, reason: str) -> None:
    """Its merge group has failed, or somebody has changed their mind."""
    detail = {"reason": reason, "by": "Bot" if actor.bot else "User"}
    repository.issues.record(number, "removed_from_merge_queue", actor.login, detail)
    repository.pulls.records.change(number, queued_at=None)


async def work_on_queue(repository: RepositoryRecord, actor: AccountRecord) -> list[int]:
    """Merge what waits, first come first; what does not merge any more is taken out. Returns what was merged."""
    merged: list[int] = []
    queue = [pull for pull in repository.pulls.records.values() if pull.queued_at is not None and not pull.merged_at]
    for queued in sorted(queue, key=lambda pull: (pull.queued_at or 0, pull.number)):
        async with repository.merging:
            pull = repository.pulls.require(queued.number)
            if not await mergeable(repository, pull):
                take_out_of_queue(repository, pull.number, actor, "merge_conflict")
                continue
            await complete(repository, pull, MergeOrder(method="squash"), actor)
            repository.pulls.records.change(pull.number, queued_at=None)
            merged.append(pull.number)
    return merged
