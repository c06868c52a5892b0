"""Signs of life of a task that waits until GitHub's limits allow its next read or write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_hears: ContextVar[Callable[[], None] | None] = ContextVar("paced", default=None)


@contextmanager
def reporting_waits(waits: Callable[[], None]) -> Iterator[None]:
    """Call `waits` during the block at each look of a waiting read or write of this task: the task does not hang."""
    token = _hears.set(waits)
    try:
        yield
    finally:
        _hears.reset(token)


def report_wait() -> None:
    """Tell of one look of a read or write that waits, if somebody hears it."""
    if (waits := _hears.get()) is not None:
        waits()
