"""Operations on the people who are asked for a review of a pull request."""

from __future__ import annotations

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal
from lab.github.wire import pulls as wire
from lab.github.world.pulls import PullRecord

routes = Operations()


@routes.get("/pulls/{pull_number}/requested_reviewers", "pull_requests")
async def list_requested(call: ApiCall) -> Reply:
    """List the people who are asked for a review."""
    users = [call.site.actor(login) for login in _pull(call).requested]
    return Reply(body={"users": users, "teams": []})


@routes.write("POST", "/pulls/{pull_number}/requested_reviewers", "pull_requests", creates=True)
async def request_review(call: ApiCall) -> Reply:
    """Ask people for a review; the author and strangers cannot be asked."""
    pull, names = _pull(call), call.names("PullRequest", "reviewers") or []
    if call.repository.pulls.thread(pull.number).author in names:
        raise Refusal(422, "Review cannot be requested from pull request author.")
    if not all(_collaborates(call, login) for login in names):
        raise Refusal(
            422,
            "Reviews may only be requested from collaborators. One or more of the users or teams you specified is "
            f"not a collaborator of the {call.repository.full_name} repository.",
        )
    asked = call.repository.pulls.request(pull.number, names, call.login)
    return Reply(201, wire.simple(call.site, call.repository, asked))


def _pull(call: ApiCall) -> PullRecord:
    return call.repository.pulls.require(call.number("pull_number"))


def _collaborates(call: ApiCall, login: str) -> bool:
    facts = call.repository.facts
    return login in facts.collaborators or login == facts.owner
