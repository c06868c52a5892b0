"""People on the work branch: whenever they push, their commits survive, and work goes on upon them or is theirs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import anyio
import pytest
from branch_scene import AGAIN, APPROVED, FIX, NOTES, ROUND, contains, move, push, subjects, text, tip, work_branch
from engine import OWNER, REPOSITORY, Engine
from worker_scene import CODE, TESTS, calls, fence, labels, pulls, status

from lab.github.ci.behaviours import HONEST, NEVER, CiBehaviour
from lab.github.fault_injection.faults import Fault, FaultKind
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

SLOW = CiBehaviour(delay_seconds=1.0)

PUSH = r"\.git/git-receive-pack$"


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine that refactors nothing."""
    engine.repository_settings |= {"refactor": "off"}
    return engine


@dataclass
class Scene:
    """The state at one moment of the work, for tests that choose when a person pushes."""

    engine: Engine
    number: int
    fault: Fault | None = None
    began: bool = False

    @property
    def branch(self) -> str:
        return work_branch(self.number)

    async def phase(self) -> tuple[str, str]:
        found = await self.engine.fence(Role.WORKER, self.number)
        return ("", "") if found is None else (found.stage, found.phase)

    def files(self, pattern: str) -> bool:
        return any(self.engine.directory.glob(f"machine-1/workspaces/*/issue-*/{pattern}"))


Moment = Callable[[Scene], Awaitable[bool]]


async def between_red_and_green(at: Scene) -> bool:
    return await at.phase() == ("implementing", "green")


async def during_the_tests_of_green(at: Scene) -> bool:
    return await at.phase() == ("implementing", "green") and at.files("evidence/directory/greeting.py")


async def before_the_push(at: Scene) -> bool:
    if at.fault is None and await at.phase() == ("implementing", "green"):
        at.fault = at.engine.lab.faults.plan(Fault(FaultKind.DELAY, "POST", PUSH, seconds=1.0))
    return at.fault is not None and at.fault.seen > 0


async def before_the_pull_request(at: Scene) -> bool:
    at.fault = at.fault or at.engine.lab.faults.plan(Fault(FaultKind.DELAY, "POST", r"/pulls$", seconds=1.0))
    return at.fault.seen > 0


async def during_ci(at: Scene) -> bool:
    if not at.began:
        at.began = True
        at.engine.lab.ci_mood(REPOSITORY, SLOW, branch=at.branch)
    return bool(pulls(at.engine))


async def during_a_fix(at: Scene) -> bool:
    at.engine.ci.jobs = dict.fromkeys(at.engine.ci.jobs, "test -e ci.txt || test ! -e directory/greeting.py")
    return await at.phase() == ("implementing", "fix") and at.files("tree/directory/greeting.py")


async def during_the_answer_to_a_review(at: Scene) -> bool:
    found = pulls(at.engine)
    if found and not at.began and "status:reviewing" in labels(at.engine, at.number):
        at.began = True
        at.engine.lab.clock.advance(2)
        at.engine.lab.comment(REPOSITORY, found[0].number, "Please see to it.", author=OWNER)
        at.engine.lab.label(REPOSITORY, found[0].number, "status:changes-requested", actor=OWNER)
    asked = at.engine.scenario.parent.glob("machine-1/workspaces/*/issue-*/tree/directory/greeting.py")
    return at.began and (await at.phase())[1] == "feedback" and any(asked)


async def person(at: Scene, moment: Moment, pushed: list[str]) -> None:
    """Push one commit as a person as soon as the moment has come, on top of the engine's newest commit."""
    while not await moment(at):  # noqa: ASYNC110 - what it waits for is another machine's doing
        await anyio.sleep(0.02)
    at.engine.lab.clock.advance(2)
    ours = (await fence(at.engine, at.number)).work_head
    pushed.append(await push(at.engine, at.branch, NOTES, on=ours))


@pytest.mark.fault(31)
@pytest.mark.parametrize(
    "moment",
    [
        between_red_and_green,
        during_the_tests_of_green,
        before_the_push,
        before_the_pull_request,
        during_ci,
        during_a_fix,
        during_the_answer_to_a_review,
    ],
)
async def test_what_a_person_pushes_is_built_upon_whenever_it_comes(engine: Engine, moment: Moment) -> None:
    engine.script(TESTS + CODE + ROUND + FIX)
    at, pushed = Scene(engine, engine.ready("Greet people")), list[str]()
    ends = 2 if moment is during_the_answer_to_a_review else 1
    async with engine.agent(Role.WORKER) as worker, anyio.create_task_group() as group:
        group.start_soon(person, at, moment, pushed)
        await engine.in_time(lambda: bool(pushed) and len(worker.ended) >= ends, worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER] * ends
    (theirs,) = pushed
    assert await contains(engine, at.branch, theirs)
    assert await text(engine, at.branch, "NOTES.md") == NOTES["NOTES.md"]
    assert "def greet" in await text(engine, at.branch, "directory/greeting.py")
    found = await fence(engine, at.number)
    assert (found.work_head, found.stage) == (await tip(engine, at.branch), Stage.REVIEWING)
    assert found.attempt == 1, "nothing of this is an attempt"
    assert await noted(engine, at.number, theirs), "what the tests said of it was not noted"


