"""Work that a person stopped and asks for again: what counts as a new start, and what is answered."""

from __future__ import annotations

import pytest
from branch_scene import FIX
from engine import OWNER, REPOSITORY, Engine
from worker_scene import CODE, TESTS, calls, claims, comments, drop_branch, labels, pulls, status

from lab.github.ci.behaviours import NEVER
from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.http.exchanges import Exchange
from shared.scheduling.agent_contract import Result
from shared.workflow import Role


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting."""
    engine.script(TESTS + CODE)
    return engine


@pytest.mark.long
@pytest.mark.fault(17)
async def test_ready_set_in_place_of_the_label_of_stopped_work_counts_as_a_new_start(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        engine.lab.close(REPOSITORY, pulls(engine)[0].number, actor=OWNER)
        await drop_branch(engine, number)
        engine.lab.label(REPOSITORY, number, "status:ready", actor=OWNER)
        engine.lab.unlabel(REPOSITORY, number, "status:testing", actor=OWNER)
        engine.lab.clock.advance(60)
        await engine.until(lambda: bool(worker.ended) and bool(worker.resting), worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
    assert len(pulls(engine)) == 2
    assert labels(engine, number) == {"status:testing"}


@pytest.mark.fault(17)
async def test_ready_beside_an_open_pull_request_is_answered_once(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting), worker)
        engine.lab.unlabel(REPOSITORY, number, "status:testing", actor=OWNER)
        await engine.tick(worker)
        assert "set `status:reviewing` on this issue and on #2 to have it reviewed as it is" in status(engine, number)
        before = len(comments(engine, number))
        engine.lab.clock.advance(2)
        engine.lab.label(REPOSITORY, number, "status:ready", actor="mallory")
        await engine.tick(worker)
        assert "begins nothing" not in status(engine, number)
        engine.lab.clock.advance(2)
        engine.lab.unlabel(REPOSITORY, number, "status:ready", actor=OWNER)
        engine.lab.label(REPOSITORY, number, "status:ready", actor=OWNER)
        await engine.tick(worker)
        assert "`status:ready` starts nothing here while #2 is open." in status(engine, number)
        sent: list[str] = []
        engine.lab.exchanges.observe(lambda one: sent.append(one.path) if one.method in {"POST", "PATCH"} else None)
        engine.lab.clock.advance(2)
        engine.lab.comment(REPOSITORY, number, "Hm.", author=OWNER)
        await engine.tick(worker)
        await engine.tick(worker)
        assert [path for path in sent if "/comments" in path] == []
        assert (len(worker.ended), worker.busy, worker.resting) == (1, 0, ())
    assert len(comments(engine, number)) == before + 1, "only the person's own word was added"


@pytest.mark.fault(17)
async def test_a_stale_ready_does_not_restart_what_a_person_stopped_by_taking_it_off(engine: Engine) -> None:
    number = engine.ready("Greet people")
    engine.lab.clock.advance(7200)
    taken = False

    def person(one: Exchange) -> None:
        nonlocal taken
        if not taken and one.method == "POST" and one.path.endswith("/comments"):
            taken = True
            engine.lab.unlabel(REPOSITORY, number, "status:ready", actor=OWNER)

    engine.lab.exchanges.observe(person)
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
        for path in (rf"/issues/{number}$", r"/issues$", rf"/issues/{number}/events$"):
            engine.lab.faults.plan(Fault(FaultKind.STALE, "GET", path, times=50, seconds=3600.0))
        engine.lab.clock.advance(2)
        engine.lab.comment(REPOSITORY, number, "Hm.", author=OWNER)
        await engine.tick(worker)
        await engine.tick(worker)
        assert (len(worker.ended), worker.busy) == (1, 0)
        engine.lab.faults.clear()
    assert claims(engine, number) == 1
    assert calls(engine, "write_tests") == 0


@pytest.mark.long
@pytest.mark.edges(
    "specification: failed, retried, pull request open",
    "pull_request: failed, retried",
    "pull_request: testing, CI red",
)
async def test_retry_after_a_ci_repair_that_failed_repairs_ci_and_pays_for_no_blind_round(engine: Engine) -> None:
    engine.repository_settings |= {"refactor": "off"}
    engine.script(TESTS + CODE + "- call: fix_ci\n  attempt: any\n  fails: max_budget\n")
    engine.ci.jobs = dict.fromkeys(engine.ci.jobs, "test -e ci.txt || test ! -e directory/greeting.py")
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    assert (calls(engine, "implement"), calls(engine, "fix_ci")) == (1, 1)
    engine.script(FIX.replace("attempt: any", "attempt: any\n  round: 1"))
    engine.ci.jobs = dict.fromkeys(engine.ci.jobs, "test -e ci.txt || test ! -e directory/greeting.py")
    engine.lab.comment(REPOSITORY, number, "/retry", author=OWNER)
    async with engine.agent(Role.WORKER) as again:
        await engine.in_time(lambda: bool(again.ended), again)
        assert [end.result for end in again.ended] == [Result.HANDED_OVER]
    assert (calls(engine, "implement"), calls(engine, "fix_ci")) == (1, 2), "CI said what there is to do"


@pytest.mark.long
async def test_retry_opens_the_pull_request_that_could_not_be_opened(engine: Engine) -> None:
    engine.repository_settings |= {"refactor": "off"}
    engine.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, method="POST", path=r"/pulls$", status=403))
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    assert pulls(engine) == []
    engine.lab.comment(REPOSITORY, number, "/retry", author=OWNER)
    async with engine.agent(Role.WORKER) as again:
        await engine.in_time(lambda: bool(again.ended), again)
        assert [end.result for end in again.ended] == [Result.HANDED_OVER]
    assert len(pulls(engine)) == 1
    assert calls(engine, "implement") == 1
