"""What happens in a repository as GitHub's webhook events: their names, actions and payloads.

https://docs.github.com/en/webhooks/webhook-events-and-payloads
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lab.github.wire import checks, pulls, repositories, threads
from lab.github.wire.site import Json, Site
from lab.github.world.checks import CheckRecord, StatusRecord
from lab.github.world.comments import CommentRecord
from lab.github.world.issues import EventRecord
from lab.github.world.pulls import PullRecord, ReviewRecord
from lab.github.world.repository import RepositoryRecord

_SAME = ("labeled", "unlabeled", "closed", "reopened", "assigned", "unassigned", "locked", "review_requested")
_ACTIONS = {
    **{name: name for name in _SAME},
    "renamed": "edited",
    "convert_to_draft": "converted_to_draft",
    "ready_for_review": "ready_for_review",
}
"""From an event of a thread to the action of a webhook; other events of threads have none."""

NOBODY = "0" * 40
"""Stands in a push for the commit of a branch that is not there."""


@dataclass(frozen=True, slots=True)
class Happening:
    """One event; `content` words what it is about when it is sent: then the change that it tells of is complete."""

    event: str
    action: str
    sender: str
    content: Callable[[Site], Json]

    def payload(self, site: Site, repository: RepositoryRecord) -> Json:
        """What is sent."""
        action = {"action": self.action} if self.action else {}
        common = {"repository": repositories.repository(site, repository), "sender": site.actor(self.sender)}
        return {**action, **self.content(site), **common}


def of_thread(repository: RepositoryRecord, told: EventRecord) -> Happening | None:
    """What became of an issue or a pull request."""
    action, thread = _ACTIONS.get(told.event), repository.issues.records.get(told.number)
    if action is None or thread is None:
        return None
    name = "pull_request" if thread.is_pull else "issues"
    return Happening(name, action, told.actor, lambda site: _thread(site, repository, told.number))


def of_new_thread(repository: RepositoryRecord, number: int) -> Happening:
    """An issue or a pull request was opened."""
    thread = repository.issues.require(number)
    name = "pull_request" if thread.is_pull else "issues"
    return Happening(name, "opened", thread.author, lambda site: _thread(site, repository, number))


def of_comment(repository: RepositoryRecord, record: CommentRecord, *, new: bool) -> Happening:
    """A comment was written or edited."""

    def content(site: Site) -> Json:
        thread = repository.issues.require(record.number)
        comment = threads.comment(site, repository, record)
        return {"issue": threads.issue(site, repository, thread), "comment": comment}

    return Happening("issue_comment", "created" if new else "edited", record.author, content)


def of_review(repository: RepositoryRecord, record: ReviewRecord) -> Happening | None:
    """A review was submitted or dismissed; one that is still being written is nobody's business."""
    if record.state == "PENDING":
        return None

    def content(site: Site) -> Json:
        pull = repository.pulls.require(record.number)
        shown = {**pulls.review(site, repository, record), "state": record.state.lower()}
        return {"review": shown, "pull_request": pulls.simple(site, repository, pull)}

    action = "dismissed" if record.state == "DISMISSED" else "submitted"
    return Happening("pull_request_review", action, record.author, content)


def of_check(repository: RepositoryRecord, record: CheckRecord, *, new: bool) -> Happening | None:
    """A check run began or ended."""
    if not new and record.status != "completed":
        return None
    action = "completed" if record.status == "completed" else "created"
    sender = f"{record.app}[bot]"
    return Happening(
        "check_run", action, sender, lambda site: {"check_run": checks.check_run(site, repository, record)}
    )


def of_status(repository: RepositoryRecord, record: StatusRecord) -> Happening:
    """A commit status was set."""

    def content(site: Site) -> Json:
        shown = checks.short_status(site, repository, record)
        return {"sha": record.sha, "name": repository.full_name, "branches": [], "commit": {"sha": record.sha}, **shown}

    return Happening("status", "", record.creator, content)


def of_push(repository: RepositoryRecord, change: tuple[str, str | None, str | None], pusher: str) -> Happening:
    """A branch moved; `change` is its full ref, its old and its new commit."""
    ref, old, new = change
    sides = {"ref": ref, "before": old or NOBODY, "after": new or NOBODY}
    states = {"created": old is None, "deleted": new is None, "forced": False, "base_ref": None}
    person = {"name": pusher, "email": None}

    def content(site: Site) -> Json:
        compare = f"{site.html(repository)}/compare/{sides['before'][:12]}...{sides['after'][:12]}"
        return {**sides, **states, "pusher": person, "compare": compare, "commits": [], "head_commit": None}

    return Happening("push", "", pusher, content)


def _thread(site: Site, repository: RepositoryRecord, number: int) -> Json:
    pull: PullRecord | None = repository.pulls.records.get(number)
    if pull is not None:
        return {"number": number, "pull_request": pulls.simple(site, repository, pull)}
    return {"issue": threads.issue(site, repository, repository.issues.require(number))}
