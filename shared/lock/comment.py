"""The one comment of a kind of agent on a thread, written and read: for people first, then the lock, folded (pure).

    <!-- engine-status/2 kind=worker n=42 rev=17 sum=... mac=... -->
    worker-1 is working on this since 02:50 UTC: writing the tests, attempt 1 of 3.

    <details><summary>Details</summary>
    ...
    ACK:worker:worker-1:1706123456789
    <!-- ack/3 epoch=4 nonce=... state=active ttl=1800 -->

    </details>

Before the first claim the two lines of the lock are missing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from itertools import pairwise

from shared.lock.codec import (
    FIRST_LINE,
    OPAQUE_SECONDS,
    Ack,
    AckState,
    ItemKey,
    TrailerFields,
    first_line,
    parse_foreign,
    parse_line,
    read_first_line,
    spell_line,
)
from shared.lock.format_1 import ack_of_trailer, read_format_1
from shared.models import Comment
from shared.text import comment_signatures
from shared.text.comment_signatures import CommentSignatures, Keyring
from shared.workflow import Role

MARK, VERSION = "engine-status", 2

MOST_CHARACTERS = 60_000
"""Characters of the longest comment (GitHub refuses more than 65,536); a longer one loses its folded part."""

SAID_CHARACTERS = 20_000
"""Characters of the visible part that are kept if the whole is too long."""

_OPEN, _CLOSE = "<details><summary>Details</summary><!-- folded -->", "</details>"
_BEFORE_FOLDED, _BEFORE_LOCK = f"\n\n{_OPEN}\n\n", "\n\n<!-- lock -->\n"

_ADVICE = "Editing or deleting this comment stops the agent that is at work."

_HEAD = re.compile(
    rf"<!-- {MARK}/{VERSION} kind=(planner|worker|reviewer) n=([0-9]{{1,19}}) rev=([0-9]{{1,9}}) "
    r"sum=([0-9a-f]{16}) mac=\S* -->"
)
_NEWER = re.compile(rf"<!-- {MARK}/([1-9][0-9]{{0,3}}) kind=(planner|worker|reviewer)(?: [^<>]*)? -->")
_LOCK = re.compile(rf"{FIRST_LINE.pattern}\n(<!-- ack/[^\n]* -->)\n\n{_CLOSE}")


@dataclass(frozen=True, slots=True)
class Words:
    """An agent's text besides the lock's own sentence: a part for everybody, and a part that readers have to unfold.

    `doing` ends the lock's own sentence ("writing the tests, attempt 1 of 3") until something else is told.
    """

    text: str = ""
    details: str = ""
    doing: str = ""


NO_WORDS = Words()
"""No text besides the lock's."""


@dataclass(frozen=True, slots=True)
class Layout:
    """One comment taken apart. `first` is its `ACK:` line, `line` the one below; both empty before the first claim.

    `lead` is the lock's own sentence, a paragraph before `words.said`; a body that is read has both in `words.said`.
    """

    kind: str
    number: int
    revision: int
    words: Words
    first: str = ""
    line: TrailerFields | None = None
    lead: str = ""


def spell(layout: Layout) -> str:
    """Return the body without its sum and its MAC; if it would be too long, without its folded part."""
    body = _spell(layout, layout.words)
    if len(body) > MOST_CHARACTERS:
        body = _spell(layout, Words(layout.words.text[:SAID_CHARACTERS]))
    return body


def _spell(layout: Layout, words: Words) -> str:
    said = "\n\n".join(filter(None, (layout.lead, _plain(words.text))))
    head = f"<!-- {MARK}/{VERSION} kind={layout.kind} n={layout.number} rev={layout.revision} sum= mac= -->"
    lock = ""
    if layout.line is not None:
        lock = f"{_BEFORE_LOCK}{_ADVICE}\n\n{layout.first}\n{spell_line(layout.line)}"
    return f"{head}\n{said}{_BEFORE_FOLDED}{_plain(words.details)}{lock}\n\n{_CLOSE}"


def _plain(text: str) -> str:
    """Remove the dividers of the comment from a text, also those that appear when another one was removed."""
    while _OPEN in text or _BEFORE_LOCK in text:
        text = text.replace(_OPEN, "").replace(_BEFORE_LOCK, "\n\n")
    return text.strip("\n")


