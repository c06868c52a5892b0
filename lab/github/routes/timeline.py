"""What happened in a thread: its events, and everything in one list."""

from __future__ import annotations

from lab.github.http.call import Call, Operations, Reply
from lab.github.merge_button import COMMITS_READ
from lab.github.wire import events, timeline

routes = Operations()

THREADS = ("issues", "pull_requests")


@routes.get("/issues/{issue_number}/events", *THREADS)
async def list_events(call: Call) -> Reply:
    """What happened to the thread, oldest first."""
    number = call.repository.issues.require(call.number("issue_number")).number
    found = [event for event in call.repository.issues.events if event.number == number]
    return call.page(found, lambda event: events.event(call.site, call.repository, event))


@routes.get("/issues/{issue_number}/timeline", *THREADS)
async def list_timeline(call: Call) -> Reply:
    """Events, comments, reviews, mentions and commits, oldest first."""
    issue = call.repository.issues.require(call.number("issue_number"))
    pull = call.repository.pulls.records.get(issue.number)
    pushed = [] if pull is None else await call.repository.bare.log(pull.base_sha, pull.head_sha, COMMITS_READ)
    shown = timeline.timeline(call.site, call.repository, issue, pushed[::-1], call.login)
    return call.page(shown, lambda moment: moment)
