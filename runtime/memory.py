"""The memory of a daemon's process: how the C library and the collector of cycles keep it, and what goes back.

A life is many short phases with large texts between small things that stay. Left alone, the C library keeps the room
between these for good, in a heap for each thread, and the collector waits until garbage is a quarter of the program.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any

from shared.clock import Clock

EVERY_SECONDS = 30.0
"""Seconds between two returns of free memory to the system; one takes less than a millisecond."""

LARGE_BYTES = 128 * 2**10
"""Bytes from which a block is a mapping of its own, which goes back when it is freed.

The C library begins with the same value, but raises it up to 32 MiB as soon as such a block is freed.
"""

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Parameters of mallopt(3)."""


C_LIBRARY = ctypes.CDLL(None)


def settle(library: Any = C_LIBRARY) -> None:
    """Set how memory is kept from now on, before other threads exist; what is loaded is left out of collections."""
    if hasattr(library, "mallopt"):  # glibc; other libraries have nothing like it, and need it less
        for parameter, value in ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, LARGE_BYTES), (_TRIM_THRESHOLD, LARGE_BYTES)):
            library.mallopt(parameter, value)
    gc.freeze()  # without a collection before, which takes 40 ms of the start and finds next to nothing
    gc.collect()  # counts what is left, a quarter of which is from now on the most garbage


def give_back(library: Any = C_LIBRARY) -> None:
    """Return free memory to the system, also from between blocks that are in use."""
    if hasattr(library, "malloc_trim"):
        library.malloc_trim(ctypes.c_size_t(0))


async def keep_small(clock: Clock) -> None:
    """Return free memory every now and then, until cancelled."""
    while True:
        await clock.sleep(EVERY_SECONDS)
        give_back()
