"""Redaction of secrets: exact values and their encodings, and what looks like a credential (pure)."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote, quote_plus

REDACTED = "***"
"""What stands in place of a secret."""

FRAGMENT = 12
"""Characters of a secret in a row that already give it away: a few cut off would defeat a scanner."""

_SHORTEST = 4
"""Values below this length are no secrets; replacing them would shred ordinary text."""

_SHORTEST_ENCODED = 8

_PATTERNS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"gh[pousr]_[A-Za-z0-9]{36,}",
        r"github_pat_[A-Za-z0-9_]{60,}",
        r"(?<![A-Za-z0-9])sk-ant-[A-Za-z0-9_-]{16,}",
        r"(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_-]{16,}",
        r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{32,}",
        r"(?<![A-Z0-9])A(?:KIA|SIA)[A-Z0-9]{16}",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
        r"(?<=://)[^\s/@?#\"'<>]+(?=@)",
    )
)


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` with every secret and everything that looks like a credential replaced by `***`.

    A secret is found as it is, reversed, in base64 (at any alignment, either alphabet), hex,
    percent and JSON escapes, and in any 12 characters of it in a row. Redact whole texts: a secret
    that is split over two calls is not seen. Redact before `neutralise`, which adds characters.
    """
    spans = sorted(
        span for secret in secrets for needle in _needles(secret.strip()) for span in _occurrences(text, needle)
    )
    text = _cover(text, spans)
    for pattern in _PATTERNS:
        text = pattern.sub(REDACTED, text)
    return text


def _occurrences(text: str, needle: str) -> Iterator[tuple[int, int]]:
    at = text.find(needle)
    while at >= 0:
        yield at, at + len(needle)
        at = text.find(needle, at + 1)


def _cover(text: str, spans: list[tuple[int, int]]) -> str:
    parts: list[str] = []
    done = 0
    for start, end in spans:
        if start > done or not parts:
            parts += [text[done:start], REDACTED]
        done = max(done, end)
    return "".join([*parts, text[done:]])


@lru_cache(maxsize=64)
def _needles(secret: str) -> tuple[str, ...]:
    if len(secret) < _SHORTEST:
        return ()
    found = {secret, secret[::-1]}
    if len(secret) >= _SHORTEST_ENCODED:
        raw = secret.encode("utf-8", "replace")
        found |= {raw.hex(), raw.hex().upper(), *_base64(raw)}
        found |= {quote(raw, safe=""), quote(raw), quote_plus(raw), json.dumps(secret)[1:-1]}
    found |= {secret[at : at + FRAGMENT] for at in range(len(secret) - FRAGMENT + 1)}
    return tuple(sorted(found))


def _base64(raw: bytes) -> Iterator[str]:
    """The characters that `raw` alone decides, wherever it starts in a longer encoded text."""
    for offset in range(3):
        encoded = b64encode(bytes(offset) + raw).decode()
        core = encoded[-(-offset * 8 // 6) : (offset + len(raw)) * 8 // 6]
        yield core
        yield core.translate(str.maketrans("+/", "-_"))
