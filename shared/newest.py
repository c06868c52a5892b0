"""A dictionary with a bound, for what a process that lives for months remembers of items, commits and texts (pure).

What it drops has to be found again, or told again, by other means: nothing may be decided by an absent key.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")

MOST = 1000
"""The most entries that are kept of what is a number or a short text for each item."""


class Newest(OrderedDict[K, V]):
    """A dictionary that keeps the entries that were set last."""

    def __init__(self, most: int = MOST) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Set an entry, as the newest; the oldest ones above the bound go."""
        super().__setitem__(key, value)
        self.move_to_end(key)
        while len(self) > self._most:
            self.popitem(last=False)
