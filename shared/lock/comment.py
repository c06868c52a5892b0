"""The one comment of a kind of agent on a thread: for people first, the rest folded, the lock last (pure).

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
from dataclasses import dataclass
from itertools import pairwise

from shared.lock.trailer import TrailerFields, parse_line, spell_line

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
_FIRST_LINE = re.compile(r"ACK:(planner|worker|reviewer):([a-z0-9-]{1,64}):([0-9]{13})")
_LOCK = re.compile(rf"{_FIRST_LINE.pattern}\n(<!-- ack/[^\n]* -->)\n\n{_CLOSE}")


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


def first_line(kind: str, agent: str, millis: int) -> str:
    """Return the `ACK:` line; raises `ValueError` for one that nobody could read back."""
    text = f"ACK:{kind}:{agent}:{millis:013d}"
    if not _FIRST_LINE.fullmatch(text):
        raise ValueError(f"no ACK can begin with {text!r}")
    return text


def read_first_line(text: str) -> tuple[str, str, int] | None:
    """Return kind, agent and milliseconds of an `ACK:` line; None for any other line."""
    found = _FIRST_LINE.fullmatch(text)
    return None if found is None else (found[1], found[2], int(found[3]))


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
    return "\n".join(line.rstrip() for line in lines).strip("\n")


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
    pairs = (pair for pair in pairwise(lines) if _FIRST_LINE.fullmatch(pair[0]))
    return next((pair for pair in pairs if pair[1].startswith("<!-- ack/")), None)


def _sum(rest: str) -> str:
    return hashlib.sha256(rest.encode("utf-8", "surrogatepass")).hexdigest()[:16]
