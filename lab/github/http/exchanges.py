"""Every API exchange as a value, told to whoever observes the lab."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

KEPT = 2000
"""Exchanges that the lab itself keeps; observers see all."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer. `template` is the operation's path, None when there is no such operation.

    `fault` names the planned fault that changed the answer, or is empty. `path` is decoded and
    `query` is raw. The status is what the lab answered, even if the connection was dropped instead.
    """

    method: str
    template: str | None
    path: str
    query: str
    request_headers: Mapping[str, str]
    request_body: bytes
    status: int
    response_headers: Mapping[str, str]
    response_body: bytes
    fault: str = ""


Observer = Callable[[Exchange], None]


class Exchanges:
    """The newest exchanges, and the observers of each."""

    def __init__(self) -> None:
        self._recent: deque[Exchange] = deque(maxlen=KEPT)
        self._observers: list[Observer] = []

    def __iter__(self) -> Iterator[Exchange]:
        return iter(list(self._recent))

    def __len__(self) -> int:
        return len(self._recent)

    def observe(self, observer: Observer) -> None:
        """Tell `observer` of every exchange from now on."""
        self._observers.append(observer)

    def add(self, exchange: Exchange) -> None:
        """Remember an exchange and tell the observers."""
        self._recent.append(exchange)
        for observer in self._observers:
            observer(exchange)
