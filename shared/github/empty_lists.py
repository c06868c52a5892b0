"""The lists that the answer to a write of our own has just shown to be empty."""

from __future__ import annotations

from collections.abc import Callable

SECONDS = 5.0
"""Seconds for which such an answer is as good as a reading that comes right after it."""

MOST = 100
"""Most lists remembered."""


class EmptyLists:
    """The empty lists that one client was shown, by their paths."""

    def __init__(self, boot: Callable[[], float]) -> None:
        """`boot` is the boot clock in seconds."""
        self._boot = boot
        self._shown: dict[str, float] = {}

    def note(self, path: str, count: int) -> None:
        """Note how many entries a list has now."""
        self._shown.pop(path.casefold(), None)
        if not count:
            self._shown[path.casefold()] = self._boot()
            if len(self._shown) > MOST:
                del self._shown[next(iter(self._shown))]

    def include(self, path: str) -> bool:
        """Return whether a list was shown to be empty just now."""
        at = self._shown.get(path.casefold())
        return at is not None and self._boot() - at < SECONDS
