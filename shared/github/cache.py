"""The conditional cache: what this client last read, to be confirmed by a free 304.

Own instead of gidgethub's: keyed by URL and Accept, bounded, decoded anew for each reader, and a
rotated ETag on a 304 is taken over.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

MAX_ENTRIES = 1000
"""How many answers are kept."""

MAX_BYTES = 16 * 2**20
"""How many bytes of bodies are kept; one body may take a quarter of it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One answer. `next` is its next page: a 304 carries no Link header."""

    etag: str
    body: bytes
    next: str | None = None

    def decode(self) -> Any:
        """The JSON value, a new one for each caller; None for an empty body."""
        return json.loads(self.body) if self.body else None


class Cache:
    """Answers by (URL, Accept); the least recently used goes first."""

    def __init__(self, *, max_entries: int = MAX_ENTRIES, max_bytes: int = MAX_BYTES) -> None:
        self._max_entries, self._max_bytes = max_entries, max_bytes
        self._entries: OrderedDict[tuple[str, str], Entry] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size(self) -> int:
        """Bytes of all bodies kept."""
        return self._bytes

    def find(self, url: str, accept: str) -> Entry | None:
        """The entry of a URL, which counts as its use."""
        entry = self._entries.get((url, accept))
        if entry is not None:
            self._entries.move_to_end((url, accept))
        return entry

    def keep(self, url: str, accept: str, entry: Entry) -> None:
        """Remember an answer, unless it has no ETag or is too large."""
        self.forget(url, accept)
        if not entry.etag or len(entry.body) > self._max_bytes // 4:
            return
        self._entries[url, accept] = entry
        self._bytes += len(entry.body)
        while len(self._entries) > self._max_entries or self._bytes > self._max_bytes:
            _, dropped = self._entries.popitem(last=False)
            self._bytes -= len(dropped.body)

    def forget(self, url: str, accept: str) -> None:
        """Drop an entry, so that the next read is a full one."""
        dropped = self._entries.pop((url, accept), None)
        if dropped is not None:
            self._bytes -= len(dropped.body)
