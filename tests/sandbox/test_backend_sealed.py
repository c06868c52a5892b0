"""A coding CLI in the sandbox: its call directory and tree, the model proxy by its usual address, nothing else."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.cell import CANARY, SEALED, Cell
from shared.llm.cli.directory import opened
from shared.llm.cli.launch import Command, Launcher, Ran
from shared.llm.cli.stream import Event
from shared.llm.endpoint import Endpoint
from shared.loop.real_clock import RealClock
from shared.process import Cut, Patience
from shared.sandbox.confinement import Confinement
from shared.sandbox.limits import ProcessLimits

CLI = """import json, os, pathlib, socket, sys
def tried(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__
def ask(host, port):
    with socket.create_connection((host, port), timeout=5) as talk:
        talk.sendall(b"hello")
        talk.shutdown(socket.SHUT_WR)
        return talk.recv(100).decode()
pathlib.Path("edited").write_text("by the model")
print(json.dumps({"proxy": tried(lambda: ask("127.0.0.1", int(sys.argv[1]))),
                  "neighbour": tried(lambda: ask("127.0.0.1", int(sys.argv[2]))),
                  "secret": tried(lambda: pathlib.Path(sys.argv[3]).read_text()),
                  "home": os.environ["HOME"]}))
"""


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Endpoint]:
    """Yield an endpoint as the model proxy gives one: an address, and a socket that answers for it."""
    path = tmp_path / "p.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.settimeout(30)

        def answer() -> None:
            heard, _ = listener.accept()
            with heard:
                heard.sendall(b"the model says " + heard.recv(100))

        threading.Thread(target=answer, daemon=True).start()
        yield Endpoint("http://127.0.0.1:47612", "token", socket=path)


async def run(
    cell: Cell, endpoint: Endpoint | None, script: str, *words: object, limits: ProcessLimits
) -> tuple[Ran, list[Event]]:
    launcher = Launcher(
        Confinement(SEALED, limits, hidden=(cell.root / "state",)),
        RealClock(),
        cell.environment,
        cell.root / "calls",
        cell.root / "logs",
    )
    said: list[Event] = []
    async with opened(launcher.calls) as call:
        argv = (sys.executable, "-c", script, *map(str, words))
        command = Command(argv, {}, cell.tree, b"")
        return await launcher.run(command, call, Patience(60, 60), said.append, endpoint), said


async def test_it_reaches_the_model_and_nobody_else(sealed: Cell, proxy: Endpoint) -> None:
    with socket.create_server(("127.0.0.1", 0)) as neighbour:
        port = neighbour.getsockname()[1]
        ran, said = await run(sealed, proxy, CLI, 47612, port, sealed.secret, limits=ProcessLimits())
    assert (ran.code, ran.cut) == (0, None), ran.complaint
    (seen,) = said
    assert seen["proxy"] == "the model says hello"
    assert seen["neighbour"] == "ConnectionRefusedError"
    assert seen["secret"] == "FileNotFoundError"
    assert CANARY not in str(seen)
    assert seen["home"].startswith(str(sealed.root / "calls"))
    assert (sealed.tree / "edited").read_text() == "by the model"


async def test_a_limit_ends_it_and_is_named(sealed: Cell) -> None:
    hog = "import time\nkept = b'x' * 2**28\ntime.sleep(600)\n"
    ran, _ = await run(sealed, None, hog, limits=ProcessLimits(memory_bytes=2**27))
    assert (ran.cut, ran.limit) == (Cut.LIMIT, "memory (more than 128.0 MiB)")
