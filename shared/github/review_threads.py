"""Threads of reviews, to resolve, and reviews, to hide as outdated: only GraphQL can do either."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from shared.github import wire
from shared.github.client import GitHub
from shared.github.graphql import ask
from shared.lock.hold import Held
from shared.models import Review

MOST = 30
"""Most threads resolved at once; the others stay open, as without GraphQL."""

PAGES = 5

THREADS = """\
query Threads($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      reviewThreads(first: 100, after: $after) {
        nodes { id isResolved comments(first: 1) { nodes { fullDatabaseId } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}
"""

RESOLVE = """\
mutation Resolve($thread: ID!) {
  resolveReviewThread(input: {threadId: $thread}) {
    thread { isResolved }
  }
}
"""

HIDE = """\
mutation Hide($review: ID!) {
  minimizeComment(input: {subjectId: $review, classifier: OUTDATED}) {
    minimizedComment { isMinimized }
  }
}
"""


class ReviewThreads:
    """The reviews of one repository and their threads."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._owner, _, self._name = repository.partition("/")

    async def resolve(self, number: int, roots: Collection[int], held: Held) -> int:
        """Resolve the threads of pull request `number` that begin with the comments `roots`; return how many were open.

        Raises `Transient`, and `Refused` or `NotAllowed` if GitHub does not let this token do it.
        """
        found = await self._open(number, roots, held)
        for thread in found[:MOST]:
            held.check()
            await ask(self._github, "Resolve", RESOLVE, {"thread": thread}, held)
        return len(found[:MOST])

    async def hide(self, reviews: Sequence[Review], held: Held) -> int:
        """Hide reviews as outdated; return how many. Hiding one again changes nothing. Errors as `resolve`."""
        named = [one.node_id for one in reviews if one.node_id]
        for name in named[:MOST]:
            held.check()
            await ask(self._github, "Hide", HIDE, {"review": name}, held)
        return len(named[:MOST])

    async def _open(self, number: int, roots: Collection[int], held: Held) -> list[str]:
        """Return the ids of the open ones."""
        found: list[str] = []
        after: str | None = None
        for _ in range(PAGES):
            variables = {"owner": self._owner, "name": self._name, "number": number, "after": after}
            reply = await ask(self._github, "Threads", THREADS, variables, held)
            threads, after = wire.reply(_threads, reply)
            found += [thread for thread, root in threads.items() if root in roots]
            if after is None:
                break
        return found


def _threads(value: Any) -> tuple[Mapping[str, int], str | None]:
    """Return open thread -> its first comment, and the cursor of the next page."""
    page = value["data"]["repository"]["pullRequest"]["reviewThreads"]
    nodes = [one for one in page["nodes"] if not one["isResolved"] and one["comments"]["nodes"]]
    threads = {str(one["id"]): int(one["comments"]["nodes"][0]["fullDatabaseId"]) for one in nodes}
    return threads, str(page["pageInfo"]["endCursor"]) if page["pageInfo"]["hasNextPage"] else None
