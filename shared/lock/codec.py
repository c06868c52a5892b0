"""ACKs, read and written, and the items that they lock (pure)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import lru_cache

from shared.lock import comment as layout
from shared.lock.comment import NO_WORDS, Layout, Words, first_line, read_first_line, spell, summed
from shared.lock.trailer import LEGACY, OPAQUE_SECONDS, Trailer, TrailerFields, parse, parse_foreign
from shared.models import Comment
from shared.text import comment_signatures
from shared.text.comment_signatures import CommentSignatures, Keyring
from shared.workflow import AGENTS, Role

FENCE_NAMESPACE = "refs/ack"
"""Namespace of the fences unless the server refuses custom namespaces (then `refs/heads/ack`)."""

REMEMBERED = 64
"""Size of the cache of judged comments: the same ones are looked at over and over, and reading is pure."""

_UNWRITTEN = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ItemKey:
    """The locked item: an issue or pull request number, for one kind of agent."""

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
    """The state of an ACK by its writer's word."""

    ACTIVE = "active"
    RELEASED = "released"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Ack:
    """One ACK. `id`, `updated_at` come from the server; `opaque`: it cannot be verified (unknown key, other format).

    `shared`: it stands in the one comment of its kind, in which `heartbeat` counts the edits; older ones have a
    comment of their own, name the ACK that they succeed (`prev`), and know no epoch.
    """

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
    epoch: int = 0
    shared: bool = True

    def live(self, at: datetime) -> bool:
        """Return whether it still holds at server time `at`."""
        return self.state is AckState.ACTIVE and at - self.updated_at < timedelta(seconds=self.ttl_seconds)


@dataclass(frozen=True, slots=True)
class Shown:
    """The one comment of a kind on a thread, as it was read. `ack` is None before the first claim."""

    ack: Ack | None
    words: Words
    revision: int


NOTHING_SHOWN = Shown(None, NO_WORDS, 0)
"""The content of a comment that is none of this kind, or that a person has edited."""


def write_ack(ack: Ack, keys: Keyring, words: Words = NO_WORDS) -> str:
    """Return the body of the comment with a lock and its agent's words; `ValueError` if nobody could read it back."""
    line = TrailerFields(ack.epoch, ack.nonce, ack.state, ack.ttl_seconds)
    first = first_line(ack.key.kind, ack.agent, ack.millis)
    made = Layout(ack.key.kind, ack.key.number, ack.heartbeat, words, first, line, _lead(ack, words))
    return _signed(made, keys)


def write_words(key: ItemKey, revision: int, words: Words, keys: Keyring) -> str:
    """Return the body of the same comment before the first claim."""
    return _signed(Layout(key.kind, key.number, revision, words), keys)


def _signed(made: Layout, keys: Keyring) -> str:
    text = keys.outgoing.text(spell(made))
    return keys.sign(_purpose(made.kind), made.number, summed(text))


