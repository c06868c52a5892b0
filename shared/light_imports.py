"""Imports that take little: libraries without optional dependencies that no agent uses, no search for garbage."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

LEFT_OUT = ("rich", "greenlet")
"""Optional dependencies of structlog: for tracebacks in colour, and for greenlets, which no agent has."""


def load_structlog() -> None:
    """Import structlog without `LEFT_OUT`, before any other import of it: saves 7 % of a start and 5 MiB.

    Later imports of those two find them."""
    if "structlog" in sys.modules:
        return
    with standing_in(dict.fromkeys(LEFT_OUT)):
        import structlog  # noqa: F401


@contextmanager
def without_collections() -> Iterator[None]:
    """Inside the block, look for no garbage, and never again in what is there at its end: nearly all of it stays.

    Around the imports of an agent it saves a quarter of the start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


@contextmanager
def standing_in(modules: dict[str, ModuleType | None]) -> Iterator[None]:
    """Inside the block, make imports of these names find the given modules; None means that there is no such module.

    Modules that are already loaded stay as they are. After the block, imports find the real ones.
    """
    names = [name for name in modules if name not in sys.modules]
    for name in names:
        sys.modules[name] = modules[name]  # type: ignore[assignment]  # None is the documented way to say so
    try:
        yield
    finally:
        for name in names:
            del sys.modules[name]
