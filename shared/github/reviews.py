"""Reviews: the reviews and comments of a pull request, and our verdict in one request."""

from __future__ import annotations

from collections.abc import Sequence
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


class Reviews:
    """The reviews of one repository's pull requests."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._path = f"/repos/{repository}/pulls"
        self._listed: dict[int, tuple[float, frozenset[Any]]] = {}
        self._submitted: dict[int, frozenset[int]] = {}
        self._lacking: Newest[tuple[str, int], float] = Newest(MOST)

    async def of(self, number: int) -> tuple[Review, ...]:
        """Return the submitted reviews, oldest first; drafts (which only their author sees) are left out.

        Raises `NotShown` if one is lacking that was listed before: nobody can delete it once it is submitted.
        """
        found = await self._github.pages(f"{self._path}/{number}/reviews")
        reviews = wire.each(wire.review, [r for r in found if wire.read(_state, r) != ReviewState.PENDING])
        ids = frozenset(one.id for one in reviews)
        self._compare("listed", number, self._submitted.get(number, frozenset()) - ids)
        if len(self._listed) >= MOST:
            self._listed.clear()
            self._submitted.clear()
        self._listed[number] = self._github.clock.boot(), frozenset(one.get("id") for one in found)
        self._submitted[number] = ids
        return reviews

    async def at_start(self, number: int) -> tuple[Review, ...]:
        """Return the same as `of`; without a request if the answer to our own label has just shown that there are none.

        For the beginning of a review: before a merge, they are read.
        """
        path = f"{self._path}/{number}/reviews"
        if (
            self._github.empty.include(path)
            and not self._github.expects_entry_in(path)
            and not self._submitted.get(number)
        ):
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
        wish: dict[str, Any] = {"commit_id": sha, "event": _EVENTS[state], "body": body}
        wish["comments"] = [{"path": f.path, "line": f.line, "side": "RIGHT", "body": f.body} for f in findings]
        path = f"{self._path}/{number}/reviews"
        while True:
            try:
                return wire.reply(wire.review, await self._github.write("POST", path, wish, held))
            except Refused as refused:
                wish = _weaker(wish, findings, refused)

    async def reply(self, number: int, comment_id: int, body: str, held: Held) -> ReviewComment:
        """Answer an inline comment in its thread."""
        path = f"{self._path}/{number}/comments/{comment_id}/replies"
        return wire.reply(wire.review_comment, await self._github.write("POST", path, {"body": body}, held))


def _weaker(wish: dict[str, Any], findings: Sequence[Finding], refused: Refused) -> dict[str, Any]:
    """Return a weaker review to submit instead; raises `refused` if nothing is left to give up."""
    if refused.status != 422:
        raise refused
    if wish["event"] != "COMMENT" and refused.says(*_OWN):
        return {**wish, "event": "COMMENT"}
    if wish["comments"] and refused.says(*_LINES):
        listed = "\n".join(f"- `{f.path}:{f.line}` {f.body}" for f in findings)
        return {**wish, "comments": [], "body": f"{wish['body']}\n\n{listed}"}
    raise refused


def _state(value: Any) -> ReviewState:
    return ReviewState(value["state"])