def summed(body: str) -> str:
    """Return `body`, normalised, with the sum of all after its first line: without a key only the sum shows an edit."""
    text = normal(body)
    head, _, rest = text.partition("\n")
    return f"{head.replace(' sum= ', f' sum={_sum(rest)} ', 1)}\n{rest}"


def normal(body: str) -> str:
    """Return a body in the form in which GitHub and a MAC see it."""
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "\n".join(map(str.rstrip, lines)).strip("\n")


def parse(body: str) -> Layout | None:
    """Return the comment that a body spells; None if it spells none, or was edited."""
    text = normal(body)
    head, _, rest = text.partition("\n")
    found = _HEAD.fullmatch(head)
    if found is None or found[4] != _sum(rest) or not rest.endswith(f"\n\n{_CLOSE}"):
        return None
    said, _, below = rest.partition(_BEFORE_FOLDED)
    folded, lock, end = below.rpartition(_BEFORE_LOCK)
    if not lock:
        folded, end = below.removesuffix(_CLOSE), ""
    ack = _LOCK.fullmatch(end.partition("\n\n")[2]) if lock else None
    line = parse_line(ack[4]) if ack is not None else None
    if lock and (ack is None or line is None):
        return None
    first = "" if ack is None else f"ACK:{ack[1]}:{ack[2]}:{ack[3]}"
    words = Words(said.strip("\n"), folded.strip("\n"))
    return Layout(found[1], int(found[2]), int(found[3]), words, first, line)


def agent_text(body: str, kind: str) -> str | None:
    """Return an agent's text in a body, without the lock's own sentence, whoever wrote it; None in any other body."""
    made = parse(body)
    if made is None or made.kind != kind:
        return None
    lead, _, rest = made.words.text.partition("\n\n")
    at_work = made.line is not None and made.line.state == "active"
    return (rest or lead) if at_work else made.words.text


def is_newer(body: str) -> bool:
    """Return whether it is the comment of a newer engine, of which nothing else is known."""
    found = _NEWER.fullmatch(normal(body).partition("\n")[0])
    return found is not None and int(found[1]) > VERSION


def locks_of_newer(body: str) -> tuple[str, str] | None:
    """Return the `ACK:` line and the one below it in the comment of a newer engine."""
    lines = normal(body).split("\n")
    pairs = (pair for pair in pairwise(lines) if FIRST_LINE.fullmatch(pair[0]))
    return next((pair for pair in pairs if pair[1].startswith("<!-- ack/")), None)


def _sum(rest: str) -> str:
    return hashlib.sha256(rest.encode("utf-8", "surrogatepass")).hexdigest()[:16]


REMEMBERED = 64
"""Size of the cache of judged comments: the same ones are looked at over and over, and reading is pure."""


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
    made = Layout(ack.key.kind, ack.key.number, ack.revision, words, first, line, _lead(ack, words))
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
    made = parse(comment.body)
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
    ours = comment.author.id in accounts and mark is not None and (mark.name, mark.version) == (MARK, 1)
    if mark is None or not ours or mark.fields.get("kind") != key.kind:
        return NOTHING_SHOWN
    if keys.verify(f"status:{key.kind}", comment.number, comment.body) is not CommentSignatures.VALID:
        return NOTHING_SHOWN
    text = normal(comment.body).partition("\n")[2]
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
    made = parse(comment.body)
    if made is not None:
        return _of_layout(comment, made)
    if is_newer(comment.body):
        return _of_newer(comment)
    return read_format_1(comment)


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
        revision=made.revision,
        ttl_seconds=line.ttl_seconds,
        id=comment.id,
        updated_at=comment.updated_at,
        epoch=line.epoch,
    )


def _of_newer(comment: Comment) -> Ack | None:
    found = locks_of_newer(comment.body)
    first = read_first_line(found[0]) if found is not None else None
    if found is None or first is None:
        return None
    said = parse_foreign(found[1])
    return replace(ack_of_trailer(comment, first, said, comment.updated_at), shared=True)
