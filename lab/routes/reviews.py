"""Reviews of pull requests, their inline comments, and who is asked for one."""

from __future__ import annotations

from typing import Any

from lab import diff_lines
from lab.call import Call, Operations, Reply
from lab.refusals import Refusal, invalid, not_found, unprocessable
from lab.wire import pulls as wire
from lab.world.pulls import VERDICTS, Place, PullRecord

routes = Operations()


@routes.get("/pulls/{pull_number}/reviews", "pull_requests")
async def list_reviews(call: Call) -> Reply:
    """Reviews, oldest first."""
    found = call.repository.pulls.reviews_of(_pull(call).number)
    return call.page(found, lambda review: wire.review(call.site, call.repository, review))


@routes.write("POST", "/pulls/{pull_number}/reviews", "pull_requests", role="read")
async def create_review(call: Call) -> Reply:
    """A review with its inline comments, all or nothing, bound to one commit."""
    pull, pulls = _pull(call), call.repository.pulls
    body = call.optional_text("PullRequestReview", "body") or ""
    commit = call.optional_text("PullRequestReview", "commit_id") or pull.head_sha
    remarks = call.fields.get("comments") or []
    state = _verdict(call, pull, body, remarks)
    places = await _places(call, pull, commit, remarks)
    review = pulls.review(pull.number, call.login, state, body, commit)
    for place, remark in zip(places, remarks, strict=True):
        pulls.remark(review, place, remark["body"])
    return Reply(body=wire.review(call.site, call.repository, review))


@routes.get("/pulls/{pull_number}/reviews/{review_id}/comments", "pull_requests")
async def list_review_comments(call: Call) -> Reply:
    """The inline comments of one review."""
    review_id = call.number("review_id")
    found = [c for c in call.repository.pulls.inline_of(_pull(call).number) if c.review_id == review_id]
    return call.page(found, lambda comment: wire.inline(call.site, call.repository, comment))


@routes.get("/pulls/{pull_number}/comments", "pull_requests")
async def list_inline_comments(call: Call) -> Reply:
    """All inline comments of a pull request; by ascending id unless `sort` is given."""
    since = call.since("PullRequestReviewComment")
    found = [c for c in call.repository.pulls.inline_of(_pull(call).number) if c.updated_at >= since]
    if "sort" in call.query:
        field = f"{call.choice('PullRequestReviewComment', 'sort', ('created', 'updated'))}_at"
        descending = call.choice("PullRequestReviewComment", "direction", ("desc", "asc")) == "desc"
        found.sort(key=lambda comment: (getattr(comment, field), comment.id), reverse=descending)
    return call.page(found, lambda comment: wire.inline(call.site, call.repository, comment))


@routes.write("POST", "/pulls/{pull_number}/comments/{comment_id}/replies", "pull_requests", role="read")
async def reply(call: Call) -> Reply:
    """Answer the first comment of an inline thread."""
    pulls, pull = call.repository.pulls, _pull(call)
    root = pulls.inline.get(call.number("comment_id"))
    if root is None or root.number != pull.number or root.in_reply_to is not None:
        raise not_found()
    body = call.text("PullRequestReviewComment", "body")
    review = pulls.review(pull.number, call.login, "COMMENTED", "", root.commit_id)
    answer = pulls.remark(review, root.place, body, reply_to=root.id)
    answer = pulls.inline.change(answer.id, line=root.line)
    return Reply(201, wire.inline(call.site, call.repository, answer))


@routes.get("/pulls/{pull_number}/requested_reviewers", "pull_requests")
async def list_requested(call: Call) -> Reply:
    """Who is asked for a review."""
    users = [call.site.actor(login) for login in _pull(call).requested]
    return Reply(body={"users": users, "teams": []})


@routes.write("POST", "/pulls/{pull_number}/requested_reviewers", "pull_requests")
async def request_review(call: Call) -> Reply:
    """Ask people for a review; the author and strangers cannot be asked."""
    pull, names = _pull(call), call.names("PullRequest", "reviewers") or []
    if call.repository.pulls.thread(pull.number).author in names:
        raise Refusal(422, "Review cannot be requested from pull request author.")
    if not all(_collaborates(call, login) for login in names):
        raise Refusal(422, "Reviews may only be requested from collaborators.")
    asked = call.repository.pulls.request(pull.number, names, call.login)
    return Reply(201, wire.simple(call.site, call.repository, asked))


def _pull(call: Call) -> PullRecord:
    return call.repository.pulls.require(call.number("pull_number"))


def _verdict(call: Call, pull: PullRecord, body: str, remarks: Any) -> str:
    event = call.fields.get("event")
    if event is None:
        return "PENDING"
    if event not in VERDICTS:
        raise invalid("PullRequestReview", "event")
    if call.repository.pulls.thread(pull.number).author == call.login and event != "COMMENT":
        deed = "approve" if event == "APPROVE" else "request changes on"
        raise unprocessable(f"Review Can not {deed} your own pull request")
    if not body and not (remarks and event == "COMMENT") and event != "APPROVE":
        raise unprocessable("Body can't be blank")
    return VERDICTS[event]


async def _places(call: Call, pull: PullRecord, commit: str, remarks: Any) -> list[Place]:
    bare = call.repository.bare
    if commit != pull.head_sha and commit not in {i.sha for i in await bare.log(pull.base_sha, pull.head_sha, 250)}:
        raise unprocessable("The commit_id is not part of the pull request")
    if not isinstance(remarks, list):
        raise invalid("PullRequestReview", "comments")
    if not remarks:
        return []
    patches = {change.path: change.patch for change in await bare.changed_files(pull.base_sha, commit)}
    return [_place(patches, remark) for remark in remarks]


def _place(patches: dict[str, str | None], remark: Any) -> Place:
    if not isinstance(remark, dict) or not remark.get("body"):
        raise invalid("PullRequestReviewComment", "body", "missing_field")
    path, line, start = remark.get("path"), remark.get("line"), remark.get("start_line")
    if path not in patches:
        raise unprocessable("Path could not be resolved")
    if line is None:
        found = diff_lines.place_at(path, patches[path], remark.get("position") or 0)
    else:
        side = remark.get("side") or "RIGHT"
        found = diff_lines.place(path, patches[path], line=line, side=side, start_line=start)
    if found is None:
        raise unprocessable("Line could not be resolved")
    return found


def _collaborates(call: Call, login: str) -> bool:
    facts = call.repository.facts
    return login in facts.collaborators or login == facts.owner
