"""Records of the world: their ids and times, and by key their earlier versions, from which stale reads are answered."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from shared.clock import Clock

K = TypeVar("K", bound=Hashable)
R = TypeVar("R")

HISTORY_SECONDS = 3600.0
"""Seconds for which earlier versions are kept."""

FIRST_ID = 2**31 + 1
"""Ids start beyond 32 bits, as GitHub's comment ids do, so that a narrow integer shows at once."""


class Numbering:
    """One ascending id counter and the server's time."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.next_id = FIRST_ID

    def new_id(self) -> int:
        """An id above every id given before."""
        self.next_id += 1
        return self.next_id - 1

    def now(self) -> int:
        """Server time in whole seconds since the epoch: the resolution of GitHub's timestamps."""
        return int(self._clock.now())

    def precise(self) -> float:
        """Server time with its fraction."""
        return self._clock.now()


@dataclass(frozen=True, slots=True)
class Staleness:
    """Age of an answer: the state of `seconds` ago, without the newest `missing` records.

    `newest` records are there although older ones are `missing`.
    """

    seconds: float = 0.0
    missing: int = 0
    newest: int = 0


class VersionedRecords(Generic[K, R]):
    """Keeps the present record of each key, in the order of first arrival, and its earlier versions.

    `on_put` is called with each record that is put, and whether it is the first of its key.
    """

    def __init__(self, registrar: Numbering) -> None:
        self._registrar = registrar
        self._present: dict[K, R] = {}
        self._past: dict[K, list[tuple[float, R | None]]] = {}
        self.on_put: Callable[[R, bool], None] | None = None

    def __len__(self) -> int:
        return len(self._present)

    def __getitem__(self, key: K) -> R:
        return self._present[key]

    def get(self, key: K) -> R | None:
        """The present record, or None."""
        return self._present.get(key)

    def values(self) -> list[R]:
        """The present records."""
        return list(self._present.values())

    def put(self, key: K, record: R) -> R:
        """Add or replace the record of `key`."""
        new = key not in self._present
        self._present[key] = record
        self._remember(key, record)
        if self.on_put is not None:
            self.on_put(record, new)
        return record

    def change(self, key: K, **changes: Any) -> R:
        """Replace some fields of the record of `key`."""
        present: Any = self._present[key]
        return self.put(key, replace(present, **changes))

    def remove(self, key: K) -> None:
        """Take the record of `key` away."""
        del self._present[key]
        self._remember(key, None)

    def seen(self, stale: Staleness | None, keep: Callable[[R], bool]) -> list[R]:
        """The records for which `keep` holds, as a reader of this staleness sees them."""
        records = self.values() if stale is None or not stale.seconds else self._as_of(stale.seconds)
        kept = [record for record in records if keep(record)]
        if stale is None or not stale.missing:
            return kept
        shown = max(0, len(kept) - stale.newest)
        return kept[: max(0, shown - stale.missing)] + kept[shown:]

    def _as_of(self, seconds: float) -> list[R]:
        moment = self._registrar.precise() - seconds
        found = (self._at(versions, moment) for versions in self._past.values())
        return [record for record in found if record is not None]

    @staticmethod
    def _at(versions: list[tuple[float, R | None]], moment: float) -> R | None:
        index = bisect_right(versions, moment, key=lambda version: version[0])
        return versions[index - 1][1] if index else None

    def _remember(self, key: K, record: R | None) -> None:
        now = self._registrar.precise()
        versions = self._past.setdefault(key, [])
        versions.append((now, record))
        while len(versions) > 1 and versions[1][0] < now - HISTORY_SECONDS:
            del versions[0]
