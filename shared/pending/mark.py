"""The last line of an issue about a pending test: hidden, signed, and bound to the text above it (pure).

A person may edit the text and approve it again; the line still names the same test.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

from shared.text import comment_signatures, digest, normalised
from shared.text.comment_signatures import CommentSignatures, Keyring
from shared.text.markdown import unticked

NAME = "engine-pending"
_PURPOSE = "pending"
_LINE = re.compile(rf"^<!-- {NAME}/1 .* -->[ \t]*$", re.MULTILINE)

TITLE = "[TDD] Implement "
"""Prefix of the title of such an issue; the test's id follows."""


@dataclass(frozen=True, slots=True)
class PendingMark:
    """`test` as `Marked.test`, found on commit `base`; `edited` is True if the text differs from the engine's.

    `signed` is True if one of our keys signed the line; without keys it is False, and trust depends on the author.
    """

    test: str
    base: str
    edited: bool
    signed: bool


def write(content: str, test: str, base: str, keys: Keyring) -> str:
    """Return `content` with the mark line below it."""
    content = normalised(keys.outgoing.text(content))
    fields = {"test": quote(test, safe="/:.,_-[]()"), "base": base, "body": digest(content)}
    return f"{content}\n\n{keys.sign(_PURPOSE, 0, comment_signatures.render(NAME, fields))}"


def read(body: str, keys: Keyring) -> PendingMark | None:
    """Parse the mark line; None if there is none, more than one, or one that none of our keys has signed."""
    lines = _LINE.findall(body.replace("\r\n", "\n"))
    if len(lines) != 1:
        return None
    line = lines[0].strip()
    mark = comment_signatures.find(line)
    if mark is None or mark.name != NAME or keys.verify(_PURPOSE, 0, line) is not CommentSignatures.VALID:
        return None
    test, base = unquote(mark.fields.get("test", "")), mark.fields.get("base", "")
    content, _, below = body.replace("\r\n", "\n").rpartition(line)
    content = normalised(content)
    edited = bool(below.strip()) or mark.fields.get("body") not in {digest(content), digest(unticked(content))}
    return PendingMark(test, base, edited, signed=bool(keys.keys)) if test else None


def is_pending(body: str) -> bool:
    """Return whether a body has the mark line of an issue about a pending test, whoever wrote it."""
    return _LINE.search(body.replace("\r\n", "\n")) is not None
