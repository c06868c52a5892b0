"""Reviews: the reviews and comments of a pull request, and our verdict in one request.

Threads of comments are resolved, and reviews hidden as outdated, by GraphQL alone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from shared.github import wire
from shared.github.client import GitHub
from shared.github.errors import NotShown, Refused
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.lock.hold import Held
from shared.models import Finding, Review, ReviewComment, ReviewState
from shared.newest import Newest

_EVENTS = {
    ReviewState.APPROVED: "APPROVE",
    ReviewState.CHANGES_REQUESTED: "REQUEST_CHANGES",
    ReviewState.COMMENTED: "COMMENT",
}

_OWN = ("your own pull request",)
_LINES = ("line", "path", "position", "diff")
"""Words by which GitHub refuses the place of an inline comment."""


TOGETHER_SECONDS = 5.0
"""Seconds within which readings of reviews and of inline comments count as one reading."""

MOST = 500
"""Most pull requests whose listed reviews are remembered."""

MOST_RESOLVED = 30
"""Most threads resolved at once; the others stay open, as without GraphQL."""

THREAD_PAGES = 5
"""Most pages of threads that are looked through."""

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


class Reviews:
    """The reviews of one repository's pull requests."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._repository = repository
        self._path = f"/repos/{repository}/pulls"
        self._listed: Newest[int, tuple[float, frozenset[Any]]] = Newest(MOST)
        self._submitted: Newest[int, frozenset[int]] = Newest(MOST)
        self._lacking: Newest[tuple[str, int], float] = Newest(MOST)

    async def of(self, number: int) -> tuple[Review, ...]:
        """Return the submitted reviews, oldest first; drafts (which only their author sees) are left out.

        Raises `NotShown` if one is lacking that was listed before: nobody can delete it once it is submitted.
        """
        found = await self._github.pages(f"{self._path}/{number}/reviews")
        reviews = wire.each(wire.review, [r for r in found if wire.read(_state, r) != ReviewState.PENDING])
        ids = frozenset(one.id for one in reviews)
        self._compare("listed", number, self._submitted.get(number, frozenset()) - ids)
        self._listed[number] = self._github.clock.boot(), frozenset(one.get("id") for one in found)
        self._submitted[number] = ids
        return reviews

    async def at_start(self, number: int) -> tuple[Review, ...]:
        """Return the same as `of`; without a request if the answer to our own label has just shown that there are none.

        For the beginning of a review: before a merge, they are read.
        """
        path = f"{self._path}/{number}/reviews"
        if self._github.shows_empty(path) and not self._submitted.get(number):
            return ()
        return await self.of(number)

    async def comments(self, number: int) -> tuple[ReviewComment, ...]:
        """Return the inline comments, oldest first.

        Raises `NotShown` if one belongs to a review that is missing from the reviews read right before.
        """
        found = await self._github.pages(f"{self._path}/{number}/comments")
        at, reviews = self._listed.get(number, (float("-inf"), frozenset()))
        told = {one.get("pull_request_review_id") for one in found} - {None}
        if self._github.clock.boot() - at < TOGETHER_SECONDS:
            self._compare("told", number, told - reviews)
        return wire.each(wire.review_comment, found)

    def _compare(self, path: str, number: int, lacks: AbstractSet[Any]) -> None:
        """Raise `NotShown` while reviews are lacking, for as long as that may be a late answer."""
        if not lacks:
            self._lacking.pop((path, number), None)
            return
        now = self._github.clock.boot()
        if now - self._lacking.setdefault((path, number), now) < PATIENCE_SECONDS:
            raise NotShown(f"review {min(lacks)} of #{number}", TOGETHER_SECONDS)

    async def submit(
        self, number: int, sha: str, state: ReviewState, body: str, findings: Sequence[Finding], held: Held
    ) -> Review:
        """Submit one review of the commit `sha` with all its findings; the reply states its state.

        If GitHub refuses a verdict on one's own pull request it becomes a comment; if it
        refuses a finding's line, all findings go into the body.
        """
        payload: dict[str, Any] = {"commit_id": sha, "event": _EVENTS[state], "body": body}
        payload["comments"] = [{"path": f.path, "line": f.line, "side": "RIGHT", "body": f.body} for f in findings]
        path = f"{self._path}/{number}/reviews"
        while True:
            try:
                return wire.reply(wire.review, await self._github.write("POST", path, payload, held))
            except Refused as refused:
                payload = _weaker(payload, findings, refused)

    async def reply(self, number: int, comment_id: int, body: str, held: Held) -> ReviewComment:
        """Answer an inline comment in its thread."""
        path = f"{self._path}/{number}/comments/{comment_id}/replies"
        return wire.reply(wire.review_comment, await self._github.write("POST", path, {"body": body}, held))

    async def resolve(self, number: int, roots: Collection[int], held: Held) -> int:
        """Resolve the threads of pull request `number` that begin with the comments `roots`; return how many were open.

        Raises `Transient`, and `Refused` or `NotAllowed` if GitHub does not let this token do it.
        """
        found = await self._open_threads(number, roots, held)
        for thread in found[:MOST_RESOLVED]:
            held.check()
            await self._github.graphql("Resolve", RESOLVE, {"thread": thread}, held)
        return len(found[:MOST_RESOLVED])

    async def hide(self, reviews: Sequence[Review], held: Held) -> int:
        """Hide reviews as outdated; return how many. Hiding one again changes nothing. Errors as `resolve`."""
        named = [one.node_id for one in reviews if one.node_id]
        for name in named[:MOST_RESOLVED]:
            held.check()
            await self._github.graphql("Hide", HIDE, {"review": name}, held)
        return len(named[:MOST_RESOLVED])

    async def _open_threads(self, number: int, roots: Collection[int], held: Held) -> list[str]:
        """Return the ids of the open threads that begin with `roots`."""
        owner, _, name = self._repository.partition("/")
        found: list[str] = []
        after: str | None = None
        for _ in range(THREAD_PAGES):
            variables = {"owner": owner, "name": name, "number": number, "after": after}
            reply = await self._github.graphql("Threads", THREADS, variables, held)
            threads, after = wire.reply(_threads, reply)
            found += [thread for thread, root in threads.items() if root in roots]
            if after is None:
                break
        return found


def _weaker(payload: dict[str, Any], findings: Sequence[Finding], refused: Refused) -> dict[str, Any]:
    """Return a weaker review to submit instead; raises `refused` if nothing is left to give up."""
    if refused.status != 422:
        raise refused
    if payload["event"] != "COMMENT" and refused.says(*_OWN):
        return {**payload, "event": "COMMENT"}
    if payload["comments"] and refused.says(*_LINES):
        listed = "\n".join(f"- `{f.path}:{f.line}` {f.body}" for f in findings)
        return {**payload, "comments": [], "body": f"{payload['body']}\n\n{listed}"}
    raise refused


def _state(value: Any) -> ReviewState:
    return ReviewState(value["state"])


def _threads(value: Any) -> tuple[Mapping[str, int], str | None]:
    """Return open thread -> its first comment, and the cursor of the next page."""
    page = value["data"]["repository"]["pullRequest"]["reviewThreads"]
    nodes = [one for one in page["nodes"] if not one["isResolved"] and one["comments"]["nodes"]]
    threads = {str(one["id"]): int(one["comments"]["nodes"][0]["fullDatabaseId"]) for one in nodes}
    return threads, str(page["pageInfo"]["endCursor"]) if page["pageInfo"]["hasNextPage"] else None
