"""Status comments of the first format: a comment beside the ACKs, found by its mark, and written as a whole."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from shared.github.status import Status
from shared.models import Comment
from shared.text import comment_signatures
from shared.text.comment_signatures import CommentSignatures, Keyring
from shared.workflow import Role

MARK = "engine-status"


class StatusBoard:
    """Writes the status comment of one kind of agent."""

    def __init__(self, comments: Any, role: Role, accounts: Collection[int], keys: Keyring) -> None:
        self._comments, self._role, self._accounts, self._keys = comments, role, accounts, keys

    async def show(self, number: int, status: Status, permit: Any) -> None:
        """Edit the comment, or post it where none is seen; nothing is sent when the text is the same."""
        found = next((one for one in await self._comments.thread(number) if self._is_ours(one)), None)
        revision = int(_fields(found).get("rev", "0")) + 1
        mark = comment_signatures.render(MARK, {"kind": self._role, "n": str(number), "rev": str(revision)})
        body = self._keys.sign(f"status:{self._role}", number, f"{mark}\n{status.sentence}")
        if found is None:
            await self._comments.post(number, body, permit)
        elif found.body.partition("\n")[2] != status.sentence:
            await self._comments.edit(found.id, body, permit)

    def _is_ours(self, comment: Comment) -> bool:
        mark = comment_signatures.find(comment.body.partition("\n")[0])
        ours = mark is not None and (mark.name, mark.version) == (MARK, 1) and mark.fields.get("kind") == self._role
        valid = self._keys.verify(f"status:{self._role}", comment.number, comment.body) is CommentSignatures.VALID
        return ours and valid and comment.author.id in self._accounts


def _fields(comment: Comment | None) -> dict[str, str]:
    mark = None if comment is None else comment_signatures.find(comment.body)
    return {} if mark is None else mark.fields
