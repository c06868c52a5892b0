"""The conditional cache: this client's last readings, to be confirmed by a free 304.

Own instead of gidgethub's: keyed by URL and form, bounded, decoded anew for each reader, and a
rotated ETag on a 304 is taken over. Long lists are kept as the values made of them, not as text; text is kept packed.
"""

from __future__ import annotations

import json
import zlib
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

from shared.github.paging import NOTHING, Extent

MAX_ENTRIES = 2000
"""Most answers that are kept."""

MAX_BYTES = 16 * 2**20
"""Most bytes of answers that are kept, as they are kept."""

PACKED_BYTES = 1024
"""Bytes from which a body is kept packed: GitHub's JSON becomes a sixth of it, in less time than it takes to read."""

LARGEST_BYTES = 4 * 2**20
"""Most bytes of one answer; no more than half of all."""

ITEM_BYTES = 800
"""Bytes counted for a list's item that is kept as a value: measured for issues as `Issues.labelled` keeps them."""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """One answer. `next` is its next page as its Link header named it: a 304 carries none, so it may be old.

    `extent` is how much of a list it is. `items` are the values made of its body if it is kept as a list of
    values; they must not be changeable. `is_packed` is true if `body` is compressed. `read` is when it was read (wall
    clock, seconds).
    """

    etag: str
    body: bytes
    next: str | None = None
    items: tuple[Any, ...] = ()
    extent: Extent = NOTHING
    is_packed: bool = False
    read: float = 0.0

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.body) + ITEM_BYTES * len(self.items)

    def decode(self) -> Any:
        """Return the JSON value, a new one for each caller; None for an empty body."""
        text = zlib.decompress(self.body) if self.is_packed else self.body
        return json.loads(text) if text else None

    def packed(self) -> CachedAnswer:
        """Return the same answer in less memory."""
        if self.is_packed or len(self.body) < PACKED_BYTES:
            return self
        return replace(self, body=zlib.compress(self.body, 1), is_packed=True)


class Cache:
    """Answers by URL and form (a media type, or the name of a converter); the least recently used goes first."""

    def __init__(self, *, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._max_entries, self._max_bytes = max_entries, max_bytes
        self._entries: OrderedDict[tuple[str, str], CachedAnswer] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size(self) -> int:
        """Bytes of all answers kept."""
        return self._bytes

    def find(self, url: str, form: str) -> CachedAnswer | None:
        """Return the entry of a URL, and count that as its use."""
        entry = self._entries.get((url, form))
        if entry is not None:
            self._entries.move_to_end((url, form))
        return entry

    def keep(self, url: str, form: str, entry: CachedAnswer) -> None:
        """Remember an answer, unless it has no ETag or is too large."""
        self.forget(url, form)
        if not entry.etag or len(entry.body) > LARGEST_BYTES:
            return
        entry = entry.packed()
        if entry.size > min(LARGEST_BYTES, self._max_bytes // 2):
            return
        self._entries[url, form] = entry
        self._bytes += entry.size
        while len(self._entries) > self._max_entries or self._bytes > self._max_bytes:
            _, dropped = self._entries.popitem(last=False)
            self._bytes -= dropped.size

    def forget(self, url: str, form: str) -> None:
        """Drop an entry, so that the next read is a full one."""
        dropped = self._entries.pop((url, form), None)
        if dropped is not None:
            self._bytes -= dropped.size