def _lead(ack: Ack, words: Words) -> str:
    """Return the lock's own sentence for people, which the agent's words follow."""
    if ack.state is AckState.ACTIVE:
        since = datetime.fromtimestamp(ack.millis // 1000, UTC)
        doing = f": {words.doing}" if words.doing else ""
        return f"{ack.agent} is working on this since {since:%H:%M} UTC{doing}."
    return "" if words.text else _ended(ack)


def _ended(ack: Ack) -> str:
    return f"{ack.agent} {'released the lock.' if ack.state is AckState.RELEASED else 'has finished.'}"


def _without_lead(ack: Ack | None, text: str) -> str:
    if ack is None:
        return text
    if ack.state is AckState.ACTIVE:
        return text.partition("\n\n")[2]
    return "" if text == _ended(ack) else text


def _purpose(kind: str) -> str:
    return f"ack:{kind}"


def trusted(comment: Comment, accounts: Collection[int], keys: Keyring) -> Ack | None:
    """Return the ACK that `comment` is, or None if the protocol ignores the comment.

    It must be written by one of our account ids, spell an ACK of one of the two layouts, and carry a valid MAC. Three
    are `opaque`, live holders until their timeout (at most `OPAQUE_SECONDS`) because another engine may be at work: a
    MAC of an unknown key, a newer format, and the first one, a line alone, which no other text of ours ever is.
    """
    return _judged(comment, keys) if comment.author.id in accounts else None


def shown(comment: Comment, kind: Role, accounts: Collection[int], keys: Keyring) -> Shown | None:
    """Return the comment of a kind of agent if it is authentic and as it was written; None for any other text."""
    if comment.author.id not in accounts:
        return None
    made = layout.parse(comment.body)
    if made is None or made.kind != kind or made.number != comment.number:
        return None
    if keys.verify(_purpose(kind), comment.number, comment.body) is not CommentSignatures.VALID:
        return None
    ack = read_ack(comment)
    return Shown(ack, replace(made.words, text=_without_lead(ack, made.words.text)), made.revision)


def carried(comment: Comment, key: ItemKey, accounts: Collection[int], keys: Keyring) -> Shown:
    """Return a comment's words for the epoch that goes on in it; an older engine's status comment counts as a whole.

    Returns no words and revision 0 if it is neither, or was edited.
    """
    found = shown(comment, key.kind, accounts, keys)
    if found is not None:
        return found
    mark = comment_signatures.find(comment.body.partition("\n")[0])
    ours = comment.author.id in accounts and mark is not None and (mark.name, mark.version) == (layout.MARK, 1)
    if mark is None or not ours or mark.fields.get("kind") != key.kind:
        return NOTHING_SHOWN
    if keys.verify(f"status:{key.kind}", comment.number, comment.body) is not CommentSignatures.VALID:
        return NOTHING_SHOWN
    text = layout.normal(comment.body).partition("\n")[2]
    return Shown(None, Words(details=text), int(mark.fields.get("rev", "0")))


def is_told(comment: Comment, key: ItemKey, accounts: Collection[int], keys: Keyring) -> bool:
    """Return whether an agent of this kind wrote the comment, authentic and unedited, with a lock or without."""
    return carried(comment, key, accounts, keys) != NOTHING_SHOWN


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
    """Return the ACK that a body spells, whoever wrote it; None if it spells none."""
    made = layout.parse(comment.body)
    if made is not None:
        return _of_layout(comment, made)
    if layout.is_newer(comment.body):
        return _of_newer(comment)
    head, _, rest = comment.body.replace("\r\n", "\n").partition("\n")
    legacy, second = not rest.strip(), rest.partition("\n")[0].rstrip()
    first, trailer = read_first_line(head.rstrip()), LEGACY if legacy else parse(second)
    return None if first is None or trailer is None else _of_lines(comment, first, trailer, legacy=legacy)


def _of_lines(comment: Comment, first: tuple[str, str, int], trailer: Trailer, *, legacy: bool) -> Ack:
    return Ack(
        key=ItemKey(Role(first[0]), comment.number),
        agent=first[1],
        millis=first[2],
        prev=trailer.prev,
        nonce=trailer.nonce,
        state=AckState(trailer.state),
        heartbeat=trailer.heartbeat,
        ttl_seconds=trailer.ttl_seconds,
        id=comment.id,
        updated_at=comment.created_at if legacy else comment.updated_at,
        opaque=trailer.opaque,
        shared=False,
    )


def _of_layout(comment: Comment, made: Layout) -> Ack | None:
    first, line = read_first_line(made.first), made.line
    if first is None or line is None or (first[0], comment.number) != (made.kind, made.number):
        return None
    return Ack(
        key=ItemKey(Role(made.kind), made.number),
        agent=first[1],
        millis=first[2],
        prev=0,
        nonce=line.nonce,
        state=AckState(line.state),
        heartbeat=made.revision,
        ttl_seconds=line.ttl_seconds,
        id=comment.id,
        updated_at=comment.updated_at,
        epoch=line.epoch,
    )


def _of_newer(comment: Comment) -> Ack | None:
    found = layout.locks_of_newer(comment.body)
    first = read_first_line(found[0]) if found is not None else None
    if found is None or first is None:
        return None
    said = parse_foreign(found[1])
    return replace(_of_lines(comment, first, said, legacy=False), shared=True)
