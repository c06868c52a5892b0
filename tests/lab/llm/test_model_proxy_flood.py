"""A run that floods the proxy is refused, and neither the daemon nor another run feels it."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import BytesIO
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from model_proxy_scene import MESSAGES, Client, Desk, vendor

from lab.model.script import Script, Turn
from lab.model_server import ModelServer
from shared.llm.endpoint import Endpoint
from shared.llm.proxy import relay
from shared.llm.proxy import server as proxy_server
from shared.llm.proxy.relay import LARGEST_BODY, LARGEST_HELD, MOST_AT_ONCE
from shared.llm.proxy.server import BACKLOG, MOST_CONNECTIONS

FLOOD = 200
"""Connections: many more than a run may have, and few enough for a test's own descriptors."""

BODIES, BODY = 30, 8 * 2**20


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    """Yield a vendor that gives the same answer each time."""
    async with ModelServer(Script.of(Turn(say="Done."))) as running:
        yield running


def descriptors() -> int:
    """Return the number of file descriptors that this process has open."""
    gc.collect()
    return len([*Path("/proc/self/fd").iterdir()])


@contextmanager
def idle(path: Path | tuple[str, int], count: int) -> Iterator[list[socket.socket]]:
    """Open so many connections that send nothing."""
    with ExitStack() as stack:
        found = []
        for _ in range(count):
            one = stack.enter_context(socket.socket(socket.AF_UNIX if isinstance(path, Path) else socket.AF_INET))
            one.setblocking(False)
            found.append(one)
        yield found


