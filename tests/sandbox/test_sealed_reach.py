"""The reach of a command in bubblewrap: nothing of this machine but what is named. Each test has its control."""

from __future__ import annotations

import os
import secrets
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from sandbox.cell import CANARY, Cell, alive, gone
from shared import process

READ = """import sys, pathlib
for name in sys.argv[1:]:
    for path in pathlib.Path("/").glob(name.lstrip("/")):
        try:
            print(path.read_bytes().replace(b"\\0", b"\\n").decode(errors="replace"))
        except OSError as error:
            print(type(error).__name__)
"""

WRITE = """import sys, pathlib
for name in sys.argv[1:]:
    try:
        pathlib.Path(name).write_text("overwritten")
        print("written")
    except OSError as error:
        print(type(error).__name__)
"""

CONNECT = """import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=5).close()
    print("connected")
except OSError as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def listener() -> Iterator[int]:
    """Yield a port of this machine that answers."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


PRIVATE = (f"{Path('~root').expanduser()}/.ssh/*", "/home/*/.ssh/*", "/etc/shadow", "/etc/ssl/private/*")


@pytest.mark.fault(28)
async def test_secrets_of_the_home_directory_are_not_there(sealed: Cell) -> None:
    ran = await sealed.run(READ, sealed.secret, *PRIVATE)
    assert (ran.code, CANARY in ran.text) == (0, False)
    assert "FileNotFoundError" not in ran.text, "a glob finds nothing where nothing is"
    assert ran.text == ""


async def test_without_a_sandbox_they_are_read(open_cell: Cell) -> None:
    assert CANARY in (await open_cell.run(READ, open_cell.secret)).text


@pytest.mark.fault(28)
async def test_the_environment_of_other_processes_is_not_there(sealed: Cell, neighbour: str) -> None:
    ran = await sealed.run(READ, "/proc/[0-9]*/environ")
    assert ran.code == 0
    assert "PATH=/usr/bin:/bin" in ran.text, "its own can be read"
    assert neighbour not in ran.text


async def test_without_a_sandbox_it_is_read(open_cell: Cell, neighbour: str) -> None:
    assert neighbour in (await open_cell.run(READ, "/proc/[0-9]*/environ")).text


@pytest.fixture
async def neighbour(tmp_path: Path) -> AsyncIterator[str]:
    """Run a process of this account with a secret in its environment; yield the secret."""
    secret = f"k3y-{secrets.token_hex(8)}"
    argv, log = (sys.executable, "-c", "input()"), tmp_path / "log"
    async with process.piped(argv, cwd=tmp_path, env={"MODEL_KEY": secret}, log=log):
        yield secret


@pytest.mark.fault(28)
async def test_nothing_outside_of_the_tree_can_be_written_the_mirror_neither(sealed: Cell, tmp_path: Path) -> None:
    pack = sealed.state / "pack"
    refused = (pack, "/usr/new", "/etc/hosts", "/new", "/dev/new", sys.prefix + "/new")
    ran = await sealed.run(WRITE, *refused, tmp_path / "new", "own")
    *said, _, own = ran.text.split("\n")
    assert (len(said), "written" in said, own) == (len(refused), False, "written")
    assert pack.read_text() == "objects"
    assert (sealed.tree / "own").read_text() == "overwritten"
    assert not (tmp_path / "new").exists()


async def test_without_a_sandbox_the_mirror_is_overwritten(open_cell: Cell) -> None:
    pack = open_cell.state / "pack"
    assert (await open_cell.run(WRITE, pack)).text == "written"
    assert pack.read_text() == "overwritten"


async def test_the_kernel_is_not_told_anything_by_root_either(sealed: Cell) -> None:
    touch = "import os, sys\nfor name in sys.argv[1:]:\n    try: os.close(os.open(name, os.O_WRONLY))\n"
    touch += "    except OSError as error: print(error.strerror)\n"
    ran = await sealed.run(touch, "/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/vm/drop_caches")
    assert ran.code == 0
    assert len(ran.text.splitlines()) == 3, "each of them is refused"


@pytest.mark.fault(28)
async def test_there_is_no_network_no_name_service_and_no_neighbour(sealed: Cell, listener: int) -> None:
    for host, port in (("127.0.0.1", listener), ("192.0.2.1", 80), ("github.com", 443)):
        ran = await sealed.run(CONNECT, host, port)
        assert (ran.code, "Error" in ran.text or "gaierror" in ran.text) == (0, True), host
        assert "connected" not in ran.text


async def test_without_a_sandbox_a_port_of_this_machine_answers(open_cell: Cell, listener: int) -> None:
    assert (await open_cell.run(CONNECT, "127.0.0.1", listener)).text == "connected"


async def test_a_port_that_it_opens_is_open_to_itself_alone(sealed: Cell) -> None:
    serve = "import socket, pathlib, time\nwith socket.create_server(('0.0.0.0', 0)) as s:\n"
    serve += "    port = s.getsockname()[1]\n    pathlib.Path('port').write_text(str(port))\n"
    serve += "    socket.create_connection(('127.0.0.1', port)).close()\n    print('served')\n"
    serve += "    s.settimeout(2)\n    s.accept()\n    try:\n        s.accept()\n        print('somebody came')\n"
    serve += "    except TimeoutError:\n        print('nobody came')\n"
    ran = await sealed.run(serve)
    assert ran.text == "served\nnobody came"
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", int((sealed.tree / "port").read_text())), timeout=2)


LEAVE = """import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]])
    os._exit(0)
time.sleep(0.3)
"""


@pytest.mark.fault(27)
async def test_a_grandchild_in_a_session_of_its_own_does_not_survive(sealed: Cell) -> None:
    mark = secrets.token_hex(8)
    assert (await sealed.run(LEAVE, mark)).code == 0
    assert await gone(mark)


async def test_without_a_sandbox_it_survives(open_cell: Cell) -> None:
    mark = secrets.token_hex(8)
    assert (await open_cell.run(LEAVE, mark)).code == 0
    (survivor,) = alive(mark)
    os.kill(survivor, 9)
    assert await gone(mark)


async def test_no_process_of_this_machine_can_be_signalled(sealed: Cell) -> None:
    shoot = "import os, sys\ntry:\n    os.kill(int(sys.argv[1]), 0)\n    print('hit')\n"
    shoot += "except ProcessLookupError:\n    print('nobody')\n"
    assert (await sealed.run(shoot, os.getpid())).text == "nobody"
