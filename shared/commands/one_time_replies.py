"""Replies that are given once: one marked comment in one thread for one purpose."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shared.github.ports import Comments
from shared.lock.write_permit import Notice
from shared.text import comment_signatures, neutralise, one_line
from shared.text.comment_signatures import CommentSignatures, Keyring

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


def _mac_purpose(purpose: str) -> str:
    return f"notice:{purpose}"