async def connected(sockets: list[socket.socket], address: str | tuple[str, int]) -> None:
    """Connect them, as many at a time as the kernel keeps waiting."""
    loop = asyncio.get_running_loop()
    for at in range(0, len(sockets), BACKLOG // 2):
        await asyncio.gather(*(loop.sock_connect(one, address) for one in sockets[at : at + BACKLOG // 2]))
        await asyncio.sleep(0.01)


@pytest.fixture
def sockets(tmp_path: Path) -> Path:
    """Return a directory for sockets whose path is short."""
    return tmp_path / "s"


async def reached(client: Client, path: Path) -> int:
    """Send an honest request by the socket, and return the status."""
    async with aiohttp.ClientSession(connector=aiohttp.UnixConnector(str(path))) as session:
        inside = Client(Endpoint("http://127.0.0.1:1", client.endpoint.token), session)
        return (await inside.post("/v1/messages", MESSAGES))[0]


async def test_idle_connections_are_bounded_and_the_run_goes_on(server: ModelServer, sockets: Path) -> None:
    desk = Desk(server.url, sockets=sockets)
    async with desk.run() as client, desk.run(run="other") as other:
        path, neighbour = client.endpoint.socket, other.endpoint.socket
        assert path is not None
        assert neighbour is not None
        assert await reached(client, path) == 200
        before = descriptors()
        with idle(path, FLOOD) as flood:
            await connected(flood, str(path))
            held = descriptors() - before - FLOOD
            assert await reached(client, path) == 200, "whoever has the token gets in"
            assert await reached(other, neighbour) == 200, "another run does not feel it"
    assert 0 < held <= MOST_CONNECTIONS + BACKLOG


async def test_a_server_without_such_bounds_holds_them_all() -> None:
    app = web.Application()
    async with TestServer(app) as running:
        before = descriptors()
        address = (running.host, running.port or 0)
        with idle(address, FLOOD) as flood:
            await connected(flood, address)
            assert descriptors() - before - FLOOD >= FLOOD - BACKLOG


async def test_bodies_are_bounded_while_they_are_read(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    most = 0
    original = relay.Relay._refuse_unread

    def watched(self: relay.Relay, *args: object, **more: object) -> object:
        nonlocal most
        most = max(most, self._held)
        return original(self, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(relay.Relay, "_refuse_unread", watched)
    body = json.dumps({**MESSAGES, "system": "x" * BODY}).encode()
    async with Desk(server.url).run(budget=1e9) as client:
        url, headers = f"{client.endpoint.base_url}/v1/messages", {"x-api-key": client.endpoint.token}
        headers["content-type"] = "application/json"

        async def send() -> int:
            try:
                async with client.session.post(url, data=BytesIO(body), headers=headers) as answer:
                    return answer.status
            except (aiohttp.ClientError, ConnectionError):
                return 0

        statuses = await asyncio.gather(*(send() for _ in range(BODIES)))
        assert (await client.post("/v1/messages", MESSAGES))[0] == 200, "it stays up"
    assert most <= min(LARGEST_HELD, MOST_AT_ONCE * (BODY + 2**20))
    assert {200} < set(statuses) <= {200, 429, 0}
    assert statuses.count(200) < BODIES


async def test_a_body_is_not_read_before_the_token_is_known(server: ModelServer) -> None:
    async with Desk(server.url).run() as client:
        address = ("127.0.0.1", int((client.endpoint.base_url or "").rpartition(":")[2]))
        reader, writer = await asyncio.open_connection(*address)
        head = f"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: wrong\r\nContent-Length: {LARGEST_BODY}"
        writer.write(f"{head}\r\n\r\n".encode())
        await writer.drain()
        answer = await asyncio.wait_for(reader.readline(), 10)
        writer.close()
    assert b" 401 " in answer


@pytest.mark.parametrize(
    "head",
    [
        "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\n" + "".join(f"x-{n}: y\r\n" for n in range(5_000)),
        "POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nx-long: " + "y" * 2**20 + "\r\n",
        "POST /" + "y" * 2**20 + " HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    ],
    ids=["many", "long", "path"],
)
async def test_a_head_has_its_bounds(server: ModelServer, head: str) -> None:
    async with Desk(server.url).run() as client:
        address = ("127.0.0.1", int((client.endpoint.base_url or "").rpartition(":")[2]))
        reader, writer = await asyncio.open_connection(*address)
        writer.write(head.encode())
        answer = await asyncio.wait_for(reader.readline(), 10)  # without the end of the head
        writer.close()
        assert b" 400 " in answer
        assert (await client.post("/v1/messages", MESSAGES))[0] == 200


async def test_a_connection_without_the_token_is_soon_over_and_one_with_it_stays(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy_server, "FIRST_SECONDS", 0.5)
    async with Desk(server.url).run() as client:
        assert (await client.post("/v1/messages", MESSAGES))[0] == 200
        address = ("127.0.0.1", int((client.endpoint.base_url or "").rpartition(":")[2]))
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"POST /v1/messages HTTP/1.1\r\n")  # and never the rest
        with suppress(ConnectionResetError):
            assert await asyncio.wait_for(reader.read(), 20) == b""
        writer.close()
        assert (await client.post("/v1/messages", MESSAGES))[0] == 200
        connector = client.session.connector
        assert connector is not None
        assert len(connector._conns) == 1, "the control: the same connection, kept open for as long"
    assert len(server.journal) == 2


async def test_a_body_that_does_not_arrive_is_not_waited_for(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "BODY_SECONDS", 0.3)
    async with Desk(server.url).run() as client:
        address = ("127.0.0.1", int((client.endpoint.base_url or "").rpartition(":")[2]))
        reader, writer = await asyncio.open_connection(*address)
        head = f"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: {client.endpoint.token}\r\n"
        writer.write(f"{head}content-type: application/json\r\nContent-Length: 100\r\n\r\n{{".encode())
        assert b" 408 " in await asyncio.wait_for(reader.readline(), 20)
        writer.close()
        assert (await client.post("/v1/messages", MESSAGES))[0] == 200
    assert len(server.journal) == 1


async def test_a_reader_that_does_not_read_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "STALLED_SECONDS", 0.5)
    ended = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        try:
            while True:
                await response.write(b": " + b"x" * 2**16 + b"\n")
        finally:
            ended.set()

    async with vendor(endless) as desk, desk.run(budget=10_000.0) as client:
        address = ("127.0.0.1", int((client.endpoint.base_url or "").rpartition(":")[2]))
        _, writer = await asyncio.open_connection(*address, limit=1)
        body = json.dumps(MESSAGES).encode()
        head = f"POST /v1/messages HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: {client.endpoint.token}\r\n"
        head += f"content-type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        with suppress(TimeoutError):
            await asyncio.wait_for(ended.wait(), 20)
        assert ended.is_set(), "the vendor is asked for no more of it"
        writer.close()
