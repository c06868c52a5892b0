"""The worker and merges that people make: issues that GitHub does not close, and those that people keep open."""

from __future__ import annotations

import aiohttp
import pytest
from engine import OWNER, REPOSITORY, Engine
from fakes.clock import QuickClock
from worker_scene import CODE, TESTS, claims, fence, is_released, labels, once, pulls, status

from lab.github.ci.behaviours import NEVER
from lab.github.fault_injection.lag import How
from lab.github.merge_button import MergeOrder, press
from shared.reconcile.sweep import DOUBT_SECONDS, SWEEP_SECONDS
from shared.scheduling.agent_contract import Result
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a coder that knows one greeting, and a CI that takes no time."""
    engine.script(TESTS + CODE)
    return engine


async def branch_off(engine: Engine, name: str) -> None:
    """Make a second branch beside the default one, on which the engine works."""
    bare = engine.lab.at(REPOSITORY).bare
    async with bare.changing(OWNER):
        await bare.git.run("update-ref", f"refs/heads/{name}", "refs/heads/main")
    engine.repository_settings["base_branch"] = name


async def merge(engine: Engine) -> None:
    """Press the merge button as the owner."""
    (pull,) = pulls(engine)
    await press(engine.lab.at(REPOSITORY), pull.number, MergeOrder(), engine.lab.account(OWNER))


def requests(engine: Engine) -> int:
    """Return the number of requests that were answered in full; an unchanged answer costs nothing."""
    return len([exchange for exchange in engine.lab.exchanges if exchange.status != 304])


@pytest.mark.prompt("it counts requests")
@pytest.mark.fault(32)
async def test_an_issue_whose_pull_request_a_person_merged_beside_the_default_branch_is_closed(engine: Engine) -> None:
    await branch_off(engine, "release")
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.ended), worker)
        await engine.tick(worker)
        seen = requests(engine)
        await engine.tick(worker)
        assert requests(engine) == seen, "an open pull request is nothing to ask about"
        await merge(engine)
        assert engine.issue(number).open
        await engine.until(lambda: not engine.issue(number).open, worker)
        await engine.tick(worker)
        assert [end.result for end in worker.ended] == [Result.HANDED_OVER, Result.FINISHED]
    assert (await fence(engine, number)).stage is Stage.DONE
    assert labels(engine, number) == set(), "nothing waits for review"
    assert await is_released(engine, number)
    assert claims(engine, number) == 2


async def test_an_issue_that_a_person_opens_again_after_the_merge_stays_open(engine: Engine) -> None:
    number = engine.ready("Greet people")
    await once(engine, number)
    await merge(engine)
    assert not engine.issue(number).open
    engine.lab.at(REPOSITORY).issues.reopen(number, OWNER)
    async with engine.agent(Role.WORKER) as worker:
        for _ in range(3):
            await engine.tick(worker)
        assert worker.ended == []
    assert engine.issue(number).open
    assert claims(engine, number) == 1


async def test_a_merge_while_the_worker_waits_for_ci_is_told_and_stays_told(engine: Engine) -> None:
    engine.lab.ci_mood(REPOSITORY, NEVER)
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting) and bool(pulls(engine)), worker)
        await merge(engine)
        await engine.until(lambda: bool(worker.ended), worker)
    assert (await fence(engine, number)).stage is Stage.DONE
    assert "Merged in #2" in status(engine, number)


async def merge_late(engine: Engine, seed: int) -> None:
    """The same by the API of a server whose replicas do not all know of it at once."""
    (pull,) = pulls(engine)
    token = engine.lab.token(OWNER, {"contents": "write", "pull_requests": "write"})
    engine.lab.lag.begin(seed, share=1)
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as session:
        path = f"{engine.lab.url}/repos/{REPOSITORY}/pulls/{pull.number}"
        for method, url in (("PUT", f"{path}/merge"), ("GET", path)):  # that it is not computed yet is seen by others
            async with session.request(method, url, json={} if method == "PUT" else None) as answer:
                assert answer.status == 200


@pytest.mark.prompt("its own merge is late")
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_merge_that_the_pull_request_does_not_show_yet_is_no_withdrawal(engine: Engine, seed: int) -> None:
    """GitHub closes the issue with the merge, and its pull request is asked of a replica that is behind."""
    engine.clock = clock = QuickClock(engine.lab.clock.advance)
    engine.lab.ci_mood(REPOSITORY, NEVER)
    engine.lab.lag.begin(seed, share=1e-9)  # nothing is late yet; what is answered may be answered once more
    number = engine.ready("Greet people")
    async with engine.agent(Role.WORKER) as worker:
        await engine.until(lambda: bool(worker.resting) and bool(pulls(engine)), worker)
        for said in ("Hm.", "Fine."):  # so that the pull request is read while it is open
            clock.skip(2)
            engine.lab.comment(REPOSITORY, number, said, author=OWNER)
            await engine.tick(worker)
        await merge_late(engine, seed)
        await engine.until(lambda: bool(worker.ended), worker)
        assert engine.lab.lag.counts[How.OLDER]
        for seconds in (SWEEP_SECONDS, DOUBT_SECONDS, SWEEP_SECONDS):
            clock.skip(seconds)
            await engine.tick(worker)
    assert (await fence(engine, number)).stage is Stage.DONE
    assert "Merged in #2" in status(engine, number)
