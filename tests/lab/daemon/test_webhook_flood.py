"""The webhook under a flood from strangers: they exhaust neither memory nor connections nor the log."""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import anyio
import pytest
from anyio.abc import SocketStream
from fakes.clock import HandClock
from structlog.testing import capture_logs
from webhook_scene import PUSH, SECRET

from runtime.daemon.webhook import MOST_BODIES, MOST_BYTES, MOST_CONNECTIONS, TOLD_SECONDS, Refusals, Webhook

FORGED = "sha256=" + "0" * 64
BROKEN = b"POST /webhook HTTP/1.1\r\nno header\r\n\r\n"

LATE = 8.0
"""Seconds: what does not come in this time never comes; less than the webhook's patience."""


def head(length: int | None, signature: str = FORGED) -> bytes:
    lines = ["POST /webhook HTTP/1.1", "Host: x", f"X-Hub-Signature-256: {signature}"]
    lines += ["Transfer-Encoding: chunked"] if length is None else [f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


async def status(port: int, sent: bytes) -> int:
    """Send these bytes and return the status of the answer, even if the head promised more bytes."""
    async with await anyio.connect_tcp("127.0.0.1", port) as stream:
        await stream.send(sent)
        return await _status(stream)


async def _status(stream: SocketStream) -> int:
    with anyio.fail_after(LATE):
        return int((await stream.receive()).split()[1])


async def delivered(port: int) -> int:
    """Send a signed delivery, again while there is no room for it, and return the answer's status."""
    signature = f"sha256={hmac.new(SECRET, PUSH, hashlib.sha256).hexdigest()}"
    with anyio.fail_after(LATE):
        while True:
            try:
                answer = await status(port, head(len(PUSH), signature) + PUSH)
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                continue
            if answer != 503:
                return answer


@asynccontextmanager
async def webhook(**more: float) -> AsyncIterator[int]:
    async with Webhook(SECRET, lambda name: True, HandClock(), **more).served("127.0.0.1", 0) as port:
        yield port


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (head(MOST_BYTES, "none"), 401),
        (head(MOST_BYTES, FORGED.upper()), 401),
        (head(MOST_BYTES, FORGED + "0"), 401),
        (head(None), 411),
        (head(MOST_BYTES + 1), 413),
    ],
)
async def test_what_can_be_refused_by_its_head_is_not_read(sent: bytes, answer: int) -> None:
    async with webhook() as port:
        assert await status(port, sent) == answer
        assert await delivered(port) == 202


async def test_of_sixty_bodies_that_never_end_four_are_read(caplog: pytest.LogCaptureFixture) -> None:
    refused: list[int] = []
    enough = anyio.Event()

    async def half(port: int) -> None:
        async with await anyio.connect_tcp("127.0.0.1", port) as stream:
            await stream.send(head(MOST_BYTES) + b"a" * 1000)
            refused.append(await _status(stream))
            if len(refused) == 60 - MOST_BODIES:
                enough.set()
            await anyio.sleep_forever()

    with caplog.at_level(logging.INFO, "aiohttp"):
        async with webhook() as port, anyio.create_task_group() as group:
            for _ in range(60):
                group.start_soon(half, port)
            await enough.wait()
            assert refused == [503] * (60 - MOST_BODIES)
            group.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                assert await delivered(port) == 202, "those that broke off have left their places"
    assert not caplog.records, "a connection that breaks is no fault of ours"


async def test_a_body_that_does_not_come_gives_its_place_back() -> None:
    async with webhook(patience_seconds=0.1) as port:
        async with AsyncExitStack() as stack:
            opened = [await anyio.connect_tcp("127.0.0.1", port) for _ in range(MOST_BODIES)]
            for stream in opened:
                await stack.enter_async_context(stream)
                await stream.send(head(10))
            assert [await _status(stream) for stream in opened] == [408] * MOST_BODIES
        assert await delivered(port) == 202


@pytest.mark.parametrize("said", [b"", b"POST /webhook HTTP/1.1\r\nHost: x\r\n"])
async def test_who_says_nothing_or_half_a_head_is_shut(said: bytes) -> None:
    async with webhook(patience_seconds=0.1) as port, await anyio.connect_tcp("127.0.0.1", port) as stream:
        if said:
            await stream.send(said)
        with pytest.raises(anyio.EndOfStream), anyio.fail_after(LATE):
            await stream.receive()


async def test_more_connections_than_there_may_be_are_shut() -> None:
    async with webhook() as port:
        async with AsyncExitStack() as stack:
            for _ in range(MOST_CONNECTIONS):
                await stack.enter_async_context(await anyio.connect_tcp("127.0.0.1", port))
            with pytest.raises((anyio.EndOfStream, anyio.BrokenResourceError)):
                await status(port, head(0))
        assert await delivered(port) == 202


async def test_a_hundred_refusals_are_two_lines(caplog: pytest.LogCaptureFixture) -> None:
    with capture_logs() as lines, caplog.at_level(logging.INFO, "aiohttp"):
        async with webhook() as port:
            for number in range(100):
                assert await status(port, BROKEN if number % 2 else head(0)) in (400, 401)
    told = [line for line in lines if line["event"] == "webhook_refused"]
    assert [line["count"] for line in told] == [1, 99]
    assert not caplog.records


def test_refusals_are_told_again_after_a_while() -> None:
    clock = HandClock()
    refusals = Refusals(clock)
    with capture_logs() as lines:
        for seconds in (0.0, 1.0, TOLD_SECONDS - 1.0, 1.0):
            clock.seconds += seconds
            refusals.add(f"after {seconds}")
        refusals.tell()
    assert [(line["count"], line["reason"]) for line in lines] == [
        (1, "after 0.0"),
        (2, "after 59.0"),
        (1, "after 1.0"),
    ]
