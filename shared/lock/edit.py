"""One edit of the comment that shows a lock; if GitHub finds the text too long, the lock's lines alone are written."""

from __future__ import annotations

from collections.abc import Callable

from shared.errors import Blocked, Gone, NotAllowed, Unauthorized
from shared.lock.codec import Ack
from shared.lock.comment import Words, write_ack
from shared.lock.port import EditComment, Port
from shared.models import Comment
from shared.text.comment_signatures import Keyring


async def edit(
    port: Port, id: int, ack: Ack, keys: Keyring, words: Words, check: Callable[[], None] = lambda: None
) -> Comment | None:
    """Edit the comment; return it as it is now, None if it does not exist. Errors as of the port.

    `check` raises if the lease no longer holds: this machine may have stood still before the second try.
    """
    try:
        return (await port.request(EditComment(id, write_ack(ack, keys, words)))).value
    except (NotAllowed, Unauthorized, Gone):
        raise
    except Blocked:
        check()
        return (await port.request(EditComment(id, write_ack(ack, keys)))).value
