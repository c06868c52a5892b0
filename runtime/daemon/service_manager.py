"""The service manager that started the process, as systemd: it is told over its socket how the agents are.

Ready, alive, what is being done, stopping: see sd_notify(3).
"""

from __future__ import annotations

import socket
from collections.abc import Callable

import anyio
import structlog

from config.environment import Notify
from shared.clock import Clock

log = structlog.get_logger()

STATUS_SECONDS = 5.0
"""Seconds between two looks at the sentence of `systemctl status`."""

EXTENSION_SECONDS = 60
"""Seconds by which the manager is asked, again and again, to wait longer while a start waits for GitHub."""


class ServiceManager:
    """The service manager; if there is none, everything here does nothing."""

    def __init__(self, notify: Notify, clock: Clock) -> None:
        self._notify, self._clock = notify, clock
        self._ready = False
        self._said = ""
        self._deaf = False

    def ready(self) -> None:
        """Report that everything that is to run runs."""
        if not self._ready:
            self._ready = True
            self._send("READY=1")

    def reloading(self) -> None:
        """Report that a new configuration is being read; that ends with `ready`, whatever came of it."""
        self._ready = False
        self._send(f"RELOADING=1\nMONOTONIC_USEC={int(anyio.current_time() * 1_000_000)}")

    def stopping(self) -> None:
        """Report that the process is about to end."""
        self._send("STOPPING=1\nSTATUS=stopping")

    async def attend(self, status: Callable[[], str], stuck: Callable[[], str]) -> None:
        """Give signs of life until cancelled; none while `stuck` returns a sentence, so that it is started again."""
        if not self._notify.address:
            return
        every = min(STATUS_SECONDS, self._notify.watchdog_seconds / 3 or STATUS_SECONDS)
        while True:
            if not self._ready:
                self._send(f"EXTEND_TIMEOUT_USEC={EXTENSION_SECONDS * 1_000_000}")
            if self._notify.watchdog_seconds and not stuck():
                self._send("WATCHDOG=1")
            sentence = stuck() or status()
            if sentence != self._said:
                self._said = sentence
                self._send(f"STATUS={sentence.splitlines()[0] if sentence else ''}")
            await self._clock.sleep(every)

    def _send(self, message: str) -> None:
        address = self._notify.address
        if not address:
            return
        try:
            with socket.socket(
                socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
            ) as sender:
                sender.sendto(message.encode(), f"\0{address[1:]}" if address.startswith("@") else address)
        except OSError as error:  # a manager that cannot be told is no reason to fail
            if not self._deaf:
                log.warning("supervisor_not_told", error=str(error), message=message.partition("\n")[0])
            self._deaf = True
            return
        if self._deaf:
            log.info("supervisor_told_again", outcome="completed")
        self._deaf = False
