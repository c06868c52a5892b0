"""The dashboard over HTTP: what a browser gets, what it costs, who may order, and who gets nothing."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import aiohttp
import anyio
import pytest
from daemon_scene import configured
from engine import ENGINE, OWNER, REPOSITORY, WRITES, Engine
from orphan_scene import charged, writes
from worker_scene import labels

from config.state import StateDirectory
from console.dashboard.order_endpoint import TOKEN, OrderEndpoint
from console.dashboard.site import MOST_READERS, Live, Site
from console.orders import Order, OrderResult
from console.status.row import Board, ItemRow
from shared import process
from shared.commands.command import Verb
from shared.errors import EngineError, Misconfigured, NotAllowed, Transient
from shared.loop.real_clock import RealClock
from shared.workflow import Role, Stage, Track

ROOT = Path(__file__).parents[3]

SECRET = "only-the-terminal-shows-it"

NOW = datetime(2026, 11, 26, 8, 30, tzinfo=UTC)

ROW = ItemRow(Track.SPECIFICATION, 7, "Search", Stage.FAILED, NOW, commands=(Verb.RETRY, Verb.SPEC_REVIEW))

ORDER = {"verb": "retry", "repository": REPOSITORY, "number": 7, "stage": "failed", "since": NOW.isoformat()}


@dataclass
class Scene:
    """A site whose page and stream are what a test says."""

    html: str = "<main>x</main>"
    error: EngineError | None = None
    answer: OrderResult | EngineError = field(
        default_factory=lambda: OrderResult(
            f"{REPOSITORY}#7", "retry", True, "it is ready", "ready", "An agent goes on."
        )
    )
    ordered: list[tuple[str, Order]] = field(default_factory=list)
    news: anyio.Event = field(default_factory=anyio.Event)
    reads: int = 0

    async def page(self) -> str:
        if self.error is not None:
            raise self.error
        return self.html

    async def newest(self) -> tuple[str, str]:
        self.reads += 1
        return "08:30:00", await self.page()

    async def boards(self) -> tuple[Board, ...]:
        return (Board(REPOSITORY, NOW, (ROW,)),)

    async def carry_out(self, repository: str, order: Order) -> OrderResult:
        if isinstance(self.answer, EngineError):
            raise self.answer
        self.ordered.append((repository, order))
        return self.answer

    def change(self, html: str) -> None:
        self.html, news = html, self.news
        self.news = anyio.Event()
        news.set()

    @asynccontextmanager
    async def opened(self, port: int = 0) -> AsyncIterator[tuple[aiohttp.ClientSession, str]]:
        desk = OrderEndpoint(SECRET, self.boards, self.carry_out, lambda: self.change("<main>after</main>"))
        stream = Live(self.newest, lambda: self.news, RealClock(), 600)
        site = Site(self.page, self.page, stream, desk)
        async with site.served(port) as address, aiohttp.ClientSession() as session:
            yield session, address


async def test_a_browser_gets_the_page_and_its_files_and_may_run_nothing_else() -> None:
    async with Scene().opened() as (session, address):
        kinds = {"": "text/html", "page.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
        for path, kind in {**kinds, "api/status": "application/json"}.items():
            async with session.get(f"{address}{path}") as answer:
                assert (answer.status, answer.content_type) == (200, kind)
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
                assert "unsafe" not in policy
                assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("method", "path", "host", "status"),
    [
        ("POST", "", None, 405),
        ("DELETE", "", None, 405),
        ("GET", "api/orders", None, 405),
        ("GET", "board.json", None, 404),
        ("GET", "../page.py", None, 404),
        ("GET", "page.html", None, 404),
        ("GET", "", "rebound.example", 421),
        ("GET", "live", "rebound.example", 421),
        ("POST", "api/orders", "rebound.example", 421),
        ("GET", "", "127.0.0.1", 421),
    ],
)
async def test_nothing_else_is_answered(method: str, path: str, host: str | None, status: int) -> None:
    async with Scene().opened() as (session, address):
        headers = {} if host is None else {"Host": host}
        async with session.request(method, f"{address}{path}", headers=headers) as answer:
            assert answer.status == status
            assert "<main>" not in await answer.text()
            assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["", "api/status"])
async def test_a_first_look_that_fails_is_a_sentence_and_not_the_end(path: str) -> None:
    async with Scene(error=Transient("GitHub does not answer.")).opened() as (session, address):
        for _ in range(2):
            async with session.get(f"{address}{path}") as answer:
                assert (answer.status, await answer.text()) == (503, "GitHub does not answer.\n")
                assert answer.headers["Retry-After"] == "10"


async def test_a_port_that_is_taken_is_said() -> None:
    async with Scene().opened() as (_, address):
        port = int(address.rstrip("/").rpartition(":")[2])
        with pytest.raises(Misconfigured, match=f"--port {port} is taken"):
            async with Scene().opened(port):
                pass


async def next_event(answer: aiohttp.ClientResponse) -> tuple[str, str]:
    lines: list[str] = []
    while line := (await answer.content.readline()).decode().rstrip("\n"):
        lines.append(line)
    return lines[0].removeprefix("event: "), "\n".join(one.removeprefix("data: ") for one in lines[1:])


async def test_a_reader_hears_of_a_change_at_once_and_of_the_same_never_twice() -> None:
    scene = Scene()
    async with scene.opened() as (session, address), session.get(f"{address}live") as answer:
        assert answer.content_type == "text/event-stream"
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        with anyio.fail_after(10):
            assert await next_event(answer) == ("board", "<main>x</main>")
            assert await next_event(answer) == ("looked", "08:30:00")
            scene.change("<main>x</main>")
            assert await next_event(answer) == ("looked", "08:30:00")
            scene.error = Transient("GitHub does not answer.")
            scene.change("")
            assert await next_event(answer) == ("trouble", "GitHub does not answer.")
            scene.error = None
            scene.change("<main>\ny</main>")
            assert await next_event(answer) == ("board", "<main>\ny</main>")


async def test_readers_are_bounded_and_who_leaves_makes_room() -> None:
    scene = Scene()
    async with scene.opened() as (session, address):
        with anyio.fail_after(20):
            first = [await session.get(f"{address}live") for _ in range(MOST_READERS)]
            async with session.get(f"{address}live") as refused:
                assert (refused.status, refused.headers["Retry-After"]) == (503, "30")
            for answer in first:
                answer.close()
            status = 503
            while status == 503:
                scene.change(scene.html + ".")
                await anyio.sleep(0.02)
                async with session.get(f"{address}live") as answer:
                    status = answer.status
    assert status == 200


Change = dict[str, Any]


@pytest.mark.parametrize(
    ("headers", "change", "status"),
    [
        ({TOKEN: "wrong"}, {}, 403),
        ({TOKEN: ""}, {}, 403),
        ({TOKEN: "wr\u00f6ng"}, {}, 403),
        ({"Origin": "https://evil.example"}, {}, 403),
        ({"Origin": "null"}, {}, 403),
        ({"Origin": ""}, {}, 403),
        ({"Content-Type": "text/plain"}, {}, 415),
        ({}, {"verb": "merge"}, 400),
        ({}, {"verb": "rm"}, 400),
        ({}, {"verb": None}, 400),
        ({}, {"number": "7"}, 400),
        ({}, {"number": True}, 400),
        ({}, {"number": -7}, 400),
        ({}, {"repository": 7}, 400),
        ({}, {"number": 8}, 404),
        ({}, {"repository": "ada/other"}, 404),
        ({}, {"stage": "ready"}, 409),
        ({}, {"since": "2026-11-26T08:00:00+00:00"}, 409),
        ({}, {"verb": "pause"}, 422),
    ],
)
async def test_an_order_that_is_not_ours_or_does_not_fit_is_refused(
    headers: dict[str, str], change: Change, status: int
) -> None:
    scene = Scene()
    async with scene.opened() as (session, address):
        known = {TOKEN: SECRET, "Origin": address.rstrip("/"), "Content-Type": "application/json"}
        body = json.dumps(ORDER | change)
        async with session.post(f"{address}api/orders", data=body, headers=known | headers) as answer:
            said = (await answer.json())["sentence"]
            assert (answer.status, said.endswith(".")) == (status, True)
            assert SECRET not in said
    assert scene.ordered == []


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"7", b'"x"', b"[" * 4000])
async def test_what_is_no_order_is_refused(body: bytes) -> None:
    scene = Scene()
    async with scene.opened() as (session, address):
        known = {TOKEN: SECRET, "Origin": address.rstrip("/"), "Content-Type": "application/json"}
        async with session.post(f"{address}api/orders", data=body, headers=known) as answer:
            assert answer.status == 400
    assert scene.ordered == []


REFUSED = OrderResult(f"{REPOSITORY}#7", "retry", False, "somebody works on it", "failed")


@pytest.mark.parametrize(
    ("outcome", "status", "sentence"),
    [
        (None, 200, f"{REPOSITORY}#7: it is ready. An agent goes on."),
        (REFUSED, 422, f"{REPOSITORY}#7: somebody works on it."),
        (Transient("GitHub does not answer."), 502, "GitHub does not answer."),
        (NotAllowed("The token may only read."), 403, "GitHub does not allow it: The token may only read."),
    ],
)
async def test_an_order_is_answered_in_a_sentence(
    outcome: OrderResult | EngineError | None, status: int, sentence: str
) -> None:
    scene = Scene()
    scene.answer = scene.answer if outcome is None else outcome
    async with scene.opened() as (session, address):
        known = {TOKEN: SECRET, "Origin": address.rstrip("/")}
        async with session.post(f"{address}api/orders", json=ORDER, headers=known) as answer:
            assert (answer.status, (await answer.json())["sentence"]) == (status, sentence)
    if outcome is None:
        assert scene.ordered == [(REPOSITORY, Order(Verb.RETRY, 7, place="on the dashboard"))]


@asynccontextmanager
async def running(engine: Engine, *words: str, config: Path) -> AsyncIterator[str]:
    """Run the command as a person starts it; yield the printed address, and end it with Ctrl-C."""
    env = {"PATH": "/usr/bin:/bin", "HOME": str(engine.directory), "GITHUB_TOKEN": engine.lab.token(ENGINE, WRITES)}
    argv = (sys.executable, "-m", "console", "dashboard", "--port", "0", *words, "--config", str(config))
    log = engine.directory / "dashboard.log"
    with anyio.fail_after(60):
        async with process.started(argv, cwd=ROOT, env=env, log=log) as child:
            while not log.exists() or b"(Ctrl-C ends it)" not in log.read_bytes():  # noqa: ASYNC110  # another process
                await anyio.sleep(0.05)
            yield log.read_text().split()[0]
            child.send_signal(signal.SIGINT)
            assert await child.wait() == 130
    assert b"Traceback" not in log.read_bytes()
    assert b"never awaited" not in log.read_bytes()


@pytest.mark.prompt("it counts requests")
@pytest.mark.long
async def test_it_shows_the_board_and_costs_nothing_while_nobody_looks(engine: Engine) -> None:
    number = engine.ready("Greet <b>people</b>")
    engine.lab.issue(REPOSITORY, "Search", author=OWNER, labels=("story",))
    refs, written = await engine.lab.at(REPOSITORY).bare.refs("refs/"), len(writes(engine))
    async with running(engine, "--interval", "2", config=configured(engine)) as address:
        signed_in = charged(engine)
        async with aiohttp.ClientSession() as session, session.get(address) as answer:
            page = await answer.text()
        looked = charged(engine)
        await anyio.sleep(2.5)
        assert charged(engine) == looked, "nobody looks"
    assert (signed_in, looked) == (2, 3)
    assert len(writes(engine)) == written
    assert await engine.lab.at(REPOSITORY).bare.refs("refs/") == refs
    assert f"{REPOSITORY}/issues/{number}" in page
    assert "Greet &lt;b&gt;people&lt;/b&gt;" in page
    assert "an idle worker" in page


@pytest.mark.long
async def test_an_order_from_the_page_does_what_the_command_does_and_is_told_in_the_thread(engine: Engine) -> None:
    number = engine.ready("Greet people")
    async with running(engine, "--interval", "2", config=configured(engine)) as address, aiohttp.ClientSession() as web:
        origin, _, token = address.partition("/#token=")
        async with web.get(f"{origin}/api/status") as answer:
            (item,) = (await answer.json())["repositories"][0]["items"]
        order = {"verb": "stop", "repository": REPOSITORY, "number": number}
        order |= {"stage": item["stage"], "since": item["moved_at"]}
        async with web.post(f"{origin}/api/orders", json=order, headers={TOKEN: token, "Origin": origin}) as answer:
            assert answer.status == 200, await answer.text()
    assert "status:ready" not in labels(engine, number)
    (comment,) = engine.lab.at(REPOSITORY).comments.of(number)
    assert "/stop" in comment.body
    assert "on the dashboard" in comment.body


async def first_page(engine: Engine, config: Path) -> str:
    async with running(engine, config=config) as url, aiohttp.ClientSession() as web, web.get(url) as answer:
        return await answer.text()


@pytest.mark.long
async def test_one_repository_and_a_database_that_cannot_be_used_keep_nobody_from_the_rest(engine: Engine) -> None:
    number = engine.ready("Greet people")
    config = configured(engine)
    settings = json.loads(config.read_text(encoding="utf-8"))
    settings["repositories"].append(settings["repositories"][0] | {"name": "ada/gone"})
    settings["events"] = {"url": "postgresql://nobody@127.0.0.1:1/none"}
    config.write_text(json.dumps(settings), encoding="utf-8")
    with StateDirectory(engine.directory / "state").open().claim_identity(Role.WORKER, None) as agent:
        page = await first_page(engine, config)
    assert f"{REPOSITORY}/issues/{number}" in page
    assert "GitHub does not show the repository ada/gone" in page
    assert "The events cannot be read" in page
    assert agent.id in page, "what runs on this machine"
