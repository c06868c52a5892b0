"""The one way out of a sandbox without network: a port of its loopback that reaches one socket."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.cell import Cell
from shared.sandbox.bubblewrap_sandbox import FileSystemView, Outlet

PORT = 47611

ASK = """import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5) as talk:
    talk.sendall(sys.argv[2].encode() * 100_000)
    talk.shutdown(socket.SHUT_WR)
    got = b""
    while chunk := talk.recv(65536):
        got += chunk
print(len(got), got[:3].decode())
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
    print("out")
except OSError:
    print("nothing else")
sys.exit(7)
"""


@pytest.fixture
def shouting(tmp_path: Path) -> Iterator[Path]:
    """Yield a unix socket that answers in capitals."""
    path = tmp_path / "proxy.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def answer() -> None:
            heard, _ = listener.accept()
            with heard:
                said = b""
                while chunk := heard.recv(65536):
                    said += chunk
                heard.sendall(said.upper())

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield path
        thread.join(10)


async def test_what_it_says_to_the_port_reaches_the_socket_and_nothing_else_is_reached(
    sealed: Cell, shouting: Path
) -> None:
    view = FileSystemView((sealed.tree,), network=False, outlet=Outlet(PORT, shouting))
    ran = await sealed.with_view(view, sys.executable, "-c", ASK, str(PORT), "abc")
    assert ran.text.splitlines() == ["300000 ABC", "nothing else"]
    assert ran.code == 7, "the command's own"


async def test_a_program_that_is_not_there_is_told(sealed: Cell, tmp_path: Path) -> None:
    gone = tmp_path / "gone.sock"
    gone.touch()
    view = FileSystemView((sealed.tree,), network=False, outlet=Outlet(PORT, gone))
    ran = await sealed.with_view(view, "/no/such/program")
    assert (ran.code, ran.text) == (127, "/no/such/program: No such file or directory")
