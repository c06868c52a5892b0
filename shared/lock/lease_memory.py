"""What an agent keeps about an item while it works: it lives as long as the lease, so nothing of it is forgotten."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


class LeaseMemory:
    """The last value of each type that was kept."""

    def __init__(self) -> None:
        self._kept: dict[Any, Any] = {}

    def keep(self, value: T) -> T:
        """Remember a value, in place of an earlier one of its type."""
        self._kept[type(value)] = value
        return value

    def get(self, kind: type[T]) -> T | None:
        """The value of a type; None where none was kept."""
        kept: T | None = self._kept.get(kind)
        return kept

    def take(self, kind: type[T]) -> T | None:
        """The value of a type, which is used up with that."""
        kept: T | None = self._kept.pop(kind, None)
        return kept
