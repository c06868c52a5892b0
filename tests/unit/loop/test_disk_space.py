"""Room on disks: nothing is begun without it, a full disk is waited for, and both say which disk it is."""

from __future__ import annotations

import errno
from pathlib import Path

import anyio
import pytest
from fakes.agent import DONE, INTERVAL, FakeAgent
from fakes.clock import HandClock
from structlog.testing import capture_logs

from config.state import StateDirectory
from shared.errors import Misconfigured
from shared.filesystem.disk_space import (
    LEAST_FREE_BYTES,
    DiskFull,
    DiskSpace,
    as_disk_full,
    existing,
    free_bytes,
    mount_of,
)
from shared.loop.polling_loop import Loop
from shared.scheduling.admission import Admission
from shared.scheduling.agent_contract import Rest

PLENTY = 10 * LEAST_FREE_BYTES


class Disk:
    """A disk with as much free space as a test sets."""

    def __init__(self, free: int = PLENTY) -> None:
        self.free = free

    def __call__(self, path: Path) -> int:
        return self.free


def loop_of(agent: FakeAgent, disk: Disk, *places: Path) -> Loop:
    room = DiskSpace(places or (Path("/"),), free=disk, writable=lambda _: True)
    return Loop(agent, HandClock(), interval_seconds=INTERVAL, admission=Admission(room))


@pytest.mark.fault(29)
async def test_nothing_is_claimed_without_room_and_it_goes_on_by_itself() -> None:
    agent, disk = FakeAgent([1, 2], {1: [DONE], 2: [DONE]}), Disk(LEAST_FREE_BYTES - 1)
    with capture_logs() as events:
        async with loop_of(agent, disk).open() as loop:
            for _ in range(3):
                await loop.tick()
            assert agent.log == []
            disk.free = LEAST_FREE_BYTES
            for _ in range(2):
                await loop.tick()
                await loop.quiet()
            assert loop.ended == [DONE, DONE]
    assert [event["event"] for event in events if event["event"].startswith("claims_")] == [
        "claims_paused",
        "claims_resumed",
    ]
    (paused,) = [event for event in events if event["event"] == "claims_paused"]
    assert "256 MiB are free on / (for /)" in paused["reason"]


@pytest.mark.fault(29)
async def test_what_is_in_work_goes_on_without_room() -> None:
    agent, disk = FakeAgent([1, 2], {1: [Rest("ci"), DONE], 2: [DONE]}), Disk()
    async with loop_of(agent, disk).open() as loop:
        await loop.tick()
        await loop.quiet()
        disk.free = 0
        await loop.tick()
        await loop.quiet()
        assert loop.ended == [DONE]
        assert "claim 2" not in agent.log


@pytest.mark.fault(29)
async def test_once_says_that_there_is_no_room() -> None:
    async with loop_of(FakeAgent([1]), Disk(0)).open() as loop:
        with pytest.raises(DiskFull, match="nothing is claimed until there is more"):
            await loop.once(anyio.Event(), wait=False)


@pytest.mark.fault(29)
@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
async def test_a_full_disk_in_a_step_is_waited_for_and_named(tmp_path: Path, code: int) -> None:
    error = OSError(code, "No space left on device", str(tmp_path / "kept" / "patch.diff"))
    agent = FakeAgent([1], {1: [error, DONE]})
    async with loop_of(agent, Disk()).open() as loop:
        await loop.tick()
        await loop.quiet()
        (rest,) = loop.resting
        assert rest.reason == "backoff"
        assert f"No space is left on {mount_of(tmp_path)}" in rest.sentence
        await loop.tick()
        await loop.quiet()
        assert loop.ended == [DONE]
    assert "fail 1" not in " ".join(agent.log)


async def test_any_other_error_of_the_system_is_a_bug_as_before() -> None:
    agent = FakeAgent([1], {1: [PermissionError(errno.EACCES, "Permission denied", "/x"), DONE]})
    async with loop_of(agent, Disk()).open() as loop:
        await loop.tick()
        await loop.quiet()
        assert "PermissionError" in loop.ended[0].sentence
        assert loop.resting == ()


@pytest.mark.parametrize("error", [OSError(errno.EACCES, "no"), OSError(errno.ENOENT, "no")])
def test_only_a_full_disk_is_no_room(error: OSError) -> None:
    assert as_disk_full(error) is None


def test_a_full_disk_without_a_name_is_told_too() -> None:
    assert "No space is left on a disk" in str(as_disk_full(OSError(errno.ENOSPC, "full")))


def test_a_place_that_does_not_exist_yet_is_on_the_disk_above_it(tmp_path: Path) -> None:
    assert existing(tmp_path / "a" / "b") == tmp_path
    assert free_bytes(tmp_path / "a" / "b") > 0
    assert mount_of(tmp_path / "a" / "b") in (tmp_path.resolve(), *tmp_path.resolve().parents)


@pytest.mark.fault(29)
def test_a_state_directory_that_cannot_be_used_for_another_reason_is_a_person_s(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misconfigured, match="cannot be used"):
        StateDirectory(tmp_path / "file" / "state").open()
