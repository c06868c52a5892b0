"""What signals do to a process: the first one stops it in order, a second one ends it."""

from __future__ import annotations

import os
import signal

import anyio
import structlog

log = structlog.get_logger()


async def cancel_on_signal(scope: anyio.CancelScope, seen: list[int]) -> None:
    """The first TERM or INT is noted in `seen` and cancels `scope`; a second one ends the process at once."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as received:
        async for number in received:
            if seen:
                os._exit(128 + number)
            log.info("stopping", signal=int(number))
            seen.append(int(number))
            scope.cancel()
