"""The history of a thread: its events, and events, comments, reviews and commits in one list, as GitHub's JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lab.github.http.call import THREADS, ApiCall, Operations, Reply
from lab.github.merge_button import COMMITS_READ
from lab.github.repositories.changes import CommitInfo
from lab.github.wire import commits, pulls, threads
from lab.github.wire.site import Json, stamp
from lab.github.world.issues import IssueRecord

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
    moments = [
        *_events(call, issue),
        *_comments(call, issue),
        *_reviews(call, issue),
        *_mentions(call, issue),
        *_commits(call, pushed[::-1]),
    ]
    return call.page(sorted(moments, key=lambda moment: moment[:2]), lambda moment: moment.shown)


class Moment(NamedTuple):
    """One entry; entries of the same second are in the order of their ids."""

    at: int
    id: int
    shown: Json


def _events(call: ApiCall, issue: IssueRecord) -> Iterator[Moment]:
    for record in call.repository.issues.events:
        if record.number == issue.number:
            yield Moment(record.at, record.id, call.show(threads.event, record))


def _comments(call: ApiCall, issue: IssueRecord) -> Iterator[Moment]:
    for record in call.repository.comments.of(issue.number):
        user = call.site.actor(record.author)
        shown = {**call.show(threads.comment, record), "event": "commented", "actor": user, "user": user}
        yield Moment(record.created_at, record.id, shown)


def _reviews(call: ApiCall, issue: IssueRecord) -> Iterator[Moment]:
    for record in call.repository.pulls.reviews_of(issue.number, call.login):
        shown = {**call.show(pulls.review, record), "event": "reviewed", "user": call.site.actor(record.author)}
        yield Moment(record.submitted_at, record.id, {**shown, "state": record.state.lower()})


def _mentions(call: ApiCall, issue: IssueRecord) -> Iterator[Moment]:
    """Other threads whose text names this one."""
    name = re.compile(rf"(?<![\w/])#{issue.number}\b")
    for other in call.repository.issues.records.values():
        if other.number != issue.number and name.search(other.body or ""):
            shown = {
                "event": "cross-referenced",
                "actor": call.site.actor(other.author),
                "created_at": stamp(other.created_at),
                "updated_at": stamp(other.created_at),
                "source": {"type": "issue", "issue": call.show(threads.issue, other)},
            }
            yield Moment(other.created_at, other.id, shown)


def _commits(call: ApiCall, pushed: Sequence[CommitInfo]) -> Iterator[Moment]:
    for order, info in enumerate(pushed):
        shown = {**call.show(commits.git_commit, info), "event": "committed"}
        yield Moment(int(info.committer.date.timestamp()), order, shown)
