"""Reviews: what was said about a pull request, and our verdict in one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shared.github import wire
from shared.github.client import GitHub
from shared.github.errors import Refused
from shared.lock.hold import Held
from shared.models import Finding, Review, ReviewComment, ReviewState

_EVENTS = {
    ReviewState.APPROVED: "APPROVE",
    ReviewState.CHANGES_REQUESTED: "REQUEST_CHANGES",
    ReviewState.COMMENTED: "COMMENT",
}

_OWN = ("your own pull request",)
_LINES = ("line", "path", "position", "diff")
"""Words by which GitHub refuses a place of an inline comment."""


class Reviews:
    """The reviews of one repository's pull requests."""

    def __init__(self, github: GitHub, repository: str) -> None:
        self._github = github
        self._path = f"/repos/{repository}/pulls"

    async def of(self, number: int) -> tuple[Review, ...]:
        """The submitted reviews, oldest first; drafts (which only their author sees) are left out."""
        found = await self._github.pages(f"{self._path}/{number}/reviews")
        return wire.each(wire.review, [r for r in found if wire.read(_state, r) != ReviewState.PENDING])

    async def comments(self, number: int) -> tuple[ReviewComment, ...]:
        """The inline comments, oldest first."""
        return wire.each(wire.review_comment, await self._github.pages(f"{self._path}/{number}/comments"))

    async def submit(
        self, number: int, sha: str, state: ReviewState, body: str, findings: Sequence[Finding], held: Held
    ) -> Review:
        """Submit one review of the commit `sha` with all its findings; the reply says in which state.

        Where GitHub refuses a verdict on one's own pull request it becomes a comment; where it
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
    """What to submit instead; raises `refused` when nothing is left to give up."""
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
