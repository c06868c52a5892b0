"""Waiting for what other processes do, while the lab in this one goes on serving."""

from __future__ import annotations

from collections.abc import Callable

import anyio
from anyio import to_thread


async def until(holds: Callable[[], bool], failed: Callable[[], str], seconds: float = 90) -> None:
    """Return when `holds` does, asked again and again in a thread; else AssertionError with what `failed` says."""
    with anyio.move_on_after(seconds):
        while True:
            if await to_thread.run_sync(holds):
                return
            await anyio.sleep(0.25)
    raise AssertionError(failed())
