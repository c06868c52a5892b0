"""The dashboard over HTTP: what a browser gets, what it costs, and who gets nothing."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import anyio
import pytest
from daemon_scene import configured
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine
from orphan_scene import charged, writes

from config.state import StateDirectory
from console.dashboard.site import served
from shared import process
from shared.errors import Misconfigured, Transient
from shared.workflow import Role

ROOT = Path(__file__).parents[3]

PAGE = b"<!doctype html>\n<title>x</title>"


async def one_page() -> bytes:
    return PAGE


@asynccontextmanager
async def opened(page: Callable[[], Awaitable[bytes]] = one_page) -> AsyncIterator[tuple[aiohttp.ClientSession, str]]:
    async with served(page, 0) as address, aiohttp.ClientSession() as session:
        yield session, address


async def test_a_browser_gets_the_page_and_its_style_and_may_run_nothing() -> None:
    async with opened() as (session, address):
        for path, kind in (("", "text/html"), ("page.css", "text/css")):
            async with session.get(f"{address}{path}") as answer:
                assert (answer.status, answer.content_type) == (200, kind)
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "script-src" not in policy
                assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("method", "path", "host", "status"),
    [
        ("POST", "", None, 405),
        ("DELETE", "", None, 405),
        ("GET", "board.json", None, 404),
        ("GET", "../page.py", None, 404),
        ("GET", "", "rebound.example", 421),
        ("GET", "", "127.0.0.1", 421),
    ],
)
async def test_nothing_else_is_answered(method: str, path: str, host: str | None, status: int) -> None:
    async with opened() as (session, address):
        headers = {} if host is None else {"Host": host}
        async with session.request(method, f"{address}{path}", headers=headers) as answer:
            assert answer.status == status
            assert PAGE not in await answer.read()
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_first_look_that_fails_is_a_sentence_and_not_the_end() -> None:
    async def page() -> bytes:
        raise Transient("GitHub does not answer.")

    async with opened(page) as (session, address):
        for _ in range(2):
            async with session.get(address) as answer:
                assert (answer.status, await answer.text()) == (503, "GitHub does not answer.\n")
                assert answer.headers["Retry-After"] == "10"


async def test_a_port_that_is_taken_is_said() -> None:
    async with served(one_page, 0) as address:
        port = int(address.rstrip("/").rpartition(":")[2])
        with pytest.raises(Misconfigured, match=f"--port {port} is taken"):
            async with served(one_page, port):
                pass


@pytest.mark.long
async def test_it_shows_the_board_and_costs_nothing_while_nobody_looks(engine: Engine) -> None:
    number = engine.ready("Greet <b>people</b>")
    engine.lab.issue(REPOSITORY, "Search", author=OWNER, labels=("story",))
    refs = await engine.lab.at(REPOSITORY).bare.refs("refs/")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(engine.directory), "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    words = ("dashboard", "--port", "0", "--interval", "2", "--config", str(configured(engine)))
    log, written = engine.directory / "dashboard.log", len(writes(engine))
    with anyio.fail_after(15):
        async with process.started((sys.executable, "-m", "console", *words), cwd=ROOT, env=env, log=log) as child:
            while not log.exists() or b"(Ctrl-C ends it)" not in log.read_bytes():  # noqa: ASYNC110  # another process
                await anyio.sleep(0.05)
            signed_in, address = charged(engine), log.read_text().split()[0]
            async with aiohttp.ClientSession() as session, session.get(address) as answer:
                page = await answer.text()
            looked = charged(engine)
            await anyio.sleep(2.5)
            assert charged(engine) == looked, "nobody looks"
            child.send_signal(signal.SIGINT)
            assert await child.wait() == 130
    assert (signed_in, looked) == (2, 3)
    assert len(writes(engine)) == written
    assert await engine.lab.at(REPOSITORY).bare.refs("refs/") == refs
    assert f"{REPOSITORY}/issues/{number}" in page
    assert "Greet &lt;b&gt;people&lt;/b&gt;" in page
    assert "an idle worker" in page
    assert b"Traceback" not in log.read_bytes()


@pytest.mark.long
async def test_one_repository_and_a_database_that_cannot_be_used_keep_nobody_from_the_rest(engine: Engine) -> None:
    number = engine.ready("Greet people")
    config = configured(engine)
    settings = json.loads(config.read_text(encoding="utf-8"))
    settings["repositories"].append(settings["repositories"][0] | {"name": "ada/gone"})
    settings["events"] = {"url": "postgresql://nobody@127.0.0.1:1/none"}
    config.write_text(json.dumps(settings), encoding="utf-8")
    env = {"PATH": "/usr/bin:/bin", "HOME": str(engine.directory), "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    argv = (sys.executable, "-m", "console", "dashboard", "--port", "0", "--config", str(config))
    log = engine.directory / "dashboard.log"
    with StateDirectory(engine.directory / "state").open().claim_identity(Role.WORKER, None) as agent:
        with anyio.fail_after(20):
            async with process.started(argv, cwd=ROOT, env=env, log=log) as child:
                while not log.exists() or b"(Ctrl-C ends it)" not in log.read_bytes():  # noqa: ASYNC110  # its own time
                    await anyio.sleep(0.05)
                async with aiohttp.ClientSession() as session, session.get(log.read_text().split()[0]) as answer:
                    page = await answer.text()
                child.send_signal(signal.SIGINT)
                assert await child.wait() == 130
    assert f"{REPOSITORY}/issues/{number}" in page
    assert "GitHub does not show the repository ada/gone" in page
    assert "The events cannot be read" in page
    assert f"{agent.id} (process" in page, "what runs on this machine"
    assert b"Traceback" not in log.read_bytes()
    assert b"never awaited" not in log.read_bytes()
