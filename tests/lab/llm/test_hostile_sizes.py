"""The attacks that were measured, at their full sizes: the daemon stays up, and its memory stays within bounds."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from aiohttp import web
from model_proxy_scene import MESSAGES, vendor

from shared.filesystem import directories

pytestmark = pytest.mark.long

MIB = 2**20

FLOOD = """import asyncio, socket, sys
host, port, token = sys.argv[1], int(sys.argv[2]), sys.argv[3]
HEAD = f"POST /v1/messages HTTP/1.1\\r\\nHost: {host}\\r\\nx-api-key: {token}\\r\\ncontent-type: application/json\\r\\n"
async def idle():
    try:
        return await asyncio.open_connection(host, port)
    except OSError:
        return None
async def body():
    try:
        reader, writer = await asyncio.open_connection(host, port)
        writer.write(f"{HEAD}Transfer-Encoding: chunked\\r\\n\\r\\n".encode())
        piece = b"%x\\r\\n" % 2**20 + bytes(2**20) + b"\\r\\n"
        for _ in range(60):
            writer.write(piece); await writer.drain()
    except OSError:
        pass
async def main():
    kept = [await idle() for _ in range(1260)]
    print("idle", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await asyncio.gather(*(body() for _ in range(30)))
    print("sent", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
asyncio.run(main())
"""


@dataclass
class Memory:
    """Resident bytes of this process: at the beginning, and the most since then."""

    before: int
    most: int

    @property
    def grown(self) -> int:
        return self.most - self.before


def names(directory: Path) -> list[str]:
    return [entry.name for entry in directory.iterdir()]


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@asynccontextmanager
async def measured() -> AsyncIterator[Memory]:
    """Measure by how much this process grows while the block runs, a hundred times a second."""
    memory = Memory(resident(), resident())

    async def look() -> None:
        while True:
            memory.most = max(memory.most, await asyncio.to_thread(resident))
            await asyncio.sleep(0.01)

    looking = asyncio.create_task(look())
    try:
        yield memory
    finally:
        looking.cancel()


async def quick(request: web.Request) -> web.Response:
    """Answer at once, as a vendor."""
    await request.read()
    usage = {"input_tokens": 1, "output_tokens": 1}
    return web.json_response({"type": "message", "model": "m", "usage": usage})


async def test_idle_connections_and_bodies_of_the_measured_sizes() -> None:
    async with vendor(quick) as desk, desk.run(budget=1e9) as client, desk.run(run="other", budget=1e9) as other:
        assert (await client.post("/v1/messages", MESSAGES))[0] == 200
        host, _, port = (client.endpoint.base_url or "").removeprefix("http://").rpartition(":")
        words = (sys.executable, "-c", FLOOD, host, port, client.endpoint.token)
        pipe = asyncio.subprocess.PIPE
        async with measured() as memory:
            attacker = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe)
            assert attacker.stdin is not None
            assert attacker.stdout is not None
            for stage in (b"idle\n", b"sent\n"):
                assert await attacker.stdout.readline() == stage
                assert len(names(Path("/proc/self/fd"))) < 600
                assert (await other.post("/v1/messages", MESSAGES))[0] == 200, "another run does not feel it"
                attacker.stdin.write(b"\n")
            await attacker.wait()
        assert (await client.post("/v1/messages", MESSAGES))[0] == 200, "it stays up"
    assert memory.grown < 384 * MIB


async def test_a_million_files_and_2500_levels_are_removed_within_bounds(tmp_path: Path) -> None:
    place = tmp_path / "left"
    place.mkdir()
    litter = "import os\nfor n in range(10**6):\n    os.close(os.open(f'f{n}', os.O_CREAT | os.O_WRONLY))\n"
    litter += "for n in range(2500):\n    os.mkdir('d' * 200); os.chdir('d' * 200)\n"
    made = await asyncio.create_subprocess_exec(sys.executable, "-c", litter, cwd=place)
    assert await made.wait() == 0
    async with measured() as memory:
        counted = await asyncio.to_thread(lambda: sum(1 for _ in directories.walk(place)))
        assert await asyncio.to_thread(directories.remove, place)
    assert counted > 10**6
    assert names(tmp_path) == []
    assert memory.grown < 64 * MIB
