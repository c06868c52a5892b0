"""Finds secrets in bytes, in every form that the suite knows; it shares no code with the engine's own redaction."""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

CUT = 7
"""Characters: a secret without so many at one end still counts as leaked."""

DEPTH = 3
"""Layers of packed bytes that are unpacked."""


def _base64(raw: bytes, offset: int) -> bytes:
    """Return the characters that depend only on `raw` when `offset` bytes are before it."""
    encoded = base64.b64encode(bytes(offset) + raw)
    return encoded[-(-offset * 8 // 6) : (offset + len(raw)) * 8 // 6]


FORMS: Mapping[str, Callable[[bytes], bytes]] = {
    "plain": lambda raw: raw,
    "reversed": lambda raw: raw[::-1],
    "without its beginning": lambda raw: raw[CUT:],
    "without its end": lambda raw: raw[:-CUT],
    **{f"base64 at offset {offset}": lambda raw, at=offset: _base64(raw, at) for offset in range(3)},  # type: ignore[misc]
    "hex": lambda raw: raw.hex().encode(),
    "hex in capitals": lambda raw: raw.hex().upper().encode(),
    "URL": lambda raw: "".join(f"%{byte:02X}" for byte in raw).encode(),
    "JSON": lambda raw: "".join(f"\\u{byte:04x}" for byte in raw).encode(),
    "UTF-16": lambda raw: raw.decode("ascii").encode("utf-16-le"),
}
"""Encodings of a secret, by name."""

_GZIP, _ZLIB = b"\x1f\x8b\x08", (b"x\x01", b"x\x9c", b"x\xda")
_CODED = re.compile(rb"[A-Za-z0-9+/_-]{40,}={0,2}")


@dataclass(frozen=True)
class Detector:
    """`secrets` maps what people call each to its value, which is ASCII and has at least 20 characters."""

    secrets: Mapping[str, str]
    _known: dict[bytes, frozenset[str]] = field(default_factory=dict)

    @cached_property
    def needles(self) -> tuple[tuple[str, bytes], ...]:
        """The byte strings to look for, each with its secret's name and its form."""
        made = {}
        for name, value in self.secrets.items():
            for form, write in FORMS.items():
                made[write(value.encode("ascii"))] = f"{name} ({form})"
        return tuple((name, needle) for needle, name in made.items())

    def found(self, data: bytes) -> frozenset[str]:
        """Return the secrets found in `data`, also packed or with broken lines; empty if there are none."""
        return frozenset(name for text in _readings(data, DEPTH) for name, needle in self.needles if needle in text)


def _readings(data: bytes, depth: int) -> Iterator[bytes]:
    """Yield the bytes as they are, without white space, and everything that is packed in them."""
    yield data
    yield b"".join(data.split())
    if depth:
        for inner in (*_unpacked(data), *_decoded(data)):
            yield from _readings(inner, depth - 1)


def _unpacked(data: bytes) -> Iterator[bytes]:
    for magic, bits in ((_GZIP, 31), *((mark, 15) for mark in _ZLIB)):
        at = data.find(magic)
        while at >= 0:
            with suppress(zlib.error):  # chance may have put these bytes there
                yield zlib.decompressobj(bits).decompress(data[at:])
            at = data.find(magic, at + 1)


def _decoded(data: bytes) -> Iterator[bytes]:
    """Yield packed bytes that were encoded in base64; the three alignments of a secret itself are forms."""
    for match in _CODED.finditer(data):
        text = match[0].rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
        raw = base64.b64decode(text + b"A" * (-len(text) % 4), validate=False)
        if raw.startswith((_GZIP, *_ZLIB)):
            yield raw


PACKED: Mapping[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "gzip in the middle": lambda raw: b"head" + gzip.compress(raw),
    "gzip in base64": lambda raw: b"see " + base64.b64encode(gzip.compress(raw)) + b"\n",
    "zlib": zlib.compress,
    "broken over lines": lambda raw: b"\n  ".join(raw[at : at + 9] for at in range(0, len(raw), 9)),
    "a JSON file": lambda raw: json.dumps({"text": raw.decode("latin-1")}).encode(),
}
"""Packings of data that holds a secret, by name."""
