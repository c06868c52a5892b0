"""The memory of a daemon: free memory goes back to the system, and what is loaded is left out of collections."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from fakes.clock import PassingClock

from config.environment import child_environment
from runtime import memory
from shared import process

ROOT = Path(__file__).parents[3]

RESIDENT = """
import gc, threading
from pathlib import Path
from runtime import memory

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
"""

BETWEEN = f"""{RESIDENT}
memory.settle()
blocks = [bytes(100_000) for _ in range(1_000)]
stay = blocks[::10]
del blocks
before = resident()
memory.give_back()
print(before - resident())
"""

COUNTED = f"""{RESIDENT}
class Loop: pass
memory.settle()
frozen = gc.get_freeze_count()
for _ in range(20_000):
    one = Loop()
    one.itself = one
print(frozen, sum(isinstance(each, Loop) for each in gc.get_objects()))
"""

ANOTHER_LIBRARY = f"""{RESIDENT}
memory.settle(object())
memory.give_back(object())
print(gc.get_freeze_count() > 0)
"""


async def printed(program: str, tmp_path: Path) -> str:
    """Return what a process of its own prints: the settings hold for good."""
    env = child_environment() | {"PYTHONPATH": str(ROOT)}
    finished = await process.check((sys.executable, "-c", program), cwd=tmp_path, env=env)
    return finished.stdout.decode()


async def test_memory_between_blocks_that_stay_goes_back(tmp_path: Path) -> None:
    assert int(await printed(BETWEEN, tmp_path)) > 50 * 2**20


async def test_garbage_does_not_pile_up_beside_what_is_loaded(tmp_path: Path) -> None:
    frozen, garbage = map(int, (await printed(COUNTED, tmp_path)).split())
    assert frozen > 5_000, "what is loaded is not looked at again and again"
    assert garbage < 10_000


async def test_another_c_library_is_left_as_it_is(tmp_path: Path) -> None:
    assert await printed(ANOTHER_LIBRARY, tmp_path) == "True\n"


async def test_free_memory_goes_back_every_now_and_then() -> None:
    class Ending(PassingClock):
        async def sleep(self, seconds: float) -> None:
            await super().sleep(seconds)
            if len(self.slept) == 3:
                raise EOFError

    clock = Ending()
    with pytest.raises(EOFError):
        await memory.keep_small(clock)
    assert clock.slept == [memory.EVERY_SECONDS] * 3
