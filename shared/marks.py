"""How the engine recognises its own text: a hidden marker line and a MAC over the whole body.

The same account also posts text that a model wrote and text that a person wrote, so an author
filter alone proves nothing. Only a body that carries a valid MAC is the engine's.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from enum import StrEnum

UNSIGNED = "none"
"""What stands in place of a MAC when no key is configured."""

_MAC = re.compile(r"(?<= mac=)[A-Za-z0-9._-]*(?= -->)")
_MARK = re.compile(r"<!-- ([a-z-]+)/(\d+)((?: [a-z0-9_]+=[^\s<>]*)*) -->")


class Authenticity(StrEnum):
    """What a body's MAC says."""

    VALID = "valid"
    INVALID = "invalid"
    UNKNOWN_KEY = "unknown key"


@dataclass(frozen=True, slots=True)
class Key:
    """One shared secret; `id` stands in every MAC so that keys can be rotated."""

    id: str
    secret: bytes

    @classmethod
    def of(cls, secret: bytes) -> Key:
        """A key whose id is derived from its secret (8 hex digits)."""
        return cls(hashlib.sha256(b"key-id:" + secret).hexdigest()[:8], secret)


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys of one repository; the first signs, all verify. Without keys, markers alone count."""

    repository_id: int
    keys: tuple[Key, ...] = ()

    def sign(self, purpose: str, number: int, body: str) -> str:
        """`body` with the ` mac=` of its first marker filled in."""
        body = _blank(body)
        mac = UNSIGNED if not self.keys else self._mac(self.keys[0], purpose, number, body)
        return _MAC.sub(mac, body, count=1)

    def verify(self, purpose: str, number: int, body: str) -> Authenticity:
        """Whether `body` is exactly what `sign` returned for this purpose, repository and number."""
        found = _MAC.search(body)
        if found is None:
            return Authenticity.INVALID
        if not self.keys:
            return Authenticity.VALID if found.group() == UNSIGNED else Authenticity.UNKNOWN_KEY
        key = next((k for k in self.keys if k.id == found.group().partition(".")[0]), None)
        if key is None:
            return Authenticity.UNKNOWN_KEY if "." in found.group() else Authenticity.INVALID
        expected = self._mac(key, purpose, number, _blank(body))
        return Authenticity.VALID if hmac.compare_digest(expected, found.group()) else Authenticity.INVALID

    def _mac(self, key: Key, purpose: str, number: int, blank_body: str) -> str:
        message = f"{purpose}\n{self.repository_id}\n{number}\n{blank_body}".encode("utf-8", "replace")
        return f"{key.id}.{hmac.new(key.secret, message, hashlib.sha256).hexdigest()[:32]}"


@dataclass(frozen=True, slots=True)
class Mark:
    """A parsed hidden marker, for example `<!-- engine-status/1 kind=worker n=42 mac=... -->`."""

    name: str
    version: int
    fields: dict[str, str]


def render(name: str, fields: dict[str, str], *, version: int = 1) -> str:
    """A marker line with an empty MAC, to be filled by `Keyring.sign`."""
    pairs = "".join(f" {key}={value}" for key, value in fields.items())
    return f"<!-- {name}/{version}{pairs} mac= -->"


def find(body: str) -> Mark | None:
    """The first marker of a body, or None."""
    found = _MARK.search(body)
    if found is None:
        return None
    pairs = (pair.partition("=") for pair in found.group(3).split())
    return Mark(found.group(1), int(found.group(2)), {key: value for key, _, value in pairs})


def _blank(body: str) -> str:
    lines = body.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return _MAC.sub("", "\n".join(line.rstrip() for line in lines).strip("\n"), count=1)
