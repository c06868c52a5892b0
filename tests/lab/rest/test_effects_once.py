"""Effects that are not fenced happen once all the same: each is found again when its reply was lost, or asked about."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from engine import OWNER, REPOSITORY, Engine
from github_bench import NAME, bench
from github_script import lease
from worker_scene import CODE, TESTS, branch, calls, claims, comments, fence, is_released, labels, pulls, status

from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.merge_button import MergeOrder, press
from shared.errors import UnknownOutcome
from shared.github.errors import HeadMoved
from shared.github.pulls import Pulls
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

LOST = [
    ("POST", r"/issues/\d+/comments$", 1),
    ("POST", r"/issues/\d+/labels$", 1),
    ("DELETE", r"/issues/\d+/labels/", 1),
    ("POST", r"/pulls$", 1),
    ("PATCH", r"/issues/comments/\d+$", 1),
    ("POST", r"\.git/git-receive-pack$", 2),
]
"""One write of every kind that a worker makes: its comment, label on and off, pull request, edit, push of a phase."""


@pytest.mark.fault(9)
@pytest.mark.fault(32)
async def test_when_the_reply_of_every_kind_of_write_is_lost_each_effect_is_there_once(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    for method, path, nth in LOST:
        engine.lab.faults.plan(Fault(FaultKind.LOST_REPLY, method, path, nth=nth))
    async with engine.agent(Role.WORKER) as worker:
        while not worker.ended:  # it backs off after each failure
            await engine.tick(worker)
            await anyio.sleep(0.05)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    (pull,) = pulls(engine)
    assert (await fence(engine, number)).pr == pull.number
    assert claims(engine, number) == 1
    assert f"#{pull.number}" in status(engine, number)
    assert len(comments(engine, number)) == 1
    assert labels(engine, number) == {"status:reviewing"}
    assert labels(engine, pull.number) == {"automated", "status:reviewing"}
    assert calls(engine, "write_tests") == calls(engine, "implement") == 1
    tip = await branch(engine, number)
    assert tip is not None
    history = await engine.lab.at(REPOSITORY).bare.log("main", tip, 9)
    assert len(history) == 2, "one commit of tests, one of code"


@pytest.mark.fault(32)
async def test_a_pull_request_that_a_person_merged_before_we_knew_of_it_is_not_opened_again(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    engine.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "POST", r"/pulls$"))
    async with engine.agent(Role.WORKER) as worker:
        while not pulls(engine):  # not `until`, which ticks again where a replica was late
            await engine.look(worker)
            await anyio.sleep(0.05)
        (pull,) = pulls(engine)
        assert not (await fence(engine, number)).pr
        await press(engine.lab.at(REPOSITORY), pull.number, MergeOrder(), engine.lab.account(OWNER))
        await engine.until(lambda: bool(worker.ended), worker)
        assert worker.ended[0].result is not Result.FAILED
    assert len(pulls(engine)) == 1
    assert not engine.issue(number).open
    assert (await fence(engine, number)).stage in {Stage.DONE, Stage.WITHDRAWN}
    assert await is_released(engine, number)


@pytest.mark.fault(44)
async def test_a_merge_happens_at_the_judged_commit_and_once(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        pulls, held = Pulls(b.client("engine"), NAME), lease(b.clock)
        judged = await b.branch("auto/issue-1", "a.py", "one\n2\nthree\n")
        opened = await pulls.open("T", "B", "auto/issue-1", "main", held)
        moved = await b.branch("auto/issue-1", "b.py", "more\n")
        main = await b.lab.at(NAME).bare.sha("main")
        with pytest.raises(HeadMoved):
            await pulls.merge(opened.number, judged, "squash", "T", held)
        assert await b.lab.at(NAME).bare.sha("main") == main
        b.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "PUT", r"/merge$"))
        with pytest.raises(UnknownOutcome):
            await pulls.merge(opened.number, moved, "squash", "T", held)
        merged = await pulls.merge(opened.number, moved, "squash", "T", held)
        assert [commit.sha for commit in await b.lab.at(NAME).bare.log(main, "main", 9)] == [merged]
