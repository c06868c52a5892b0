"""Inline comments on the diffs of pull requests, and the answers to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab.github.http.call import ApiCall, Operations, Reply, created
from lab.github.http.refusals import Refusal, custom, invalid, not_found, unprocessable
from lab.github.repositories import changes
from lab.github.wire import pulls as wire
from lab.github.world.issues import MAX_BODY, check_body
from lab.github.world.pulls import DiffPlace, InlineRecord, PullRecord

routes = Operations()

RESOURCE = "PullRequestReviewComment"

SIDES = ("RIGHT", "LEFT")

Patches = Mapping[str, str | None]
"""Path of a changed file -> its patch; None for a binary file."""


@routes.get("/pulls/{pull_number}/comments", "pull_requests")
async def list_inline_comments(call: ApiCall) -> Reply:
    """All inline comments of a pull request; by ascending id unless `sort` is given."""
    since, pulls = call.since(RESOURCE), call.repository.pulls
    found = [one for one in pulls.inline_of(call.pull().number, call.login) if one.updated_at >= since]
    call.sort(RESOURCE, found)
    return call.list(wire.inline, found)


@routes.write("POST", "/pulls/{pull_number}/comments", "pull_requests", role="read", creates=True)
async def create_inline_comment(call: ApiCall) -> Reply:
    """One inline comment on a line or a whole file, at once and as a review of its own; or an answer."""
    pull, body = call.pull(), _text(call)
    answered = call.integer(RESOURCE, "in_reply_to")
    if answered is not None:
        return created(call.show(wire.inline, _answer(call, pull, answered, body)))
    commit, path = call.text(RESOURCE, "commit_id"), call.text(RESOURCE, "path")
    if not await has_commit(call, pull, commit):
        raise custom(RESOURCE, "commit_id is not part of the pull request", "commit_id")
    files = await call.repository.bare.changed_files(pull.base_sha, commit)
    patches = {change.path: change.patch for change in files}
    on_file = call.fields.get("subject_type") == "file"
    place = _file_place(patches, path) if on_file else _single_place(patches, call.fields)
    pulls = call.repository.pulls
    comment = pulls.remark(pulls.review(pull.number, call.login, "COMMENTED", "", commit), place, body)
    if on_file:
        comment = pulls.inline.change(comment.id, line=None, on_file=True)
    return created(call.show(wire.inline, comment))


@routes.write("POST", "/pulls/{pull_number}/comments/{comment_id}/replies", "pull_requests", role="read", creates=True)
async def create_reply(call: ApiCall) -> Reply:
    """Answer the first comment of an inline thread."""
    return created(call.show(wire.inline, _answer(call, call.pull(), call.number("comment_id"), _text(call))))


async def has_commit(call: ApiCall, pull: PullRecord, commit: str) -> bool:
    """Return whether a commit is part of the pull request."""
    if commit == pull.head_sha:
        return True
    return commit in {info.sha for info in await call.repository.bare.log(pull.base_sha, pull.head_sha, 250)}


def review_place(patches: Patches, remark: Any) -> DiffPlace:
    """Return the place of a review's remark; 422 when the diff does not show it."""
    body = remark.get("body") if isinstance(remark, dict) else None
    if not isinstance(body, str) or not body.strip():
        raise unprocessable("Body can't be blank")
    if len(body) > MAX_BODY:
        raise unprocessable(f"Body is too long (maximum is {MAX_BODY} characters)")
    if not _has_path(patches, remark):
        raise unprocessable("Path could not be resolved")
    found = _place(patches, remark)
    if found is None:
        raise unprocessable("Line could not be resolved")
    return found


def _single_place(patches: Patches, remark: Mapping[str, Any]) -> DiffPlace:
    if not _has_path(patches, remark):
        raise invalid(RESOURCE, "pull_request_review_thread.path")
    found = _place(patches, remark)
    if found is None:
        raise invalid(RESOURCE, "pull_request_review_thread.line")
    return found


def _file_place(patches: Patches, path: str) -> DiffPlace:
    if path not in patches:
        raise invalid(RESOURCE, "pull_request_review_thread.path")
    return DiffPlace(path, line=1, side="RIGHT", hunk="", text="", position=1)


def _has_path(patches: Patches, remark: Mapping[str, Any]) -> bool:
    path = remark.get("path")
    return isinstance(path, str) and path in patches


def _place(patches: Patches, remark: Mapping[str, Any]) -> DiffPlace | None:
    """Return the place; None for a line that the diff does not show, and for what is no line."""
    path, side = remark["path"], remark.get("side") or "RIGHT"
    line, start, position = (remark.get(name) for name in ("line", "start_line", "position"))
    if side not in SIDES or not all(one is None or type(one) is int for one in (line, start, position)):
        return None
    if line is None:
        return changes.place_at(path, patches[path], position or 0)
    return changes.place(path, patches[path], line=line, side=side, start_line=start)


def _answer(call: ApiCall, pull: PullRecord, root_id: int, body: str) -> InlineRecord:
    pulls = call.repository.pulls
    root = pulls.inline.get(root_id)
    if root is None or root.number != pull.number or root.in_reply_to is not None:
        raise not_found()
    review = pulls.review(pull.number, call.login, "COMMENTED", "", root.commit_id)
    answer = pulls.remark(review, root.place, body, reply_to=root.id)
    return pulls.inline.change(answer.id, line=root.line)


def _text(call: ApiCall) -> str:
    """The body of a new comment; 403 where the thread is locked for the caller."""
    pull = call.pull()
    if call.repository.pulls.thread(pull.number).locked and not call.trusted:
        raise Refusal(403, "Unable to create comment because issue is locked.")
    body = call.text(RESOURCE, "body")
    if not body.strip():
        raise invalid(RESOURCE, "body", "missing_field")
    check_body(RESOURCE, body)
    return body
