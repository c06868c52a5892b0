"""ACK comments, read and written, and the items that they lock (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache

from shared.models import Comment
from shared.text.comment_signatures import CommentSignatures, Keyring
from shared.workflow import AGENTS, Role

from .trailer import LEGACY, OPAQUE_SECONDS, Trailer, parse, spell

FENCE_NAMESPACE = "refs/ack"
"""Namespace of fences, unless the server refuses custom namespaces (then `refs/heads/ack`)."""

REMEMBERED = 64
"""ACKs whose parsed form is cached: the same ones are read over and over, and parsing is pure."""

_UNWRITTEN = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_LINE = re.compile(r"ACK:(planner|worker|reviewer):([a-z0-9-]{1,64}):([0-9]{13})")


@dataclass(frozen=True, slots=True)
class ItemKey:
    """The item that is locked: an issue or pull request number, for one kind of agent."""

    kind: Role
    number: int

    def __post_init__(self) -> None:
        if self.kind not in AGENTS:
            raise ValueError(f"'{self.kind}' is not an agent")

    @property
    def ref(self) -> str:
        """The fence's ref, for example `refs/ack/worker/42`."""
        return f"{FENCE_NAMESPACE}/{self.kind}/{self.number}"


class AckState(StrEnum):
    """State of an ACK, as its writer says."""

    ACTIVE = "active"
    RELEASED = "released"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Ack:
    """One ACK. `id`, `updated_at` come from the server; `opaque`: not to be checked (unknown key, other format)."""

    key: ItemKey
    agent: str
    millis: int
    prev: int
    nonce: str
    ttl_seconds: int
    state: AckState = AckState.ACTIVE
    heartbeat: int = 0
    id: int = 0
    updated_at: datetime = _UNWRITTEN
    opaque: bool = False

    def live(self, at: datetime) -> bool:
        """Return whether it still holds at server time `at`."""
        return self.state is AckState.ACTIVE and at - self.updated_at < timedelta(seconds=self.ttl_seconds)


def write_ack(ack: Ack, keys: Keyring) -> str:
    """The comment body of an ACK; raises `ValueError` for one that nobody could read back."""
    trailer = spell(Trailer(ack.prev, ack.nonce, ack.state, ack.heartbeat, ack.ttl_seconds))
    first = f"ACK:{ack.key.kind}:{ack.agent}:{ack.millis:013d}"
    if not _FIRST_LINE.fullmatch(first) or trailer is None:
        raise ValueError(f"no ACK can be written as {first!r} of {ack!r}")
    says = _FIRST_SAYS if ack.state is AckState.ACTIVE and ack.heartbeat == 0 else _SAYS[ack.state]
    return keys.sign(_purpose(ack.key.kind), ack.key.number, f"{first}\n{trailer}\n{ack.agent} {says}")


_FIRST_SAYS = "takes this up, unless another agent was first. Editing or deleting this comment stops it."
"""Sentence of an ACK before its first heartbeat; the loser of a race leaves it like this."""

_SAYS = {
    AckState.ACTIVE: "is working on this. Editing or deleting this comment stops it.",
    AckState.RELEASED: "has let go of this.",
    AckState.DONE: "has finished.",
}
"""Sentence of an ACK for people, after the agent's name."""


def _purpose(kind: str) -> str:
    return f"ack:{kind}"


def trusted(comment: Comment, accounts: Collection[int], keys: Keyring) -> Ack | None:
    """The ACK that `comment` is, or None when it does not exist for the protocol.

    It must be written by one of our account ids, be an ACK by its first two whole lines, and carry a valid MAC. Three
    are `opaque`, live holders until their timeout (at most `OPAQUE_SECONDS`) because another engine may be at work: a
    MAC of an unknown key, a newer format, and the first one, a line alone, which no other text of ours ever is.
    """
    return _judged(comment, keys) if comment.author.id in accounts else None


@lru_cache(maxsize=REMEMBERED)
def _judged(comment: Comment, keys: Keyring) -> Ack | None:
    ack = read_ack(comment)
    if ack is None:
        return None
    purpose = _purpose(ack.key.kind)
    if ack.opaque:
        return None if keys.refutes(purpose, comment.number, comment.body) else ack
    verdict = keys.verify(purpose, comment.number, comment.body)
    if verdict is CommentSignatures.UNKNOWN_KEY:
        return replace(ack, opaque=True, ttl_seconds=min(ack.ttl_seconds, OPAQUE_SECONDS))
    return ack if verdict is CommentSignatures.VALID else None


def read_ack(comment: Comment) -> Ack | None:
    """Return the ACK that a body spells, by any author; None when it spells none."""
    head, _, rest = comment.body.replace("\r\n", "\n").partition("\n")
    legacy, second = not rest.strip(), rest.partition("\n")[0].rstrip()
    first, trailer = _FIRST_LINE.fullmatch(head.rstrip()), LEGACY if legacy else parse(second)
    if first is None or trailer is None:
        return None
    return Ack(
        key=ItemKey(Role(first[1]), comment.number),
        agent=first[2],
        millis=int(first[3]),
        prev=trailer.prev,
        nonce=trailer.nonce,
        state=AckState(trailer.state),
        heartbeat=trailer.heartbeat,
        ttl_seconds=trailer.ttl_seconds,
        id=comment.id,
        updated_at=comment.created_at if legacy else comment.updated_at,
        opaque=trailer.opaque,
    )
