"""The history of a thread: its events, and events, comments, reviews and commits in one list, as GitHub's JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lab.github.http.call import THREADS, ApiCall, Operations, Reply
from lab.github.merge_button import COMMITS_READ
from lab.github.repositories.changes import CommitInfo
from lab.github.wire import commits, pulls, threads
from lab.github.wire.site import Json, ServedRoot, stamp
from lab.github.world.issues import IssueRecord
from lab.github.world.repository import RepositoryRecord

routes = Operations()


@routes.get("/issues/{issue_number}/events", *THREADS)
async def list_events(call: ApiCall) -> Reply:
    """List the events of the thread, oldest first."""
    number = call.issue().number
    found = [event for event in call.repository.issues.events if event.number == number]
    return call.list(threads.event, found)


@routes.get("/issues/{issue_number}/timeline", *THREADS)
async def list_timeline(call: ApiCall) -> Reply:
    """Events, comments, reviews, mentions and commits, oldest first."""
    issue = call.issue()
    pull = call.repository.pulls.records.get(issue.number)
    pushed = [] if pull is None else await call.repository.bare.log(pull.base_sha, pull.head_sha, COMMITS_READ)
    shown = timeline(call.site, call.repository, issue, pushed[::-1], call.login)
    return call.page(shown, lambda moment: moment)


class Moment(NamedTuple):
    """One entry; entries of the same second are in the order of their ids."""

    at: int
    id: int
    shown: Json


def timeline(
    site: ServedRoot, repository: RepositoryRecord, issue: IssueRecord, pushed: Sequence[CommitInfo], viewer: str
) -> list[Json]:
    """Commits (oldest first), comments, reviews, mentions and events of a thread, by time."""
    moments = [
        *_events(site, repository, issue),
        *_comments(site, repository, issue),
        *_reviews(site, repository, issue, viewer),
        *_mentions(site, repository, issue),
        *_commits(site, repository, pushed),
    ]
    return [moment.shown for moment in sorted(moments, key=lambda moment: moment[:2])]


def _events(site: ServedRoot, repository: RepositoryRecord, issue: IssueRecord) -> Iterator[Moment]:
    for record in repository.issues.events:
        if record.number == issue.number:
            yield Moment(record.at, record.id, threads.event(site, repository, record))


def _comments(site: ServedRoot, repository: RepositoryRecord, issue: IssueRecord) -> Iterator[Moment]:
    for record in repository.comments.of(issue.number):
        user = site.actor(record.author)
        shown = threads.comment(site, repository, record)
        yield Moment(record.created_at, record.id, {**shown, "event": "commented", "actor": user, "user": user})


def _reviews(site: ServedRoot, repository: RepositoryRecord, issue: IssueRecord, viewer: str) -> Iterator[Moment]:
    for record in repository.pulls.reviews_of(issue.number, viewer):
        shown = {**pulls.review(site, repository, record), "event": "reviewed", "user": site.actor(record.author)}
        yield Moment(record.submitted_at, record.id, {**shown, "state": record.state.lower()})


def _mentions(site: ServedRoot, repository: RepositoryRecord, issue: IssueRecord) -> Iterator[Moment]:
    """Other threads whose text names this one."""
    name = re.compile(rf"(?<![\w/])#{issue.number}\b")
    for other in repository.issues.records.values():
        if other.number != issue.number and name.search(other.body or ""):
            shown = {
                "event": "cross-referenced",
                "actor": site.actor(other.author),
                "created_at": stamp(other.created_at),
                "updated_at": stamp(other.created_at),
                "source": {"type": "issue", "issue": threads.issue(site, repository, other)},
            }
            yield Moment(other.created_at, other.id, shown)


def _commits(site: ServedRoot, repository: RepositoryRecord, pushed: Sequence[CommitInfo]) -> Iterator[Moment]:
    for order, info in enumerate(pushed):
        shown = {**commits.git_commit(site, repository, info), "event": "committed"}
        yield Moment(int(info.committer.date.timestamp()), order, shown)
