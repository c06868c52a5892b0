"""The flaws of a plain comment lock that the adapters own, over real HTTP: labels, pages, stale reads, transfers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from claim_scene import scene_at
from engine import OWNER, REPOSITORY, Engine
from github_bench import NAME, bench
from worker_scene import CODE, TESTS, calls, claims, is_released, labels, pulls

from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.http.exchanges import Exchange
from lab.github.server import Lab
from shared.errors import Lost, Transient
from shared.github.label_board import LabelBoard
from shared.lock.hold import beat_until_lost, begin
from shared.lock.write_permit import OperatorPermit
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels

pytestmark = pytest.mark.long

HOUR_SECONDS, DAY_SECONDS = 3600.0, 86_400.0
PERSON = OperatorPermit("test")

LABELS = r"/issues/1/labels"
CHANGES = [
    Fault(kind, method, LABELS, nth=nth)
    for method, nth in (("POST", 1), ("POST", 2), ("DELETE", 1), ("DELETE", 2))
    for kind in (FaultKind.ERROR_BEFORE, FaultKind.LOST_REPLY)
]


def stage_labels(lab: Lab) -> list[str]:
    return [name for name in lab.at(NAME).issues.require(1).labels if name.startswith("status:")]


async def half_a_label_change(tmp_path: Path) -> None:
    """Fail each label call, before or after it was carried out: there is always a stage, and one after the next try."""
    async with bench(tmp_path) as b:
        b.lab.issue(NAME, "Search", author="ada", labels=("status:ready",))
        board, seen = LabelBoard(b.client("engine"), NAME, Labels()), [1]
        b.lab.exchanges.observe(lambda _: seen.append(len(stage_labels(b.lab))))
        stages = [Stage.IMPLEMENTING, Stage.TESTING]
        for fault in CHANGES:
            b.lab.faults.plan(Fault(fault.kind, fault.method, fault.path))
            stages.reverse()
            with pytest.raises(Transient):
                await board.show(1, stages[0], PERSON)
            await board.show(1, stages[0], PERSON)
            assert stage_labels(b.lab) == [f"status:{stages[0]}"], fault
        assert min(seen) == 1
        assert max(seen) == 2


async def a_thread_of_many_pages(tmp_path: Path) -> None:
    """Add 5,000 old comments: the ACK on the last page is seen, and a claim reads the thread three times at most."""
    async with scene_at(tmp_path) as scene:
        lab, (alice, bob) = scene.bench.lab, scene.agents
        lab.clock.advance(-2 * DAY_SECONDS)
        for number in range(5000):
            lab.comment(NAME, 1, f"remark {number}", author="ada")
        lab.clock.advance(2 * DAY_SECONDS)
        reads: list[str] = []
        lab.exchanges.observe(lambda one: reads.append(one.query) if _reads_the_thread(one) else None)
        lease = await alice.attempt()
        assert lease is not None
        assert len(reads) <= 3
        reads.clear()
        assert await bob.attempt() is None
        assert len(reads) <= 3
        assert await scene.fence() == "worker-a"


async def an_issue_that_moves_away(tmp_path: Path) -> None:
    """Transfer an issue that A holds, as a maintainer: A stops, and writes nothing in the new place."""
    async with scene_at(tmp_path) as scene:
        lab, alice = scene.bench.lab, scene.agents[0]
        await lab.repository("ada/other", {"a.py": ""}, collaborators={"engine": "write"})
        lease = await alice.attempt()
        assert lease is not None
        lab.transfer(NAME, 1, "ada/other", actor="ada")
        before = lab.at("ada/other").comments.of(1)
        held = begin(alice.port, lease, alice.claimant)
        with pytest.raises(Lost):
            await beat_until_lost(held)
        with pytest.raises(Lost):
            held.check()
        assert lab.at("ada/other").comments.of(1) == before


def _reads_the_thread(one: Exchange) -> bool:
    return one.method == "GET" and one.path.endswith("/issues/1/comments")


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(half_a_label_change, id="F9 labels are not atomic", marks=pytest.mark.fault(16)),
        pytest.param(a_thread_of_many_pages, id="F14 pagination", marks=pytest.mark.fault(18)),
        pytest.param(an_issue_that_moves_away, id="F18 issue transferred", marks=pytest.mark.fault(13)),
    ],
)
async def test_the_server_plays_no_trick(tmp_path: Path, story: Callable[[Path], Awaitable[None]]) -> None:
    await story(tmp_path)


async def a_person_moves_the_label_meanwhile(engine: Engine) -> None:
    """Take `ready` off between A's last look and its label change, as a maintainer: A works against nobody."""
    number = engine.ready("Greet people")
    looks = 0

    def maintainer(one: Exchange) -> None:
        nonlocal looks
        if one.method == "POST" and one.path.endswith(f"/issues/{number}/comments"):
            looks += 1
            if looks == 1:
                engine.lab.unlabel(REPOSITORY, number, "status:ready", actor=OWNER)
                engine.lab.label(REPOSITORY, number, "blocked", actor=OWNER)

    engine.lab.exchanges.observe(maintainer)
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
    assert looks >= 1
    assert labels(engine, number) == {"blocked"}
    assert calls(engine, "write_tests") == 0
    assert await is_released(engine, number)


async def a_stale_look_after_the_label_change(engine: Engine) -> None:
    """Move the label as A while late reads show it unmoved: A knows its own write, and finishes."""
    number = engine.ready("Greet people")
    engine.lab.clock.advance(2 * HOUR_SECONDS)
    engine.lab.faults.plan(Fault(FaultKind.STALE, "GET", rf"/issues/{number}$", nth=2, times=2, seconds=HOUR_SECONDS))
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert labels(engine, number) == {"status:reviewing"}
    assert len(pulls(engine)) == claims(engine, number) == 1


@pytest.mark.parametrize(
    "story",
    [
        pytest.param(
            a_person_moves_the_label_meanwhile,
            id="F6 a person's label",
            marks=pytest.mark.fault(17),
        ),
        pytest.param(a_stale_look_after_the_label_change, id="F16 stale verify"),
    ],
)
async def test_labels_play_no_trick(engine: Engine, story: Callable[[Engine], Awaitable[None]]) -> None:
    engine.script(TESTS + CODE)
    await story(engine)
