"""Facts about code that was seen before: most of a file is the same on both sides of a change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Generic, TypeVar

from tree_sitter import Node

from worker_agent.tdd.syntax.source import Source

T = TypeVar("T")


class SeenCode(Generic[T]):
    """Results of `find` for pieces of code, by their hashes; forgotten once there are `most`. For all threads."""

    def __init__(self, find: Callable[[Source, Node], T], *, most: int) -> None:
        self._find, self._most = find, most
        self._known: dict[bytes, T] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, source: Source, node: Node) -> T:
        """Return the fact about a piece of code, which depends on its text, its language and its kind alone."""
        kind = f"{source.language}\0{node.type}\0".encode()
        key = hashlib.blake2b(kind + source.content[node.start_byte : node.end_byte], digest_size=16).digest()
        known = self._known.get(key)
        if known is not None:
            return known
        found = self._find(source, node)
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[key] = found
        return found
