"""A pull request that GitHub does not open: the base has the work already, or the token may open none."""

from __future__ import annotations

import pytest
from engine import ENGINE, OWNER, REPOSITORY, Engine
from worker_scene import CODE, TESTS, branch, calls, fence, is_released, labels, once, pulls, status

from lab.github.fault_injection.faults import Fault, FaultKind
from shared.loop.polling_loop import Loop
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long

OPENED = f"/repos/{REPOSITORY}/pulls"


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting."""
    engine.script(TESTS + CODE)
    return engine


async def just_before_it_is_opened(engine: Engine, number: int, *moves: tuple[str, str]) -> Loop:
    """Move branches, each to another one's place, as a person, right before the pull request would be opened."""
    bare, done = engine.lab.at(REPOSITORY).bare, list[str]()

    async def moved(method: str, path: str) -> None:
        if (method, path) == ("POST", OPENED) and not done:
            done.append(path)
            for ref, to in moves:
                async with bare.changing(OWNER):
                    await bare.git.run("update-ref", f"refs/heads/{ref}", f"refs/heads/{to}")

    engine.lab.interludes.append(moved)
    worker = await once(engine, number)
    assert done, "nobody asked for a pull request"
    return worker


@pytest.mark.fault(36)
@pytest.mark.edges(
    "specification: testing, merged",
)
async def test_work_that_somebody_has_pushed_onto_the_base_is_done_without_a_pull_request(engine: Engine) -> None:
    number = engine.ready("Greet people")
    worker = await just_before_it_is_opened(engine, number, ("main", f"auto/issue-{number}"))
    assert [end.result for end in worker.ended] == [Result.FINISHED]
    ended = await fence(engine, number)
    assert ended.stage is Stage.DONE
    assert not engine.issue(number).open
    assert f"Done without a pull request: `main` has {ended.work_head[:12]} already." in status(engine, number)
    assert "flag:manual-intervention" not in labels(engine, number)
    assert pulls(engine) == []
    paid = {call: calls(engine, call) for call in ("write_tests", "implement", "diagnose")}
    async with engine.agent(Role.WORKER) as again:
        await engine.tick(again)
        await engine.tick(again)
    assert again.ended == [], "what is done is not taken up again"
    assert paid == {"write_tests": 1, "implement": 1, "diagnose": 0}
    assert {call: calls(engine, call) for call in paid} == paid


@pytest.mark.fault(36)
async def test_a_branch_that_was_emptied_is_not_taken_for_done(engine: Engine) -> None:
    number = engine.ready("Greet people")
    worker = await just_before_it_is_opened(engine, number, (f"auto/issue-{number}", "main"))
    assert [end.result for end in worker.ended] == [Result.FAILED]
    halted = await fence(engine, number)
    assert halted.stage is Stage.FAILED
    assert engine.issue(number).open
    assert "No commits between" in status(engine, number)
    assert f"Put {halted.work_head[:12]} back on `auto/issue-{number}`" in status(engine, number)


@pytest.mark.fault(11)
async def test_a_push_that_the_api_does_not_know_of_yet_ends_nothing(engine: Engine) -> None:
    number = engine.ready("Greet people")
    bare, pushed = engine.lab.at(REPOSITORY).bare, list[str]()
    ref = f"refs/heads/auto/issue-{number}"

    async def late(method: str, path: str) -> None:
        if (method, path) == ("POST", OPENED) and not pushed:
            pushed.append(await bare.sha(ref) or "")
            await bare.git.run("update-ref", ref, "refs/heads/main")
        elif pushed and (method, path) != ("POST", OPENED) and await bare.sha(ref) == await bare.sha("main"):
            await bare.git.run("update-ref", ref, pushed[0])

    engine.lab.interludes.append(late)
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: bool(worker.ended), worker)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert len(pulls(engine)) == 1
    assert pushed == [(await fence(engine, number)).work_head]


@pytest.mark.fault(36)
async def test_a_token_that_may_open_no_pull_request_is_a_persons_business(engine: Engine) -> None:
    engine.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", rf"{OPENED}$", status=403))
    number = engine.ready("Greet people")
    worker = await once(engine, number)
    assert [end.result for end in worker.ended] == [Result.FAILED]
    assert labels(engine, number) == {"status:failed", "flag:manual-intervention"}
    said = status(engine, number)
    assert "Let this token open pull requests (`pull_requests: write`" in said
    assert "`/retry` then opens this one, and nothing is paid again." in said
    assert pulls(engine) == []
    assert await branch(engine, number) == (await fence(engine, number)).work_head, "the work is kept"
    engine.lab.clock.advance(2)
    engine.lab.comment(REPOSITORY, number, "/retry", author=OWNER)
    await once(engine, number)
    assert await is_released(engine, number)
    assert len(pulls(engine)) == 1
    assert [calls(engine, call) for call in ("write_tests", "implement")] == [1, 1]
    assert "CI is green" in status(engine, number)


@pytest.mark.parametrize("instead", ["", "status:failed"])
async def test_a_stage_that_is_taken_off_while_the_pull_request_opens_is_an_order_to_stop(
    engine: Engine, instead: str
) -> None:
    number, taken = engine.ready("Greet people"), list[str]()

    async def taken_off(method: str, path: str) -> None:
        if (method, path) == ("POST", OPENED) and not taken:
            taken.extend(sorted(labels(engine, number)))
            engine.lab.clock.advance(2)
            engine.lab.unlabel(REPOSITORY, number, taken[0], actor=OWNER)
            if instead:
                engine.lab.label(REPOSITORY, number, instead, actor=OWNER)

    engine.lab.interludes.append(taken_off)
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: bool(worker.ended), worker)
    assert taken == ["status:implementing"]
    assert [end.result for end in worker.ended] == [Result.WITHDRAWN]
    assert (await fence(engine, number)).stage is Stage.WITHDRAWN
    assert labels(engine, number) == ({instead} if instead else set())


async def test_what_graphql_has_done_before_it_refused_is_no_order(engine: Engine) -> None:
    """GraphQL carries out what it can: it knows the issue, and not yet the pull request."""
    number, opened = engine.ready("Greet people"), list[str]()

    async def done_already(method: str, path: str) -> None:
        if (method, path) == ("POST", OPENED):
            opened.append(path)
        elif opened and "status:implementing" in labels(engine, number) and method == "POST":
            engine.lab.label(REPOSITORY, number, "status:testing", actor=ENGINE)
            engine.lab.unlabel(REPOSITORY, number, "status:implementing", actor=ENGINE)

    engine.lab.interludes.append(done_already)
    async with engine.agent(Role.WORKER) as worker:
        await engine.in_time(lambda: bool(worker.ended), worker)
    assert [end.result for end in worker.ended] == [Result.HANDED_OVER]
    assert labels(engine, number) == {"status:reviewing"}
