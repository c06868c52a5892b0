"""Keys of this machine are in no sandbox, and what one sandbox keeps is in no other."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import pytest

from sandbox.cell import CANARY, Cell, Ran
from shared.sandbox.confinement import Confinement

CALLS = """import ctypes, os, platform, sys
add, ctl = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *values):
    return libc.syscall(ctypes.c_long(number), *(ctypes.c_long(v) if isinstance(v, int) else v for v in values))
SESSION, ACCOUNT, ACCOUNTS_SESSION = -3, -4, -5
"""

PLANT = (
    CALLS
    + """assert call(ctl, 1, None) > 0, "this machine has no keyrings"
key = sys.argv[1].encode()
assert call(add, b"user", b"canary", key, len(key), int(sys.argv[2])) > 0
os.execvp(sys.argv[3], sys.argv[3:])
"""
)
"""Keeps a key in a keyring that it is told, and becomes the command."""

LOOK = (
    CALLS
    + """space = ctypes.create_string_buffer(4096)
def read(key):
    size = call(ctl, 11, key, space, 4096) if key > 0 else 0
    return space.raw[:size] if size > 0 else b""
try:
    lines = open("/proc/keys").readlines()
except OSError:
    lines = []
named = [call(ctl, 10, place, b"user", b"canary", 0) for place in (SESSION, ACCOUNT, ACCOUNTS_SESSION)]
listed = [int(line.split()[0], 16) for line in lines if "_uid" in line or "canary" in line]
for key in (*named, *listed):
    call(ctl, 8, key, SESSION)  # what is linked to one's own keyring is one's own
print([text for text in map(read, (*named, *listed, call(ctl, 10, SESSION, b"user", b"canary", 0))) if text])
print("".join(lines))
print("can keep" if call(add, b"user", b"own", b"x", 1, ACCOUNT) > 0 else "cannot keep")
"""
)
"""Reads the key by its name and by the numbers that the kernel lists, and tries to leave one for the next command."""

KEYRINGS = pytest.mark.parametrize("keyring", [-3, -4], ids=["session", "account"])


async def with_a_key(cell: Cell, keyring: int) -> Ran:
    """Run a command that looks for the key that its daemon's session, or its account, holds."""
    confinement = Confinement(cell.wrap, cell.limits)
    wrapped: Sequence[str] = confinement.argv((cell.python, "-c", LOOK), (cell.tree,))
    return await cell.start(confinement, (sys.executable, "-c", PLANT, CANARY, str(keyring), *wrapped))


@KEYRINGS
async def test_a_key_of_the_machine_is_not_there(sealed: Cell, keyring: int) -> None:
    ran = await with_a_key(sealed, keyring)
    assert ran.code == 0, ran.text
    assert ran.text.startswith("[]")
    assert ran.text.endswith("cannot keep")
    assert CANARY not in ran.text
    if os.getuid() == 0:
        assert "canary" not in ran.text


@KEYRINGS
async def test_nor_for_another_account(shared_cell: Cell, keyring: int) -> None:
    ran = await with_a_key(shared_cell, keyring)
    assert ran.code == 0, ran.text
    assert ran.text.startswith("[]")
    assert ran.text.endswith("cannot keep")


@KEYRINGS
async def test_without_a_sandbox_it_is_read(open_cell: Cell, keyring: int) -> None:
    ran = await with_a_key(open_cell, keyring)
    assert CANARY in ran.text
    assert ran.text.endswith("can keep")
