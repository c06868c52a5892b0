"""Texts hidden in code in another form: by encodings, reversals and lists of characters (pure)."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import zlib
from collections.abc import Callable, Collection, Iterator

LEAST_CHARS = 8
"""The fewest characters of a text that is decoded; shorter ones can hide no answer."""

MOST_CHARS = 100_000
"""The most characters of a text that is decoded; longer ones are no table of answers."""

LEAST_CODES = 5
"""The fewest numbers in a list that are read as the characters of a text."""

_BYTES: tuple[tuple[re.Pattern[str], Callable[[str], bytes]], ...] = (
    (re.compile(r"(?:[0-9a-fA-F]{2}\s?)+"), bytes.fromhex),
    (re.compile(r"[A-Za-z0-9+/\s]+={0,2}"), lambda text: base64.b64decode(_pad(text))),
    (re.compile(r"[A-Za-z0-9_-]+={0,2}"), lambda text: base64.urlsafe_b64decode(_pad(text))),
    (re.compile(r"[A-Z2-7]+=*"), base64.b32decode),
    (re.compile(r"[!-~]+"), base64.b85decode),
    (re.compile(r"[!-~]+"), base64.a85decode),
)
"""Encodings of bytes, each with a pattern of the encoded text."""


def hidden(texts: Collection[str], numbers: Collection[str]) -> Iterator[str]:
    """Yield the readable texts hidden in `texts`, and in `numbers` (in the order of the code)."""
    for text in texts:
        if LEAST_CHARS <= len(text) <= MOST_CHARS:
            yield text[::-1]
            yield codecs.encode(text, "rot13")
            yield from _decodings(text)
    codes = [int(number) for number in numbers if re.fullmatch(r"0?[0-9]{2,3}", number) and 32 <= int(number) <= 126]
    if len(codes) >= LEAST_CODES:
        yield "".join(map(chr, codes))


def _decodings(text: str) -> Iterator[str]:
    text = text.strip()
    for form, decode in _BYTES:
        if form.fullmatch(text):
            try:
                found = decode(text)
            except (ValueError, binascii.Error):
                continue
            yield from filter(None, (_readable_text(found), _readable_text(_decompress(found))))


def _decompress(content: bytes) -> bytes:
    """Return the decompressed content, at most `MOST_CHARS` bytes of it; empty if it was not compressed."""
    for window in (zlib.MAX_WBITS, zlib.MAX_WBITS | 16, -zlib.MAX_WBITS):
        try:
            return zlib.decompressobj(window).decompress(content, MOST_CHARS)
        except zlib.error:
            continue
    return b""


def _readable_text(content: bytes) -> str:
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return ""
    return text if all(char.isprintable() or char.isspace() for char in text) else ""


def _pad(text: str) -> str:
    bare = "".join(text.split()).rstrip("=")
    return bare + "=" * (-len(bare) % 4)
