"""Comments in the threads of issues and pull requests."""

from __future__ import annotations

from lab.github.http.call import THREADS, ApiCall, Operations, Reply, created
from lab.github.http.refusals import Refusal, no_rights
from lab.github.wire import threads as wire
from lab.github.world.comments import CommentRecord

routes = Operations()


@routes.get("/issues/comments", *THREADS)
async def list_repository_comments(call: ApiCall) -> Reply:
    """All comments; by ascending id unless `sort` is given, and only then `direction` counts."""
    since = call.since("IssueComment")
    found = call.repository.comments.records.seen(call.stale, lambda c: c.updated_at >= since)
    call.sort("IssueComment", found)
    return call.list(wire.comment, found)


@routes.get("/issues/comments/{comment_id}", *THREADS)
async def get_comment(call: ApiCall) -> Reply:
    """One comment."""
    return Reply(body=call.show(wire.comment, call.repository.comments.require(call.number("comment_id"))))


@routes.write("PATCH", "/issues/comments/{comment_id}", *THREADS, role="read")
async def edit_comment(call: ApiCall) -> Reply:
    """Replace a comment's body."""
    edited = call.repository.comments.edit(_require_own(call).id, call.text("IssueComment", "body"))
    return Reply(body=call.show(wire.comment, edited))


@routes.write("DELETE", "/issues/comments/{comment_id}", *THREADS, role="read")
async def delete_comment(call: ApiCall) -> Reply:
    """Take a comment away."""
    call.repository.comments.delete(_require_own(call).id)
    return Reply(204)


@routes.get("/issues/{issue_number}/comments", *THREADS)
async def list_comments(call: ApiCall) -> Reply:
    """The comments of a thread, always by ascending id."""
    number, since = call.issue().number, call.since("IssueComment")
    records = call.repository.comments.records
    found = records.seen(call.stale, lambda c: c.number == number and c.updated_at >= since)
    return call.list(wire.comment, found)


@routes.write("POST", "/issues/{issue_number}/comments", *THREADS, role="read", creates=True)
async def create_comment(call: ApiCall) -> Reply:
    """A new comment; in a locked thread only those with write access may."""
    issue = call.issue()
    if issue.locked and not call.trusted:
        raise Refusal(403, "Unable to create comment because issue is locked.")
    comment = call.repository.comments.add(issue.number, call.login, call.text("IssueComment", "body"))
    return created(call.show(wire.comment, comment))


@routes.write("POST", "/issues/comments/{comment_id}/reactions", *THREADS, role="read")
async def create_reaction(call: ApiCall) -> Reply:
    """React to a comment: 201, or 200 when the caller had done so already."""
    comment, content = call.repository.comments.require(call.number("comment_id")), call.text("Reaction", "content")
    if call.repository.issues.require(comment.number).locked and not call.trusted:
        raise Refusal(403, "Unable to create reaction because issue is locked.")
    reaction, new = call.repository.comments.react(comment.id, call.login, content)
    return Reply(201 if new else 200, wire.reaction(call.site, reaction))


def _require_own(call: ApiCall) -> CommentRecord:
    """The comment, if the caller wrote it or has write access."""
    comment = call.repository.comments.require(call.number("comment_id"))
    if comment.author != call.login and not call.trusted:
        raise no_rights()
    return comment
