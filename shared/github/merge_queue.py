"""GitHub's merge queue, which only GraphQL reaches: putting a pull request in, and looking whether it is there."""

from __future__ import annotations

from typing import Any

from shared.github import wire
from shared.github.address import GRAPHQL
from shared.github.client import GitHub
from shared.github.errors import Refused
from shared.lock.hold import Held

ENQUEUE = """\
mutation Enqueue($pullRequest: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: {pullRequestId: $pullRequest, expectedHeadOid: $head}) {
    mergeQueueEntry { state }
  }
}
"""

LOOK = """\
query Queued($pullRequest: ID!) {
  node(id: $pullRequest) {
    ... on PullRequest { mergeQueueEntry { state } }
  }
}
"""


class MergeQueue:
    """The merge queues of one repository's branches."""

    def __init__(self, github: GitHub) -> None:
        self._github = github

    async def enter(self, node_id: str, head: str, held: Held) -> None:
        """Have GitHub merge a pull request at exactly `head` when its turn has come; being in there already is fine.

        Raises `Refused` with GitHub's sentence.
        """
        try:
            await self._ask("Enqueue", ENQUEUE, {"pullRequest": node_id, "head": head}, held)
        except Refused as refused:
            if not refused.says("already in the queue", "already queued"):
                raise

    async def holds(self, node_id: str, held: Held) -> bool:
        """Whether a pull request waits in there. Raises `Transient`."""
        data = await self._ask("Queued", LOOK, {"pullRequest": node_id}, held)
        return wire.read(_is_queued, data)

    async def _ask(self, name: str, document: str, variables: dict[str, str], held: Held) -> Any:
        """GitHub answers 200 to what it refuses here, with its sentences beside the data."""
        body = {"operationName": name, "query": document, "variables": variables}
        reply = await self._github.write("POST", GRAPHQL, body, held)
        errors = wire.reply(_errors, reply)
        if errors:
            raise Refused(f"GraphQL {name}", 422, errors[0], errors[1:])
        return reply


def _errors(value: Any) -> tuple[str, ...]:
    return tuple(str(one["message"]) for one in value.get("errors") or ())


def _is_queued(value: Any) -> bool:
    return value["data"]["node"]["mergeQueueEntry"] is not None
