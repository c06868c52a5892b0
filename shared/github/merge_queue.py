"""GitHub's merge queue, which only GraphQL reaches: entering a pull request, and reading its place."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from shared.github import wire
from shared.github.client import GitHub
from shared.github.errors import Refused
from shared.github.graphql import ask
from shared.lock.hold import Held
from shared.models import QueueExit, QueuePlace

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
    ... on PullRequest {
      mergeQueueEntry { state }
      timelineItems(last: 1, itemTypes: [REMOVED_FROM_MERGE_QUEUE_EVENT]) {
        nodes { ... on RemovedFromMergeQueueEvent { reason createdAt actor { __typename login } } }
      }
    }
  }
}
"""


class MergeQueue:
    """The merge queues of one repository's branches."""

    def __init__(self, github: GitHub) -> None:
        self._github = github

    async def enter(self, node_id: str, head: str, held: Held) -> None:
        """Have GitHub merge a pull request at exactly `head` when its turn has come; a queued one is left alone.

        Raises `Refused` with GitHub's sentence.
        """
        try:
            await ask(self._github, "Enqueue", ENQUEUE, {"pullRequest": node_id, "head": head}, held)
        except Refused as refused:
            if not refused.says("already in the queue", "already queued"):
                raise

    async def look(self, node_id: str, held: Held) -> QueuePlace:
        """Return whether a pull request waits in the queue, or why it left. Raises `Transient`."""
        data = await ask(self._github, "Queued", LOOK, {"pullRequest": node_id}, held)
        return wire.read(_place, data)


def _place(value: Any) -> QueuePlace:
    node = value["data"]["node"]
    exits = [_exit(one) for one in node["timelineItems"]["nodes"] or () if one]
    return QueuePlace(node["mergeQueueEntry"] is not None, exits[-1] if exits else None)


def _exit(value: Any) -> QueueExit:
    actor = value["actor"] or {"__typename": "", "login": ""}
    is_person = actor["__typename"] == "User"
    return QueueExit(value["reason"] or "", actor["login"], is_person, datetime.fromisoformat(value["createdAt"]))
