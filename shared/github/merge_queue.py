"""GitHub's merge queue, which only GraphQL reaches: putting a pull request in, and looking whether it is there."""

from __future__ import annotations

from typing import Any

from shared.github import wire
from shared.github.client import GitHub
from shared.github.errors import Refused
from shared.github.graphql import ask
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
            await ask(self._github, "Enqueue", ENQUEUE, {"pullRequest": node_id, "head": head}, held)
        except Refused as refused:
            if not refused.says("already in the queue", "already queued"):
                raise

    async def holds(self, node_id: str, held: Held) -> bool:
        """Whether a pull request waits in there. Raises `Transient`."""
        data = await ask(self._github, "Queued", LOOK, {"pullRequest": node_id}, held)
        return wire.read(_is_queued, data)


def _is_queued(value: Any) -> bool:
    return value["data"]["node"]["mergeQueueEntry"] is not None
