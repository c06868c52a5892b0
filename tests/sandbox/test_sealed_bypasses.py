"""Ways around the limits that were measured: each one is counted, and the command ended, as any account."""

from __future__ import annotations

import secrets
from dataclasses import replace

import pytest

from sandbox.cell import Cell, gone
from shared.sandbox.limits import ProcessLimits
from shared.sandbox.system_calls import LARGEST_SEGMENT, SEGMENTS

MIB = 2**20
SMALL = ProcessLimits(memory_bytes=150 * MIB, processes=40, disk_bytes=20 * MIB, files=2000, cpu_seconds=60)
ROOMY = replace(SMALL, disk_bytes=2**40)
TIGHT = replace(SMALL, memory_bytes=2**40)

UNLINKED = """import os, time
for n in range(40):
    file = open(f"f{n}", "wb", buffering=0); os.unlink(f"f{n}")
    os.write(file.fileno(), bytes(2**20)); os.dup(file.fileno())
time.sleep(600)
"""

MAPPED = """import mmap, os, time
for n in range(40):
    file = os.open("f", os.O_RDWR | os.O_CREAT | os.O_EXCL); os.unlink("f")
    os.write(file, bytes(2**20))
    held = mmap.mmap(file, 2**20); globals()[f"kept{n}"] = held
    os.close(file)
time.sleep(600)
"""

SHUT = """import os, time
os.mkdir("shut"); os.chmod("shut", 0o300)
for n in range(40):
    open(f"shut/f{n}", "wb").write(bytes(2**20))
    os.chmod("shut", 0o300)
time.sleep(600)
"""

DEEP = """import os, time
for n in range(700):
    os.mkdir("d" * 200); os.chdir("d" * 200)
for n in range(40):
    open(f"f{n}", "wb").write(bytes(2**20))
time.sleep(600)
"""

DEEPER = DEEP.replace("700", "2000")

NAMELESS = """import os, time
for n in range(40):
    file = os.memfd_create("m"); os.write(file, bytes(2**23))
time.sleep(600)
"""

LET_GO = """import ctypes, mmap, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
for n in range(40):
    place = libc.mmap(None, 2**23, 3, 0x21, -1, 0)
    ctypes.memset(place, 1, 2**23)
    libc.madvise(ctypes.c_void_p(place), 2**23, 4)  # MADV_DONTNEED: shared pages stay, but belong to nobody's set
time.sleep(600)
"""

MOUNTED = """import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
uid, gid = os.getuid(), os.getgid()
assert libc.unshare(0x10000000 | 0x20000) == 0, ctypes.get_errno()
open("/proc/self/setgroups", "w").write("deny")
open("/proc/self/uid_map", "w").write(f"0 {uid} 1"); open("/proc/self/gid_map", "w").write(f"0 {gid} 1")
os.mkdir("own")
assert libc.mount(b"x", b"own", b"KIND", 0, None) == 0, ctypes.get_errno()
COVER
for n in range(40):
    os.write(file, bytes(2**23)) if COVERED else open(f"own/f{n}", "wb").write(bytes(2**23))
time.sleep(600)
"""


def mounted(kind: str, *, covered: bool = False) -> str:
    """Return a program that mounts its own file system, below another one if `covered`."""
    cover = "pass"
    if covered:
        cover = 'file = os.open("own/f", os.O_RDWR | os.O_CREAT)\n'
        cover += 'assert libc.mount(b"x", b"own", b"tmpfs", 0, None) == 0'
    return MOUNTED.replace("KIND", kind).replace("COVERED", str(covered)).replace("COVER", cover)


SEGMENT = """import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.shmget.argtypes = (ctypes.c_int, ctypes.c_size_t, ctypes.c_int)
for size in map(int, sys.argv[1:]):
    print("made" if libc.shmget(0, size, 0o1600) >= 0 else os.strerror(ctypes.get_errno()))
"""

SPACES = """import ctypes, os, time
libc = ctypes.CDLL(None, use_errno=True)
for n in range(3):
    if os.fork() == 0:
        assert libc.unshare(0x10000000 | 0x08000000) == 0
        time.sleep(600)
time.sleep(600)
"""

ORPHANS = """import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        end = time.process_time() + 0.45
        while time.process_time() < end: pass
        os._exit(0)
    time.sleep(0.5)
"""

DISK = "disk (more than 20.0 MiB)"
MEMORY = "memory (more than 150.0 MiB)"
UNSEEN = "memory (a file system of its own that cannot be measured)"
TOO_DEEP = "files (directories nested too deep to be counted)"


@pytest.mark.fault(28)
@pytest.mark.parametrize(
    ("script", "limits", "limit"),
    [
        pytest.param(UNLINKED, TIGHT, DISK, id="removed and open"),
        pytest.param(MAPPED, TIGHT, DISK, id="removed and mapped"),
        pytest.param(SHUT, TIGHT, DISK, id="mode 0300"),
        pytest.param(DEEP, TIGHT, DISK, id="beyond PATH_MAX"),
        pytest.param(DEEPER, TIGHT, TOO_DEEP, id="beyond what is walked"),
        pytest.param(NAMELESS, ROOMY, MEMORY, id="memfd"),
        pytest.param(LET_GO, ROOMY, MEMORY, id="shared and let go"),
        pytest.param(mounted("tmpfs"), ROOMY, MEMORY, id="tmpfs"),
        pytest.param(mounted("tmpfs", covered=True), ROOMY, UNSEEN, id="covered tmpfs"),
        pytest.param(mounted("ramfs"), ROOMY, UNSEEN, id="ramfs"),
        pytest.param(SPACES, ROOMY, MEMORY, id="segments in many namespaces"),
        pytest.param(ORPHANS, replace(SMALL, cpu_seconds=1), "CPU time (more than 1 seconds)", id="nobody waits"),
    ],
)
async def test_what_no_directory_shows_is_counted(sealed: Cell, script: str, limits: ProcessLimits, limit: str) -> None:
    mark = secrets.token_hex(8)
    sealed.limits = limits
    ran = await sealed.run(script, mark)
    assert (ran.limit, ran.text) == (limit, "")
    assert await gone(mark)


async def test_shared_memory_of_system_v_is_held_small_by_the_kernel(sealed: Cell) -> None:
    ran = await sealed.run(SEGMENT, 56, LARGEST_SEGMENT, LARGEST_SEGMENT + 1, 2**32, 2**33 + 56)
    assert ran.text.splitlines() == ["made", "made", *["Invalid argument"] * 3]


async def test_so_many_segments_can_be_made(sealed: Cell) -> None:
    many = "import sys\nsys.argv[1:] = [str(65536)] * 4100\n" + SEGMENT
    ran = await sealed.run(many)
    assert ran.text.split("\n").count("made") == SEGMENTS


async def test_without_the_sandbox_a_large_segment_is_made(open_cell: Cell) -> None:
    made = 'made = libc.shmget(0, size, 0o1600)\n    print("made" if made >= 0 and libc.shmctl(made, 0, None) == 0'
    removed = SEGMENT.replace('print("made" if libc.shmget(0, size, 0o1600) >= 0', made)  # it would outlive the test
    assert (await open_cell.run(removed, LARGEST_SEGMENT + 1)).text == "made"


async def test_what_is_held_within_the_limits_is_left_alone(sealed: Cell) -> None:
    little = "import os, time\nfile = os.memfd_create('m'); os.write(file, bytes(2**20)); time.sleep(1)\nprint('well')"
    sealed.limits = SMALL
    ran = await sealed.run(little)
    assert (ran.code, ran.limit, ran.text) == (0, None, "well")
