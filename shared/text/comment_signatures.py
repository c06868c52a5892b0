"""Signatures by which the engine recognises its own comments: a hidden marker line and a MAC over the whole body.

The same account also posts text that a model wrote and text that a person wrote, so an author
filter alone proves nothing. Only a body that carries a valid MAC is the engine's.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from shared.text import normalised

UNSIGNED = "none"
"""Placeholder for the MAC if no key is configured."""

_MARK = re.compile(r"<!-- ([a-z-]+)/([0-9]{1,4})((?: [a-z0-9_]+=[^\s<>]*)*?) mac=([A-Za-z0-9._-]*) -->")
"""A whole marker. One pattern finds, signs and verifies, so that all three mean the same marker."""

_UNSAFE = re.compile(r"[<>@#& ]")
"""Characters that would end a marker or one of its values, or be interpreted by GitHub."""


class CommentSignatures(StrEnum):
    """The result of checking a body's MAC."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN_KEY = "unknown key"


@dataclass(frozen=True, slots=True)
class Key:
    """One shared secret; `id` is part of every MAC so that keys can be rotated."""

    id: str
    secret: bytes = field(repr=False)

    @classmethod
    def of(cls, secret: bytes) -> Key:
        """Return a key whose id is derived from its secret (8 hex digits)."""
        return cls(hashlib.sha256(b"key-id:" + secret).hexdigest()[:8], secret)


class Gate(Protocol):
    """A filter for outgoing text: `text` for whole bodies, `hide` only removes secrets."""

    def text(self, text: str) -> str: ...

    def hide(self, text: str) -> str: ...


class _Open:
    """A filter that changes nothing, for code that only reads."""

    def text(self, text: str) -> str:
        return text

    hide = text


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys of one repository; the first signs, all verify. Without keys, markers alone count."""

    repository_id: int
    keys: tuple[Key, ...] = ()
    outgoing: Gate = field(default_factory=_Open, compare=False)
    """The filter for texts before they are signed, because later changes would break the MAC."""

    def sign(self, purpose: str, number: int, body: str) -> str:
        """Return `body` with the ` mac=` of its first marker filled in; raise `ValueError` if it has no marker.

        Other people's text above the marker has to be made harmless before.
        """
        body = _with_mac(self.outgoing.text(body), "")
        return _with_mac(body, self._mac(self.keys[0], purpose, number, body) if self.keys else UNSIGNED)

    def verify(self, purpose: str, number: int, body: str) -> CommentSignatures:
        """Check that `body` is exactly what `sign` returned for this purpose, repository and number."""
        mark = _MARK.search(body)
        if mark is None:
            return CommentSignatures.INVALID
        mac = mark[4]
        if not self.keys and mac == UNSIGNED:
            return CommentSignatures.VALID
        key = next((k for k in self.keys if k.id == mac.partition(".")[0]), None)
        if key is None:
            return CommentSignatures.UNKNOWN_KEY if "." in mac else CommentSignatures.INVALID
        expected = self._mac(key, purpose, number, _with_mac(body, ""))
        return CommentSignatures.VALID if hmac.compare_digest(expected, mac) else CommentSignatures.INVALID

    def refutes(self, purpose: str, number: int, body: str) -> bool:
        """Return whether `body` was changed after one of these keys signed it: a known key with a wrong MAC."""
        mark = _MARK.search(body)
        known = mark is not None and any(key.id == mark[4].partition(".")[0] for key in self.keys)
        return known and self.verify(purpose, number, body) is CommentSignatures.INVALID

    def _mac(self, key: Key, purpose: str, number: int, blank_body: str) -> str:
        message = f"{purpose}\n{self.repository_id}\n{number}\n{blank_body}".encode("utf-8", "surrogatepass")
        return f"{key.id}.{hmac.digest(key.secret, message, 'sha256').hex()[:32]}"


@dataclass(frozen=True, slots=True)
class Mark:
    """A parsed hidden marker, for example `<!-- engine-status/1 kind=worker n=42 mac=... -->`."""

    name: str
    version: int
    fields: dict[str, str]


def render(name: str, fields: dict[str, str], *, version: int = 1) -> str:
    """Return a marker line with an empty MAC, to be filled by `Keyring.sign`.

    Raises `ValueError` if a name or value could not be read back: values have no space, `<` or `>`.
    """
    marker = f"<!-- {name}/{version}{''.join(f' {key}={value}' for key, value in fields.items())} mac= -->"
    if find(marker) != Mark(name, version, {"mac": "", **fields}):
        raise ValueError(f"no marker can be written as {marker!r}")
    return marker


def spelled(content: object) -> str:
    """Return `content` as JSON that can be a value of a marker: forbidden characters are written as `\\u....`."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def find(body: str) -> Mark | None:
    """Return the first marker of a body, or None."""
    found = _MARK.search(body)
    if found is None:
        return None
    pairs = (pair.partition("=") for pair in found.group(3).split())
    fields = {key: value for key, _, value in pairs}
    return Mark(found.group(1), int(found.group(2)), {**fields, "mac": found.group(4)})


def _with_mac(body: str, mac: str) -> str:
    """Return `body`, normalised, with `mac` in its first marker."""
    body = normalised(body)
    found = _MARK.search(body)
    if found is None:
        raise ValueError("the text has no marker to sign")
    return body[: found.start(4)] + mac + body[found.end(4) :]