async def noted(engine: Engine, number: int, commit: str) -> bool:
    """Return whether the issue's notes have one on this commit."""
    git = engine.lab.at(REPOSITORY).bare.git
    listed = (await git.check("notes", f"--ref=refs/notes/workflow/issue-{number}", "list")).text
    return commit in listed


async def waiting_for_ci(engine: Engine, worker: Loop) -> int:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")
    await engine.until(lambda: bool(worker.resting), worker)
    await engine.tick(worker)
    engine.lab.ci_mood(REPOSITORY, HONEST)
    return number


@pytest.mark.fault(31)
@pytest.mark.edges(
    "specification: testing, gave up",
    "pull_request: new, gave up",
)
async def test_a_branch_that_was_rewritten_without_ours_is_the_persons(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    async with engine.agent(Role.WORKER) as worker:
        number = await waiting_for_ci(engine, worker)
        ours = await tip(engine, work_branch(number))
        engine.lab.clock.advance(2)
        theirs = await push(engine, work_branch(number), NOTES, on=await tip(engine, "main"))
        await engine.until(lambda: bool(worker.ended), worker)
        assert worker.ended[0].result is Result.FAILED
    assert await tip(engine, work_branch(number)) == theirs
    assert ours in status(engine, number)
    assert theirs in status(engine, number)
    assert "flag:manual-intervention" in labels(engine, number)


@pytest.mark.fault(31)
async def test_a_branch_that_a_person_has_rebased_is_worked_on_when_they_ask_for_changes(engine: Engine) -> None:
    engine.script(TESTS + CODE + ROUND)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
    (pull,) = pulls(engine)
    branch = work_branch(number)
    files = {path: await text(engine, branch, path) for path in ("directory/greeting.py", "tests/test_greeting.py")}
    theirs = await push(engine, branch, files, on=await push(engine, "main", {"NEWS.md": "News.\n"}))
    engine.lab.clock.advance(2)
    engine.lab.comment(REPOSITORY, pull.number, "Please see to it.", author=OWNER)
    engine.lab.label(REPOSITORY, pull.number, "status:changes-requested", actor=OWNER)
    async with engine.agent(Role.WORKER, state="machine-2") as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert await contains(engine, branch, theirs)
    assert "text = f'Hello" in await text(engine, branch, "directory/greeting.py"), "what was asked for is done"
    assert labels(engine, number) == {"status:reviewing"}


@pytest.mark.fault(31)
async def test_what_a_person_took_back_is_not_pushed_again_but_made_anew(engine: Engine) -> None:
    engine.script(TESTS + CODE + AGAIN, ci="test -e directory/greeting.py")
    async with engine.agent(Role.WORKER) as worker:
        number = await waiting_for_ci(engine, worker)
        branch = work_branch(number)
        green = await tip(engine, branch)
        red = (await engine.lab.at(REPOSITORY).bare.log(None, green, 2))[1].sha
        engine.lab.clock.advance(2)
        await move(engine, branch, red)
        await engine.in_time(lambda: bool(worker.ended), worker)
        assert worker.ended[0].result is Result.HANDED_OVER
    assert await contains(engine, branch, red)
    assert not await contains(engine, branch, green), "what a person took away is back"
    assert (await subjects(engine, branch))[0] == "Fix CI for Greet people"
    assert calls(engine, "implement") == 1


@pytest.mark.fault(32)
async def test_a_branch_that_is_there_before_the_first_test_is_left_alone(engine: Engine) -> None:
    engine.script(TESTS + CODE)
    number = engine.ready("Greet people")
    theirs = await push(engine, work_branch(number), NOTES, on=await tip(engine, "main"))
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        assert worker.ended[0].result is Result.FAILED
    assert await tip(engine, work_branch(number)) == theirs
    assert calls(engine, "write_tests") == 0, "nothing is paid for it"


@pytest.mark.fault(31)
async def test_what_is_pushed_between_verdict_and_merge_is_not_merged_unseen_and_built_upon(engine: Engine) -> None:
    engine.script(TESTS + CODE + ROUND + APPROVED)
    engine.repository_settings |= {"merge": "approve"}
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER, state="machine-2") as reviewer:
        await engine.until(lambda: bool(worker.ended), worker)
        (pull,) = pulls(engine)
        await engine.until(lambda: "status:approved" in labels(engine, pull.number), reviewer)
        theirs = await push(engine, work_branch(number))
        engine.lab.clock.advance(2)
        engine.lab.comment(REPOSITORY, pull.number, "/merge", author=OWNER)
        for _ in range(3):
            await engine.tick(reviewer)
        assert engine.lab.at(REPOSITORY).pulls.require(pull.number).merged_at is None
        engine.lab.clock.advance(2)
        engine.lab.comment(REPOSITORY, pull.number, "Please see to it.", author=OWNER)
        engine.lab.label(REPOSITORY, pull.number, "status:changes-requested", actor=OWNER)
        await engine.until(lambda: len(worker.ended) == 2, worker)
    assert await contains(engine, work_branch(number), theirs)
    assert (await fence(engine, number)).work_head == await tip(engine, work_branch(number)) != theirs
