"""Unmet requirements of a protected branch for the merge of a pull request, in GitHub's sentences.

Owners of a file by the repository's CODEOWNERS, as GitHub reads it: the last line that matches counts.
"""

from __future__ import annotations

import re

from lab.github.world.checks import FAILED
from lab.github.world.pulls import PullRecord, ReviewRecord
from lab.github.world.repository import Protection, RepositoryRecord

QUEUE = "Repository rule violations found\n\nChanges must be made through the merge queue"
"""Reason why nothing is merged directly into a branch that has a merge queue."""

_VERDICTS = frozenset({"APPROVED", "CHANGES_REQUESTED", "DISMISSED"})
"""States of a review that supersede its author's earlier ones."""


async def missing(repository: RepositoryRecord, pull: PullRecord) -> str | None:
    """The first requirement that is not met, beside being up to date; None when all are."""
    protection = repository.facts.protections.get(pull.base_branch)
    if protection is None:
        return None
    return _check(repository, pull, protection) or await _review(repository, pull, protection)


async def is_behind(repository: RepositoryRecord, pull: PullRecord) -> bool:
    """Return whether the branch must be up to date and is not; without a required check GitHub does not ask for it."""
    protection = repository.facts.protections.get(pull.base_branch)
    if protection is None or not protection.strict or not protection.checks:
        return False
    base = await repository.bare.sha(f"refs/heads/{pull.base_branch}") or pull.base_sha
    return await repository.bare.merge_base(base, pull.head_sha) != base


def passed(repository: RepositoryRecord, sha: str) -> set[str]:
    """The names of the checks and statuses of a commit that did not fail."""
    checks = {c.name for c in repository.checks.of(sha) if c.status == "completed" and c.conclusion not in FAILED}
    return checks | {status.context for status in repository.checks.statuses_of(sha) if status.state == "success"}


def _check(repository: RepositoryRecord, pull: PullRecord, protection: Protection) -> str | None:
    there = passed(repository, pull.head_sha)
    absent = next((name for name in protection.checks if name not in there), None)
    return None if absent is None else f'Required status check "{absent}" is expected.'


async def _review(repository: RepositoryRecord, pull: PullRecord, protection: Protection) -> str | None:
    verdicts = _verdicts(repository, pull)
    approving = [one for one in verdicts if one.state == "APPROVED"]
    refused = any(one.state == "CHANGES_REQUESTED" for one in verdicts)
    if refused or len(approving) < protection.approvals:
        plural = "s are" if protection.approvals > 1 else " is"
        wanted = max(protection.approvals, 1)
        if protection.approvals or protection.code_owners:
            return f"At least {wanted} approving review{plural} required by reviewers with write access."
    pusher = pull.pushed_by or repository.pulls.thread(pull.number).author
    if protection.last_push and all(one.author == pusher for one in approving):
        return "New changes require approval from someone other than the last pusher."
    if protection.code_owners and (waiting := await _owners(repository, pull, {one.author for one in approving})):
        return f"Waiting on code owner review from {', '.join(waiting)}."
    unresolved = any(not one.resolved for one in repository.pulls.inline_of(pull.number) if one.in_reply_to is None)
    if protection.conversations and unresolved:
        return "A conversation must be resolved before this pull request can be merged."
    return None


def _verdicts(repository: RepositoryRecord, pull: PullRecord) -> list[ReviewRecord]:
    """The newest verdict of each person with write access; nobody's counts on what they opened themselves."""
    author = repository.pulls.thread(pull.number).author
    newest = {
        review.author: review
        for review in repository.pulls.reviews_of(pull.number)
        if review.state in _VERDICTS and review.author != author and repository.facts.reaches(review.author, "write")
    }
    return list(newest.values())


async def _owners(repository: RepositoryRecord, pull: PullRecord, approving: set[str]) -> list[str]:
    """The owners of a changed file none of whose owners approves; empty when every owned file is approved."""
    files = [await repository.bare.read(pull.base_branch, place) for place in PLACES]
    text = next((found.decode() for found in files if found is not None), "")
    for change in await repository.bare.changed_files(pull.base_sha, pull.head_sha):
        owning = owners(text, change.path)
        if owning and not owning & approving:
            return sorted(owning)
    return []


PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Paths of the file on GitHub; the first that exists counts."""


def owners(text: str, path: str) -> frozenset[str]:
    """The logins that own `path`; empty when nobody does."""
    found: frozenset[str] = frozenset()
    for line in text.splitlines():
        pattern, *logins = line.partition("#")[0].split() or [""]
        if pattern and _matches(pattern, path):
            found = frozenset(login.removeprefix("@") for login in logins)
    return found


def _matches(pattern: str, path: str) -> bool:
    """A pattern with a slash before its end is anchored at the root; a directory matches what is below it."""
    anchored = "/" in pattern.rstrip("/")
    body = re.escape(pattern.strip("/")).replace(r"\*\*", ".*").replace(r"\*", "[^/]*")
    below = r"/.*" if pattern.endswith("/") else r"(/.*)?"
    return re.fullmatch(("" if anchored else "(.*/)?") + body + below, path) is not None
