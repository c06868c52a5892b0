"""Items that no list shows: what their fence says is finished, gone on with or buried, and nothing else is touched."""

from __future__ import annotations

from typing import Any

import orphan_scene
import pytest
from engine import ENGINE, OWNER, REPOSITORY, Engine
from fakes.clock import QuickClock
from orphan_scene import charged, forget_comments, issue, merge, merge_unseen, one_life, pull_request, stage, writes
from structlog.testing import capture_logs
from worker_scene import CODE, branch, claims, comments, labels

from lab.github.fault_injection.faults import Fault, FaultKind
from shared.lock.fence import write_fence
from shared.reconcile.sweep import DOUBT_SECONDS, RETRY_SECONDS
from shared.workflow import Role, Stage

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine whose coder must not be asked."""
    engine.script(CODE)
    return engine


@pytest.mark.fault(37)
@pytest.mark.fault(32)
async def test_a_reviewer_killed_after_its_merge_is_finished_by_the_next_one(engine: Engine) -> None:
    number = issue(engine, "status:reviewing")
    pull = await pull_request(engine, number, "status:approved")
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.REVIEWING, pr=pull)
    await orphan_scene.fence(engine, Role.REVIEWER, pull, Stage.APPROVED, pr=pull)
    merge(engine, pull, number)
    assert await one_life(engine, Role.REVIEWER) == ["finished"]
    assert await stage(engine, Role.REVIEWER, pull) is Stage.DONE
    assert await stage(engine, Role.WORKER, number) is Stage.DONE
    assert await branch(engine, number) is None
    assert comments(engine, number) == [], "a closed issue was written to"
    assert claims(engine, pull) == 2, "by the agent that is gone, and once more"
    assert await one_life(engine, Role.REVIEWER) == [], "it was finished twice"


@pytest.mark.fault(32)
async def test_an_issue_that_was_merged_while_no_worker_looked_is_done_without_a_word(engine: Engine) -> None:
    number = issue(engine, "status:reviewing")
    pull = await pull_request(engine, number, "status:approved")
    seen = await orphan_scene.fence(engine, Role.WORKER, number, Stage.REVIEWING, pr=pull)
    merge(engine, pull, number)
    assert await one_life(engine, Role.WORKER) == []
    found = await engine.fence(Role.WORKER, number)
    assert found is not None
    assert (found.stage, found.work_head, found.pr) == (Stage.DONE, seen.work_head, pull)
    assert [one.split()[1] for one in writes(engine)] == ["/graphql"], "what has ended shows no stage"
    assert not any(one.startswith("status:") for n in (number, pull) for one in engine.issue(n).labels)
    assert await branch(engine, number) == seen.work_head, "the branch is the reviewer's to delete"


@pytest.mark.fault(14)
@pytest.mark.parametrize("how", ["close", "lock and unlabel"])
async def test_what_a_person_ended_while_nobody_held_it_is_withdrawn_and_its_work_kept(
    engine: Engine, how: str
) -> None:
    number = issue(engine, "status:testing")
    pull = await pull_request(engine, number)
    seen = await orphan_scene.fence(engine, Role.WORKER, number, Stage.TESTING, pr=pull)
    if how == "close":
        engine.lab.close(REPOSITORY, number, actor=OWNER)
        engine.lab.close(REPOSITORY, pull, actor=OWNER)
    else:
        engine.lab.unlabel(REPOSITORY, number, "status:testing", actor=OWNER)
        engine.lab.lock(REPOSITORY, number, actor=OWNER)
    assert await one_life(engine, Role.WORKER) == []
    found = await engine.fence(Role.WORKER, number)
    assert found is not None
    assert (found.stage, found.work_head) == (Stage.WITHDRAWN, seen.work_head)
    assert await branch(engine, number) == seen.work_head
    assert [one.split()[0] for one in writes(engine)] == (["DELETE"] if how == "close" else []), "its stage, no word"


@pytest.fixture
def clock(engine: Engine) -> QuickClock:
    """Give the agents a clock that the test moves, and return it."""
    engine.clock = clock = QuickClock(engine.lab.clock.advance)
    return clock


@pytest.mark.fault(11)
@pytest.mark.parametrize("role", [Role.WORKER, Role.REVIEWER])
async def test_a_merge_that_a_replica_does_not_show_yet_is_no_withdrawal(
    engine: Engine, clock: QuickClock, role: Role
) -> None:
    number = issue(engine, "status:reviewing")
    pull = await pull_request(engine, number, "status:approved")
    at = await orphan_scene.fence(engine, Role.WORKER, number, Stage.REVIEWING, pr=pull)
    if role is Role.REVIEWER:
        at = await orphan_scene.fence(engine, role, pull, Stage.APPROVED, pr=pull)
    late = merge_unseen(engine, pull, number)
    async with engine.agent(role, state="fresh") as loop:
        await engine.tick(loop)
        assert len(late) == 1, "the replica was asked"
        clock.skip(DOUBT_SECONDS - 10)
        await engine.tick(loop)
        assert await engine.fence(role, at.key.number) == at
        assert writes(engine) == [], "nothing is concluded from what may be old"
        clock.skip(10)
        await engine.until(lambda: labels(engine, pull) == set(), loop)
        assert await stage(engine, role, at.key.number) is Stage.DONE
        assert [end.result.value for end in loop.ended] == ([] if role is Role.WORKER else ["finished"])


@pytest.mark.prompt("it counts requests")
@pytest.mark.fault(14)
async def test_an_issue_that_a_person_closed_beside_its_open_pull_request_is_withdrawn_at_the_second_look(
    engine: Engine, clock: QuickClock
) -> None:
    number = issue(engine, "status:testing")
    pull = await pull_request(engine, number)
    seen = await orphan_scene.fence(engine, Role.WORKER, number, Stage.TESTING, pr=pull)
    engine.lab.close(REPOSITORY, number, actor=OWNER)
    async with engine.agent(Role.WORKER, state="fresh") as worker:
        await engine.tick(worker)
        clock.skip(DOUBT_SECONDS - 10)
        before = charged(engine)
        await engine.tick(worker)
        assert charged(engine) == before, "it is too early to ask"
        assert await engine.fence(Role.WORKER, number) == seen
        clock.skip(10)
        await engine.tick(worker)
        assert await stage(engine, Role.WORKER, number) is Stage.WITHDRAWN
        assert [one.split()[0] for one in writes(engine)] == ["DELETE"], "its stage, no word"
        before = charged(engine)
        clock.skip(DOUBT_SECONDS)
        await engine.tick(worker)
        assert charged(engine) == before, "what was decided is not asked again"
    assert labels(engine, number) == set()
    assert engine.issue(pull).open


@pytest.mark.fault(40)
async def test_what_a_live_holder_works_on_is_left_to_it(engine: Engine) -> None:
    number = issue(engine, "status:testing")
    seen = await orphan_scene.live_fence(engine, number, Stage.TESTING)
    engine.lab.close(REPOSITORY, number, actor=OWNER)
    assert await one_life(engine, Role.WORKER) == []
    assert await engine.fence(Role.WORKER, number) == seen
    assert writes(engine) == []
    forget_comments(engine, number)


@pytest.mark.fault(12)
@pytest.mark.parametrize(
    ("facts", "left"),
    [({}, Stage.WITHDRAWN), ({"days": 0.01, "released": ""}, Stage.IMPLEMENTING)],
    ids=["free", "held"],
)
async def test_a_deleted_issue_is_withdrawn_once_its_holder_had_time_to_notice(
    engine: Engine, facts: dict[str, Any], left: Stage
) -> None:
    number = issue(engine, "status:implementing")
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.IMPLEMENTING, **facts)
    engine.lab.delete(REPOSITORY, number)
    await one_life(engine, Role.WORKER)
    assert await stage(engine, Role.WORKER, number) is left
    assert writes(engine) == []


@pytest.mark.fault(17)
async def test_a_label_that_a_person_took_off_while_nobody_looked_is_an_order(engine: Engine) -> None:
    number = issue(engine, "status:implementing")
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.IMPLEMENTING)
    engine.lab.unlabel(REPOSITORY, number, "status:implementing", actor=OWNER)
    assert await one_life(engine, Role.WORKER, ticks=2) == []
    assert await stage(engine, Role.WORKER, number) is Stage.WITHDRAWN
    assert labels(engine, number) == set(), "what a person took off was put back"
    assert comments(engine, number) == []


@pytest.mark.parametrize(
    ("days", "closed", "kept"), [(31, True, False), (29, True, True), (31, False, True)], ids=["old", "young", "open"]
)
async def test_the_tombstone_of_a_closed_item_goes_after_thirty_days(
    engine: Engine, days: float, closed: bool, kept: bool
) -> None:
    number = issue(engine, "status:reviewing")
    if closed:
        engine.lab.close(REPOSITORY, number, actor=OWNER)
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.DONE, days=0)
    engine.lab.clock.advance(days * 86400)
    await one_life(engine, Role.WORKER)
    assert (await stage(engine, Role.WORKER, number) is Stage.DONE) is kept
    assert writes(engine) == []


@pytest.mark.prompt("it counts requests")
async def test_a_sweep_is_over_after_one_look_and_costs_no_request_after_it(engine: Engine) -> None:
    number = issue(engine, "status:failed")
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.FAILED)
    fetches: list[str] = []

    async def note(method: str, path: str) -> None:
        fetches.extend([path] if ".git/" in path else [])

    engine.lab.interludes.append(note)
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        before, swept = charged(engine), len(fetches)
        for _ in range(3):
            await engine.tick(worker)
        assert charged(engine) == before
        assert swept > 0
        assert len(fetches) == swept
    assert await stage(engine, Role.WORKER, number) is Stage.FAILED


async def test_a_suspect_that_github_did_not_show_is_looked_at_a_minute_later(
    engine: Engine, clock: QuickClock
) -> None:
    number = issue(engine, "status:reviewing")
    pull = await pull_request(engine, number, "status:approved")
    await orphan_scene.fence(engine, Role.WORKER, number, Stage.REVIEWING, pr=pull)
    merge(engine, pull, number)
    engine.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "GET", f"/issues/{number}$", times=3, status=500))
    async with engine.agent(Role.WORKER) as worker:
        await engine.tick(worker)
        assert await stage(engine, Role.WORKER, number) is Stage.REVIEWING
        clock.skip(RETRY_SECONDS - 10)
        await engine.tick(worker)
        assert await stage(engine, Role.WORKER, number) is Stage.REVIEWING
        clock.skip(10)
        await engine.tick(worker)
        assert await stage(engine, Role.WORKER, number) is Stage.DONE, "not by the next sweep, in ten minutes"


async def test_a_specified_story_that_was_closed_is_done(engine: Engine) -> None:
    story = engine.lab.issue(REPOSITORY, "A story", author=OWNER, labels=("story", "status:specified")).number
    other = engine.lab.issue(REPOSITORY, "Another", author=OWNER, labels=("story", "status:planning")).number
    await orphan_scene.fence(engine, Role.PLANNER, story, Stage.SPECIFIED)
    await orphan_scene.fence(engine, Role.PLANNER, other, Stage.PLANNING)
    for number in (story, other):
        engine.lab.close(REPOSITORY, number, actor=OWNER)
    assert await one_life(engine, Role.PLANNER) == []
    assert await stage(engine, Role.PLANNER, story) is Stage.DONE
    assert await stage(engine, Role.PLANNER, other) is Stage.WITHDRAWN
    assert {one.split()[0] for one in writes(engine)} == {"DELETE"}, "stages, and no word"


@pytest.mark.fault(14)
@pytest.mark.parametrize(("role", "how"), [(Role.WORKER, "close"), (Role.WORKER, "unlabel"), (Role.PLANNER, "close")])
async def test_a_status_comment_that_says_working_says_stopped_once_the_item_was_withdrawn(
    engine: Engine, role: Role, how: str
) -> None:
    shown, at = ("status:testing", Stage.TESTING) if role is Role.WORKER else ("status:planning", Stage.PLANNING)
    number = issue(engine, *(() if role is Role.WORKER else ("story",)), shown)
    said = f"<!-- engine-status/1 kind={role} n={number} rev=3 mac=none -->\nWorking."
    engine.lab.comment(REPOSITORY, number, said, author=ENGINE)
    await orphan_scene.fence(engine, role, number, at)
    if how == "close":
        engine.lab.close(REPOSITORY, number, actor=OWNER)
    else:
        engine.lab.unlabel(REPOSITORY, number, shown, actor=OWNER)
    assert await one_life(engine, role, ticks=2) == []
    assert await stage(engine, role, number) is Stage.WITHDRAWN
    (told,) = comments(engine, number)
    assert "Stopped: " in told.body
    assert ("closed" if how == "close" else "stage label") in told.body
    assert "**What to do:**" in told.body or role is Role.PLANNER
    assert [one.split()[0] for one in writes(engine)] == (["DELETE", "PATCH"] if how == "close" else ["PATCH"])


@pytest.mark.fault(40)
async def test_what_a_newer_version_of_the_engine_works_on_is_left_alone(engine: Engine) -> None:
    live, foreign = engine.ready("Greet people"), engine.ready("Greet them again")
    ack = "ACK:worker:worker-future:1706123456789\n<!-- ack/3 epoch=7 mac=none -->\nworker-future is at work."
    engine.lab.comment(REPOSITORY, live, ack, author=ENGINE)
    seen = await orphan_scene.fence(engine, Role.WORKER, foreign, Stage.IMPLEMENTING)
    bare = engine.lab.at(REPOSITORY).bare
    text = write_fence(seen).replace("Engine-Fence: 2", "Engine-Fence: 3")
    newer = await orphan_scene.commit(engine, text, f"{seen.oid}^{{tree}}", seen.oid)
    await bare.update_ref(seen.key.ref, newer)
    with capture_logs() as events:
        assert await one_life(engine, Role.WORKER, ticks=3) == []
    told = [event["lock"] for event in events if event["event"] == "fence_cannot_be_read"]
    assert told == [seen.key.ref], "passed over without a word, or again and again"
    assert writes(engine) == []
    assert await bare.sha(seen.key.ref) == newer
    assert labels(engine, live) == labels(engine, foreign) == {"status:ready"}
    forget_comments(engine, live)
