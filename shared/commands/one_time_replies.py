"""Replies that are given once: one marked comment in one thread for one purpose."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from shared.github import ports
from shared.github.ports import Comments
from shared.lock.write_permit import Notice
from shared.models import Issue
from shared.newest import Newest
from shared.text import comment_signatures, neutralise, one_line
from shared.text.comment_signatures import CommentSignatures, Keyring
from shared.workflow.labels import folded

MOST_TOLD = 3
"""Most issues of one process that are told of an unexplained label: one that was renamed may be on hundreds."""

MARK = "engine-notice"


class Replies:
    """Posts a reply unless the thread has one of this purpose."""

    def __init__(self, comments: Comments, accounts: Collection[int], keys: Keyring) -> None:
        self._comments = comments
        self._accounts = accounts
        self._keys = keys

    async def once(self, number: int, purpose: str, text: str, mention: Sequence[str] = ()) -> bool:
        """Post the reply unless it was given; return whether it was posted now. `purpose` has no spaces.

        The outbound filter lets only known mentions through. Raises `Transient`, `Blocked`.
        """
        if await self.is_posted(number, purpose):
            return False
        body = f"{comment_signatures.render(MARK, {'n': str(number), 'purpose': purpose})}\n{neutralise(text)}"
        if mention:
            body += f"\n\n{' '.join(f'@{login}' for login in mention)}"
        await self._comments.post(number, self._keys.sign(_mac_purpose(purpose), number, body), Notice(number, purpose))
        return True

    async def is_posted(self, number: int, purpose: str) -> bool:
        """Return whether the thread has a reply for this purpose. Raises `Transient`."""
        thread = await self._comments.thread(number)
        return any(one.author.id in self._accounts and self._is_reply(number, purpose, one.body) for one in thread)

    def _is_reply(self, number: int, purpose: str, body: str) -> bool:
        mark = comment_signatures.find(body.partition("\n")[0])
        if mark is None or mark.name != MARK or mark.fields.get("purpose") != purpose:
            return False
        return self._keys.verify(_mac_purpose(purpose), number, body) is CommentSignatures.VALID


def untrusted_label(label: str, login: str) -> tuple[str, str]:
    """Return purpose and sentence of the reply to a label by somebody without write access, who cannot ask for work."""
    told = f"`{one_line(label, 60)}` was set by {one_line(login, 60)}, who has no write access: it starts nothing here."
    return "untrusted-label", f"{told} Somebody with write access has to remove it and set it again to start the work."


class UnexplainedLabels:
    """Replies to labels of which no event says who set them, so that nobody waits in vain for a start.

    GitHub's events keep the name that a label had when it was set: after a renaming no event names the present one.
    """

    def __init__(self, replies: ports.Replies) -> None:
        self._replies = replies
        self._seen: Newest[int, datetime] = Newest()
        self._told: set[int] = set()

    async def look(self, issue: Issue, asking: Collection[str]) -> None:
        """Reply once to a label of `asking` that nobody has set, if a look before has shown the same state.

        The list of events may be late at the first look. Raises `Transient`, `Blocked`.
        """
        before, self._seen[issue.number] = self._seen.get(issue.number), issue.updated_at
        shown = next((label for label in sorted(issue.labels) if label.casefold() in folded(asking)), "")
        if before == issue.updated_at and shown and issue.number not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(issue.number)
            await self._replies.once(issue.number, *unexplained_label(shown))


def unexplained_label(label: str) -> tuple[str, str]:
    """Return purpose and sentence of the reply to a label that nobody is known to have set."""
    told = f"GitHub does not say who set `{one_line(label, 60)}` here, so it starts nothing: the label was renamed, or "
    told += "came with the issue from another repository."
    again = "Somebody with write access has to remove it and set it again to start the work; so on every such issue."
    return "unexplained-label", f"{told} {again}"


def _mac_purpose(purpose: str) -> str:
    return f"notice:{purpose}"
