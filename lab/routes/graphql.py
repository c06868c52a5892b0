"""The two documents of GraphQL that the engine sends, for what REST cannot do: no general GraphQL is here."""

from __future__ import annotations

import re

from lab import merge_queue
from lab.http.call import Call, Operations, Reply
from lab.http.refusals import Refusal
from lab.wire import site
from lab.world.pulls import PullRecord
from lab.world.repository import RepositoryRecord

routes = Operations("")

_ENTER = re.compile(r"\bmutation\b.*\benqueuePullRequest\s*\(", re.DOTALL)
_LOOK = re.compile(r"\bquery\b.*\bnode\s*\(.*\bmergeQueueEntry\b", re.DOTALL)


@routes.write("POST", "/graphql")
async def graphql(call: Call) -> Reply:
    """Enter the merge queue, or look whether a pull request is in it; GraphQL answers 200 to what it refuses."""
    document, variables = call.text("Query", "query"), call.fields.get("variables") or {}
    try:
        repository, pull = _named(call, variables.get("pullRequest"))
        if _ENTER.search(document):
            await merge_queue.enter(repository, pull, variables.get("head"), call.account)
            return Reply(body={"data": {"enqueuePullRequest": {"mergeQueueEntry": {"state": "QUEUED"}}}})
        if _LOOK.search(document):
            entry = None if pull.queued_at is None else {"state": "QUEUED"}
            return Reply(body={"data": {"node": {"mergeQueueEntry": entry}}})
        raise Refusal(422, "The lab knows the merge queue alone of GraphQL.")
    except Refusal as refusal:
        return Reply(body={"data": None, "errors": [{"message": refusal.message}]})


def _named(call: Call, name: object) -> tuple[RepositoryRecord, PullRecord]:
    """The pull request of that node id, in a repository in which the caller may write."""
    for repository in call.site.world.repositories.values():
        for pull in repository.pulls.records.values():
            if site.node("PR", repository.pulls.thread(pull.number).id) == name:
                if not repository.facts.reaches(call.login, "write"):
                    raise Refusal(403, "Resource not accessible by personal access token")
                return repository, pull
    raise Refusal(404, f"Could not resolve to a node with the global id of '{name}'")
