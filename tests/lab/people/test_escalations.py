"""Messages for people beyond GitHub: signed, stable, at least once, over restarts, and never in anybody's way."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from fakes.clock import PassingClock

from shared.escalation.delivery import DELIVERY, SIGNATURE, TRIES, Channel, Escalation, Mail, Outbox, Webhook, written

SECRET = b"a secret of sixteen"
CANARY = "canary-canary-canary"
GIVEN_UP = Escalation(
    "ada/directory", 7, "41", "failed", f"It failed: {CANARY}", "https://github.com/ada/directory/issues/7"
)


@dataclass
class Receiver:
    """A webhook's receiver that answers with `answers` in turn, then 204."""

    answers: list[int] = field(default_factory=list)
    got: list[tuple[bytes, str, str]] = field(default_factory=list)
    url: str = ""

    async def take(self, request: web.Request) -> web.Response:
        self.got.append((await request.read(), request.headers[SIGNATURE], request.headers[DELIVERY]))
        return web.Response(status=self.answers.pop(0) if self.answers else 204)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    here = Receiver()
    app = web.Application()
    app.router.add_post("/hook", here.take)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    here.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
    yield here
    await runner.cleanup()


def outbox(directory: Path, *channels: Channel, clock: PassingClock | None = None) -> Outbox:
    return Outbox(directory, channels, clock or PassingClock(1_800_000_000.0), lambda text: text.replace(CANARY, "***"))


def webhook(receiver: Receiver) -> Webhook:
    return Webhook(receiver.url, SECRET, aiohttp.ClientSession)


async def test_a_message_is_signed_carries_its_id_and_no_secret(receiver: Receiver, tmp_path: Path) -> None:
    box = outbox(tmp_path, webhook(receiver))
    box.put(GIVEN_UP)
    assert await box.deliver() == 0
    ((body, signature, id),) = receiver.got
    assert signature == "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    message = json.loads(body)
    assert message["id"] == id == GIVEN_UP.id
    assert (message["repository"], message["number"], message["sentence"]) == ("ada/directory", 7, "It failed: ***")
    assert CANARY not in _kept(tmp_path)


def _kept(directory: Path) -> str:
    return "".join(file.read_text() for file in directory.iterdir())


async def test_the_same_occasion_is_told_once_and_another_one_again(receiver: Receiver, tmp_path: Path) -> None:
    for _ in range(2):  # as a restarted agent, or a second one of this machine
        box = outbox(tmp_path, webhook(receiver))
        box.put(GIVEN_UP)
        box.put(GIVEN_UP)
        await box.deliver()
    assert len(receiver.got) == 1
    later = Escalation("Ada/Directory", 7, "42", "failed", "Again.", "")
    box.put(later)
    await box.deliver()
    assert [id for _, _, id in receiver.got] == [GIVEN_UP.id, later.id]
    assert GIVEN_UP.id == Escalation("Ada/Directory", 7, "41", "failed", "other words", "").id


async def test_what_cannot_be_delivered_is_tried_three_times_and_again_after_a_restart(
    receiver: Receiver, tmp_path: Path
) -> None:
    receiver.answers = [500, 302, 404]
    clock = PassingClock(1_800_000_000.0)
    box = outbox(tmp_path, webhook(receiver), clock=clock)
    box.put(GIVEN_UP)
    assert await box.deliver() == 1
    assert (len(receiver.got), clock.slept) == (TRIES, [1.0, 5.0])
    assert await outbox(tmp_path, webhook(receiver)).deliver() == 0
    assert len({id for _, _, id in receiver.got}) == 1


class Broken:
    """A channel that nobody can use."""

    name = "smtp"

    async def send(self, message: object) -> None:
        raise OSError("the mail server is gone")


async def test_one_place_that_fails_keeps_no_message_from_another(receiver: Receiver, tmp_path: Path) -> None:
    box = outbox(tmp_path, Broken(), webhook(receiver))
    box.put(GIVEN_UP)
    assert await box.deliver() == 1
    assert await box.deliver() == 1
    assert len(receiver.got) == 1, "what was delivered is not sent again because something else was not"


def test_a_disk_that_takes_nothing_stops_nobody(receiver: Receiver, tmp_path: Path) -> None:
    (tmp_path / "outbox").write_text("a file where the directory should be")
    outbox(tmp_path / "outbox", webhook(receiver)).put(GIVEN_UP)
    assert (tmp_path / "outbox").read_text().startswith("a file")


@asynccontextmanager
async def mail_server(letters: list[str]) -> AsyncIterator[int]:
    """Serve as much of SMTP as a client needs that neither signs in nor encrypts; yield the port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 lab\r\n")
        while line := await reader.readline():
            word = line[:4].upper()
            if word == b"DATA":
                writer.write(b"354 go\r\n")
                letters.append((await reader.readuntil(b"\r\n.\r\n")).decode())
            writer.write(b"221 bye\r\n" if word == b"QUIT" else b"250 ok\r\n")
            if word == b"QUIT":
                break
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_a_mail_has_a_stable_id_and_cannot_be_steered_by_the_text(tmp_path: Path) -> None:
    letters: list[str] = []
    evil = Escalation("ada/directory", 7, "41", "failed", "It failed\r\nBcc: mallory@evil.example", "https://h/7")
    async with mail_server(letters) as port:
        box = outbox(tmp_path, Mail(f"smtp://127.0.0.1:{port}", "engine@h.example", ["ada@h.example"]))
        box.put(evil)
        assert await box.deliver() == 0
    (letter,) = letters
    head, _, body = letter.partition("\r\n\r\n")
    assert f"Message-ID: <{evil.id}@workflow-engine.invalid>" in head
    assert "To: ada@h.example" in head
    assert not [line for line in head.splitlines() if line.startswith("Bcc")]
    assert "https://h/7" in body


@pytest.mark.parametrize(
    ("number", "subject"), [(7, "[ada/directory#7] unpriced: Much."), (0, "[ada/directory] unpriced: Much.")]
)
def test_a_mail_names_the_item_or_else_the_repository(number: int, subject: str) -> None:
    one = Escalation("ada/directory", number, "e", "unpriced", "Much.", "https://h")
    assert written({"id": one.id, **asdict(one)}, "engine@h.example", ["ada@h.example"])["Subject"] == subject
