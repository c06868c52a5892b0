"""Drain and pause: nothing new is begun, what is held is let go when its phase has ended, and not before."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest
from fakes.agent import DONE, HANG, INTERVAL, FakeAgent
from fakes.clock import HandClock
from structlog.testing import capture_logs

from shared.errors import Transient
from shared.filesystem.disk_space import DiskSpace
from shared.lock.hold import Held
from shared.lock.lease import Lease
from shared.loop.polling_loop import Loop
from shared.scheduling.admission import Admission, Paused
from shared.scheduling.agent_contract import Candidate, Claim, Ended, Rest, Result, Skip, Step
from shared.scheduling.slots import Slots

CI = Rest("ci")


def loop_of(agent: FakeAgent, admission: Admission) -> Loop:
    return Loop(agent, HandClock(), slots=Slots(2, HandClock()), interval_seconds=INTERVAL, admission=admission)


async def test_a_drained_loop_ends_by_itself_after_the_phases_in_work() -> None:
    phase, admission = anyio.Event(), Admission()
    agent = FakeAgent([1, 2, 3], {1: [phase, HANG], 2: [CI]})
    async with loop_of(agent, admission).open() as loop, anyio.create_task_group() as group:
        group.start_soon(loop.run, anyio.Event())
        await anyio.wait_all_tasks_blocked()
        admission.shut("drained")
        await anyio.wait_all_tasks_blocked()
        assert loop.ended == [Ended(Result.PARKED, "drained")], "what only waits is let go at once"
        assert agent.held == {1}
        phase.set()
    assert loop.ended == [Ended(Result.PARKED, "drained")] * 2
    assert agent.log == ["claim 1", "claim 2", "step 1", "step 2", "release 2", "release 1"]


async def test_a_pause_lets_go_and_ends_with_its_file(tmp_path: Path) -> None:
    file = tmp_path / "PAUSE"
    told: list[tuple[str, str]] = []
    admission = Admission(pause_file=file, tell=lambda state, reason: told.append((state, reason)))
    agent = FakeAgent([1], {1: [CI, DONE]})
    async with loop_of(agent, admission).open() as loop:
        await loop.tick()
        await loop.quiet()
        file.write_text("the weekend\nmore\n")
        with capture_logs() as events:
            for _ in range(3):
                await loop.tick()
                await loop.quiet()
            assert agent.log == ["claim 1", "step 1", "release 1"]
            assert not admission.final
            file.unlink()
            await loop.tick()
            await loop.quiet()
    assert agent.log[3:] == ["claim 1", "step 1", "release 1"]
    assert [event["event"] for event in events if event["event"] in {"paused", "resumed"}] == ["paused", "resumed"]
    assert [state for state, _ in told] == ["paused", "resumed"]
    assert told[0][1].startswith("paused (the weekend): `workflow-engine resume` ends it")


async def test_a_person_s_order_goes_before_a_drain() -> None:
    admission = Admission()
    agent = FakeAgent([1], {1: [CI]})
    async with loop_of(agent, admission).open() as loop:
        await loop.tick()
        await loop.quiet()
        agent.orders = {1: "closed"}
        await loop.tick(claims=0)
        admission.shut("drained")
        await loop.quiet()
    assert loop.ended == [Ended(Result.WITHDRAWN, "closed")]


async def test_once_on_a_paused_machine_says_so(tmp_path: Path) -> None:
    (tmp_path / "PAUSE").touch()
    agent = FakeAgent([1])
    async with loop_of(agent, Admission(pause_file=tmp_path / "PAUSE")).open() as loop:
        with pytest.raises(Paused, match="`workflow-engine resume` ends it, or removing"):
            await loop.once(anyio.Event(), wait=True)
    assert agent.log == []


@pytest.mark.fault(30)
async def test_a_place_that_has_become_read_only_pauses_claims_until_it_is_not(tmp_path: Path) -> None:
    answers = [False, False, True]
    told: list[str] = []
    room = DiskSpace((tmp_path,), writable=lambda _: answers.pop(0))
    admission = Admission(room, tell=lambda state, reason: told.append(f"{state} {reason}"))
    agent = FakeAgent([1])
    async with loop_of(agent, admission).open() as loop:
        for claims in (0, 0, 1):
            await loop.tick()
            await loop.quiet()
            assert agent.count("claim 1") == claims
    assert told == [f"no_room {tmp_path} cannot be written: nothing is claimed until it can.", "resumed "]


async def test_what_was_claimed_in_the_moment_of_a_pause_is_let_go_without_a_step(tmp_path: Path) -> None:
    class Slow(FakeAgent):
        async def claim(self, number: int) -> Lease | Skip:
            (tmp_path / "PAUSE").touch()
            return await super().claim(number)

    agent = Slow([1])
    async with loop_of(agent, Admission(pause_file=tmp_path / "PAUSE")).open() as loop:
        await loop.tick()
        await loop.quiet()
    assert agent.log == ["claim 1", "release 1"]
    assert [end.result for end in loop.ended] == [Result.PARKED]


@pytest.mark.parametrize("order", ["drain", "pause"])
async def test_what_waits_is_let_go_while_github_is_away(tmp_path: Path, order: str) -> None:
    admission = Admission(pause_file=tmp_path / "PAUSE")
    agent = FakeAgent([1], {1: [CI]})
    async with loop_of(agent, admission).open() as loop:
        await loop.tick()
        await loop.quiet()
        agent.discovery = [Transient("GitHub is away")]
        if order == "drain":
            admission.shut("drained")
        else:
            (tmp_path / "PAUSE").touch()
            with pytest.raises(Transient):
                await loop.tick()
        await loop.quiet()
        assert [end.result for end in loop.ended] == [Result.PARKED]
        assert agent.held == set()


async def test_what_begins_to_wait_after_a_drain_is_let_go_without_another_tick() -> None:
    class Waits(FakeAgent):
        async def step(self, held: Held) -> Step:
            await super().step(held)
            return CI

    phase, admission = anyio.Event(), Admission()
    agent = Waits([1], {1: [phase]})
    async with loop_of(agent, admission).open() as loop:
        await loop.tick()
        await anyio.wait_all_tasks_blocked()
        admission.shut("drained")
        phase.set()
        await anyio.wait_all_tasks_blocked()
        assert loop.ended == [Ended(Result.PARKED, "drained")]


async def test_while_it_leaves_a_loop_is_not_hurried_but_ends_with_its_last_item() -> None:
    class Counted(FakeAgent):
        looks = 0

        async def discover(self) -> Sequence[Candidate]:
            self.looks += 1
            return await super().discover()

    ended: list[int] = []

    async def run(loop: Loop) -> None:
        await loop.run(anyio.Event())
        ended.append(1)

    phase, admission = anyio.Event(), Admission()
    agent = Counted([1], {1: [phase, HANG]})
    async with loop_of(agent, admission).open() as loop, anyio.create_task_group() as group:
        group.start_soon(run, loop)
        await anyio.wait_all_tasks_blocked()
        admission.shut("drained")
        for _ in range(20):
            loop.poke()
            await anyio.wait_all_tasks_blocked()
        looks = agent.looks
        phase.set()
        await anyio.wait_all_tasks_blocked()
        assert ended == [1], "the floor between two ticks does not hold it up"
    assert looks == agent.looks == 1


async def test_an_order_to_stop_that_comes_during_a_look_stops_its_claims(tmp_path: Path) -> None:
    class Reading(FakeAgent):
        async def prepare(self, candidate: Candidate) -> Claim | Skip:
            file.write_text("upgrade")
            return await super().prepare(candidate)

        async def claim(self, number: int) -> Lease:
            raise AssertionError("no lock is made to be released at once")

    file = tmp_path / "PAUSE"
    agent = Reading(list(range(1, 9)))
    async with loop_of(agent, Admission(pause_file=file)).open() as loop:
        assert await loop.tick() == 0
        assert [reason.partition(": paused (upgrade)")[0] for reason in loop.skipped] == ["ada/thing#1"], "one was read"
