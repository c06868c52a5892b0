"""A repository served over git's HTTP protocol on loopback, and real git clients of it, for tests."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web
from aiohttp.typedefs import Handler

from lab.github.repositories.bare import Bare, pushed_by
from lab.github.repositories.git_command import environment, signed
from lab.github.repositories.git_http import GitHttp
from shared import process
from shared.process import Finished

NAME = "octo/thing"
ADA = ("Ada", "ada@example.org")
LEVELS = {"write-token": ("ada", True), "read-token": ("bob", False)}


def authorise(token: str, full_name: str, write: bool) -> str | None:
    login, may_write = LEVELS.get(token, (None, False))
    return login if may_write or not write else None


def basic(credentials: str) -> str:
    return f"Basic {base64.b64encode(credentials.encode()).decode()}"


@dataclass
class Hub:
    """A served repository, what it was told of, and clients of it."""

    bare: Bare
    url: str
    clients: Path
    told: list[tuple[str, str | None, str | None, str | None]] = field(default_factory=list)
    requests: list[web.Request] = field(default_factory=list)
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    async def note(self, ref: str, old: str | None, new: str | None) -> None:
        self.told.append((ref, old, new, pushed_by.get()))

    async def git(self, directory: Path, *arguments: str, token: str = "write-token") -> Finished:
        options = ("-c", f"http.extraHeader=Authorization: {basic(f'x-access-token:{token}')}")
        return await process.run(("git", *options, *arguments), cwd=directory, env=environment() | signed(ADA, ADA))

    async def clone(self, name: str) -> Path:
        finished = await self.git(self.clients, "clone", "--quiet", self.url, name)
        assert finished.code == 0, finished.stderr
        return self.clients / name

    async def commit(self, tree: Path, path: str, content: bytes, message: str) -> str:
        (tree / path).write_bytes(content)
        for arguments in (("add", "--all"), ("commit", "--quiet", "-m", message)):
            finished = await self.git(tree, *arguments)
            assert finished.code == 0, finished.stderr
        return (await self.git(tree, "rev-parse", "HEAD")).text

    async def branch(self, name: str, changes: dict[str, bytes], start: str = "origin/main") -> str:
        """Push a branch with one commit for each change; its tip."""
        tree = self.clients / f"of-{name}"
        if not tree.exists():
            await self.clone(tree.name)
        await self.git(tree, "checkout", "--quiet", "-B", name, start)
        tip = ""
        for path, content in changes.items():
            tip = await self.commit(tree, path, content, f"Change {path}")
        finished = await self.git(tree, "push", "--quiet", "origin", f"{name}:{name}")
        assert finished.code == 0, finished.stderr
        return tip


@asynccontextmanager
async def served(directory: Path) -> AsyncIterator[Hub]:
    """Serve a repository with one file `a.txt` (five lines) on `main`, on loopback."""
    bare = await Bare.create(directory / "repositories" / "thing.git", NAME, "main", {"a.txt": "1\n2\n3\n4\n5\n"})

    @web.middleware
    async def record(request: web.Request, handler: Handler) -> web.StreamResponse:
        hub.requests.append(request)
        hub.asked.set()
        return await handler(request)

    app = web.Application(middlewares=[record])
    app.add_routes(GitHttp({NAME: bare}.get, authorise).routes())
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    clients = directory / "clients"
    clients.mkdir()
    hub = Hub(bare, f"http://127.0.0.1:{runner.addresses[0][1]}/{NAME}.git", clients)
    bare.on_update = hub.note
    try:
        yield hub
    finally:
        await runner.cleanup()
