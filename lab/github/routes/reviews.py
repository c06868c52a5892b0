"""Reviews of pull requests: verdicts with their inline comments, their dismissal, and the people asked for one."""

from __future__ import annotations

from typing import Any

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, not_found, unprocessable
from lab.github.routes.review_comments import has_commit, review_place
from lab.github.wire import pulls as wire
from lab.github.world.pulls import DISMISSIBLE, VERDICTS, DiffPlace, PullRecord, ReviewRecord

routes = Operations()


@routes.get("/pulls/{pull_number}/reviews", "pull_requests")
async def list_reviews(call: ApiCall) -> Reply:
    """Reviews, oldest first; of the pending ones only the caller's own."""
    found = call.repository.pulls.reviews_of(call.pull().number, call.login, call.stale)
    return call.list(wire.review, found)


@routes.write("POST", "/pulls/{pull_number}/reviews", "pull_requests", role="read", creates=True)
async def create_review(call: ApiCall) -> Reply:
    """A review with its inline comments, all or nothing, bound to one commit; without `event` it stays pending."""
    pull, pulls = call.pull(), call.repository.pulls
    if pulls.thread(pull.number).locked and not call.trusted:
        raise Refusal(403, "Unable to create review because issue is locked.")
    body = call.optional_text("PullRequestReview", "body") or ""
    commit = call.optional_text("PullRequestReview", "commit_id") or pull.head_sha
    remarks = call.fields.get("comments") or []
    state = _verdict(call, pull, body, remarks)
    places = await _places(call, pull, commit, remarks)
    review = pulls.review(pull.number, call.login, state, body, commit)
    for place, remark in zip(places, remarks, strict=True):
        pulls.remark(review, place, remark["body"])
    return Reply(body=call.show(wire.review, review))


@routes.get("/pulls/{pull_number}/reviews/{review_id}/comments", "pull_requests")
async def list_comments_of_review(call: ApiCall) -> Reply:
    """The inline comments of one review."""
    review = _review(call)
    found = [one for one in call.repository.pulls.inline_of(review.number, call.login) if one.review_id == review.id]
    return call.list(wire.inline_of_review, found)


@routes.write("PUT", "/pulls/{pull_number}/reviews/{review_id}/dismissals", "pull_requests")
async def dismiss_review(call: ApiCall) -> Reply:
    """A verdict counts no longer; a comment cannot be dismissed."""
    review, message = _review(call), call.text("PullRequestReview", "message")
    if call.fields.get("event", "DISMISS") != "DISMISS":
        raise unprocessable("Event must be DISMISS")
    if review.state not in DISMISSIBLE:
        raise unprocessable(f"Can not dismiss a {review.state.lower()} pull request review")
    dismissed = call.repository.pulls.dismiss(review, call.login, message)
    return Reply(body=call.show(wire.review, dismissed))


@routes.get("/pulls/{pull_number}/requested_reviewers", "pull_requests")
async def list_requested(call: ApiCall) -> Reply:
    """List the people who are asked for a review."""
    users = [call.site.actor(login) for login in call.pull().requested]
    return Reply(body={"users": users, "teams": []})


@routes.write("POST", "/pulls/{pull_number}/requested_reviewers", "pull_requests", creates=True)
async def request_review(call: ApiCall) -> Reply:
    """Ask people for a review; the author and strangers cannot be asked."""
    pull, names = call.pull(), call.names("PullRequest", "reviewers") or []
    if call.repository.pulls.thread(pull.number).author in names:
        raise Refusal(422, "Review cannot be requested from pull request author.")
    if not {call.repository.facts.owner, *call.repository.facts.collaborators}.issuperset(names):
        raise Refusal(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams you specified is "
            f"not a collaborator of the {call.repository.full_name} repository.",
        )
    asked = call.repository.pulls.request(pull.number, names, call.login)
    return Reply(201, call.show(wire.simple, asked))


def _review(call: ApiCall) -> ReviewRecord:
    wanted = call.number("review_id")
    seen = call.repository.pulls.reviews_of(call.pull().number, call.login)
    found = next((review for review in seen if review.id == wanted), None)
    if found is None:
        raise not_found()
    return found


def _verdict(call: ApiCall, pull: PullRecord, body: str, remarks: Any) -> str:
    pulls, event = call.repository.pulls, call.fields.get("event")
    if event is None:
        mine = (review for review in pulls.reviews_of(pull.number, call.login) if review.author == call.login)
        if any(review.state == "PENDING" for review in mine):
            raise unprocessable("User can only have one pending review per pull request")
        return "PENDING"
    if not isinstance(event, str) or event not in VERDICTS:
        raise unprocessable("Event is not one of APPROVE, REQUEST_CHANGES, COMMENT")
    if pulls.thread(pull.number).author == call.login and event != "COMMENT":
        deed = "approve" if event == "APPROVE" else "request changes on"
        raise unprocessable(f"Review Can not {deed} your own pull request")
    if not body and not (remarks and event == "COMMENT") and event != "APPROVE":
        raise unprocessable("Body can't be blank")
    return VERDICTS[event]


async def _places(call: ApiCall, pull: PullRecord, commit: str, remarks: Any) -> list[DiffPlace]:
    if not isinstance(remarks, list):
        raise unprocessable("Comments must be a list")
    if not await has_commit(call, pull, commit):
        raise unprocessable("The commit_id is not part of the pull request")
    if not remarks:
        return []
    files = await call.repository.bare.changed_files(pull.base_sha, commit)
    patches = {change.path: change.patch for change in files}
    return [review_place(patches, remark) for remark in remarks]
