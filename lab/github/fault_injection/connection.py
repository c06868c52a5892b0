"""The connection under a request, broken on purpose: silent, cut off, or answered by hand."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

from aiohttp import web

_END_OF_HEAD = b"\r\n\r\n"


def hang_up(request: web.Request) -> None:
    """Break the connection now."""
    if request.transport is not None:
        request.transport.abort()


def mute(request: web.Request) -> None:
    """Let none of the further answer reach the client; git's answers are streamed while they are made."""
    _replace(request, _Muted(_transport(request)))


def cut(request: web.Request, after_bytes: int) -> None:
    """Reset the connection as soon as `after_bytes` of the answer's body have been sent."""
    _replace(request, _Cut(_transport(request), after_bytes))


@contextmanager
def unheard(request: web.Request) -> Iterator[None]:
    """Let a request be answered once more inside the block; its answer reaches nobody."""
    within: Any = request
    writer, within._payload_writer = within._payload_writer, _Void()
    try:
        yield
    finally:
        within._payload_writer = writer


async def hold(request: web.Request) -> None:
    """Read the body from the connection, and let it be read any number of times from now on."""
    within: Any = request
    within._payload = _Held(await request.content.read())
    within._cache.pop("content", None)


def speak(request: web.Request, answer: web.Response) -> None:
    """Answer a muted request after all, with something else, and end the connection."""
    body = answer.body if isinstance(answer.body, bytes) else b""
    headers = {**answer.headers, "Content-Length": str(len(body)), "Connection": "close"}
    head = [f"HTTP/1.1 {answer.status} {HTTPStatus(answer.status).phrase}", *(f"{k}: {v}" for k, v in headers.items())]
    muted = _transport(request)
    if isinstance(muted, _Muted):
        muted.transport.write("\r\n".join(head).encode("latin-1") + _END_OF_HEAD + body)
        muted.transport.close()


def _transport(request: web.Request) -> Any:
    return request.protocol.transport


def _replace(request: web.Request, transport: Any) -> None:
    """Replace the request's transport: aiohttp looks it up for each write."""
    protocol: Any = request.protocol
    protocol.transport = transport


class _Void:
    """A writer of answers that writes nowhere."""

    length: int | None = None
    output_size = 0
    buffer_size = 0

    async def write_headers(self, status_line: str, headers: Any) -> None:
        """Say nothing."""

    async def write(self, chunk: bytes) -> None:
        """Say nothing."""

    async def write_eof(self, chunk: bytes = b"") -> None:
        """Say nothing."""

    async def drain(self) -> None:
        """There is nothing to wait for."""

    def enable_chunking(self) -> None:
        """Nothing is sent, in chunks or not."""

    def send_headers(self) -> None:
        """Say nothing."""


class _Held:
    """A request's body that does not run dry."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    def set_exception(self, *_: object) -> None:
        """Ignore that the connection breaks later."""

    async def iter_chunked(self, size: int) -> AsyncIterator[bytes]:
        """The body, once more."""
        for start in range(0, len(self._body), size):
            yield self._body[start : start + size]


class _Muted:
    """A transport that swallows what is written."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport

    def write(self, data: bytes) -> None:
        """Say nothing."""

    def writelines(self, data: Iterable[bytes]) -> None:
        """Say nothing."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.transport, name)


class _Cut:
    """A transport that lets the head and some bytes of the body through and then resets the connection."""

    def __init__(self, transport: asyncio.Transport, after_bytes: int) -> None:
        self._transport = transport
        self._left = after_bytes
        self._head: bytes | None = b""

    def write(self, data: bytes) -> None:
        """Pass on what may pass."""
        body = bytes(data) if self._head is None else self._after_head(bytes(data))
        self._transport.write(body[: self._left])
        self._left -= len(body)
        if self._left < 0:
            self._reset()

    def writelines(self, data: Iterable[bytes]) -> None:
        """Pass on what may pass."""
        self.write(b"".join(data))

    def _after_head(self, data: bytes) -> bytes:
        """Send the head once it is whole; return what follows it."""
        head, end, body = ((self._head or b"") + data).partition(_END_OF_HEAD)
        if not end:
            self._head = head
            return b""
        self._head = None
        self._transport.write(head + end)
        return body

    def _reset(self) -> None:
        connection = self._transport.get_extra_info("socket")
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
