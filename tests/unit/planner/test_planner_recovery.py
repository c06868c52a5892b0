"""The planner after crashes, lost replies and lost leases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from fakes.agent import claimed
from fakes.planner_coder import plan
from fakes.planner_github import Bench
from fakes.planner_world import NAMES

from planner_agent.agent import PlanChanged, Planner
from shared.errors import Lost, Transient, UnknownOutcome
from shared.github.errors import NotShown
from shared.github.replica_lag import KNOWN_SECONDS, PATIENCE_SECONDS
from shared.lock.hold import Held
from shared.scheduling.agent_contract import Ended, Result, Skip
from shared.specification import read
from shared.workflow import Stage

PLANNING = NAMES.of(Stage.PLANNING)
AWAITING = NAMES.of(Stage.AWAITING_APPROVAL)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@asynccontextmanager
async def leased(bench: Bench, planner: Planner | None = None) -> AsyncIterator[tuple[Planner, Held]]:
    """Yield a planner, a new one unless it is given, that has just claimed the only story, and its lease."""
    planner = planner or bench.planner()
    (candidate,) = await planner.discover()
    lease = await claimed(planner, candidate)
    assert not isinstance(lease, Skip)
    async with planner.hold(lease) as held:
        yield planner, held


@pytest.mark.parametrize("fault", [Transient("down"), UnknownOutcome("no reply")])
async def test_a_crash_after_the_first_specification_leaves_only_the_missing_one(
    bench: Bench, fault: Transient
) -> None:
    bench.auto = True
    bench.world.faults = {"created": [fault]} if isinstance(fault, UnknownOutcome) else {"create": [None, fault]}
    number = bench.world.story()
    assert await bench.tick() == []
    assert [issue.title for issue in bench.world.specifications()] == ["Search users by name"]
    assert bench.world.fence(number).stage is Stage.PLANNING
    bench.world.server.seconds += PATIENCE_SECONDS  # what may have been created is looked for until then
    (ended,) = await bench.tick()
    assert ended.sentence == "#12 became #13, #14"
    assert [issue.number for issue in bench.world.specifications()] == [13, 14]
    assert read(bench.world.issues[14].body).depends_on == (13,)
    assert len(bench.coder.asked) == 1


@pytest.mark.parametrize("where", ["posted", "label"])
async def test_a_posted_plan_is_not_paid_for_twice(bench: Bench, where: str) -> None:
    """The reply to the comment is lost, or the process is gone before the label follows."""
    fault = UnknownOutcome("no reply")
    bench.world.faults = {where: [fault] if where == "posted" else [None, fault]}
    number = bench.world.story()
    assert await bench.tick() == []
    (ended,) = await bench.tick()
    assert ended.result is Result.PARKED
    assert len(bench.coder.asked) == 1
    assert len(bench.world.bodies("engine-plan")) == 1
    assert bench.world.labels(number) == {AWAITING}


@pytest.mark.parametrize("fault", [Transient("502"), UnknownOutcome("no reply")])
async def test_a_plan_that_could_not_be_posted_is_kept_and_not_paid_for_again(bench: Bench, fault: Transient) -> None:
    bench.coder.answers = [plan(summary="Paid first."), plan(summary="Paid again.")]
    bench.world.faults = {"post": [fault]}
    number = bench.world.story()
    async with leased(bench) as (planner, held):
        with pytest.raises(Transient, match=str(fault)):
            await planner.step(held)
        assert bench.world.bodies("engine-plan") == []
        if isinstance(fault, UnknownOutcome):
            with pytest.raises(NotShown):
                await planner.step(held)
            bench.world.server.seconds += PATIENCE_SECONDS
        await planner.step(held)
        (posted,) = bench.world.bodies("engine-plan")
    assert "Paid first." in posted
    assert len(bench.coder.asked) == bench.world.fence(number).paid_runs == 1


@pytest.mark.parametrize("deleted", [False, True])
async def test_an_accepted_plan_that_is_not_shown_yet_is_asked_for_again(bench: Bench, deleted: bool) -> None:
    """A planner that was started right after a kill does not remember the plan, and GitHub's replica lacks it still."""
    bench.auto = True
    bench.world.faults = {"create": [Transient("killed here")]}
    number = bench.world.story()
    assert await bench.tick() == []
    (posted,) = [one for one in bench.world.server.comments().values() if "engine-plan" in one.body]
    bench.world.hidden.add(posted.id)
    async with leased(bench) as (planner, held):
        with pytest.raises(NotShown, match="the plan that was accepted"):
            await planner.step(held)
        assert bench.world.fence(number).stage is Stage.PLANNING
        if deleted:
            bench.world.server.seconds += PATIENCE_SECONDS
            with pytest.raises(PlanChanged):
                await planner.step(held)
            return
        bench.world.hidden.clear()
        bench.world.server.seconds += PATIENCE_SECONDS  # and so long for the specification that may have been made
        await planner.step(held)
        assert len(bench.world.specifications()) == 2


@pytest.mark.parametrize("change", ["text", "lease"])
async def test_a_plan_of_another_text_or_lease_is_not_posted(bench: Bench, change: str) -> None:
    bench.coder.answers = [plan(summary="Paid first."), plan(summary="Paid again.")]
    bench.world.faults = {"post": [Transient("502")]}
    number, planner = bench.world.story(), bench.planner()
    async with leased(bench, planner) as (_, held):
        with pytest.raises(Transient):
            await planner.step(held)
        if change == "text":
            bench.world.change(number, body="I want to find groups.")
            await planner.step(held)
    if change == "lease":
        bench.world.server.seconds += PATIENCE_SECONDS  # the fence says that it may have been made
        async with leased(bench, planner) as (_, held):
            await planner.step(held)
    (posted,) = bench.world.bodies("engine-plan")
    assert "Paid again." in posted
    assert len(bench.coder.asked) == 2


async def test_a_crash_before_the_stage_label_is_no_order_to_stop(bench: Bench) -> None:
    bench.world.faults = {"label": [Transient("down")]}
    number = bench.world.story()
    assert await bench.tick() == []
    assert bench.world.labels(number) == set()
    (ended,) = await bench.tick()
    assert ended.result is Result.PARKED


async def test_two_planners_make_one_plan(bench: Bench) -> None:
    bench.world.story()
    a, b = bench.planner(), bench.planner()
    (candidate,) = await a.discover()
    lease = await claimed(a, candidate)
    assert not isinstance(lease, Skip)
    async with a.hold(lease):
        assert await claimed(b, candidate) == Skip("planner-1 holds it", 300)


async def test_nothing_is_written_without_the_lease(bench: Bench) -> None:
    bench.world.story()

    async def too_late() -> None:
        async with leased(bench) as (planner, held):
            bench.world.server.seconds += 1500
            await planner.step(held)

    with pytest.raises(Lost):
        await too_late()
    assert bench.world.writes == []


async def test_labels_that_lag_behind_a_failure_are_finished(bench: Bench) -> None:
    bench.coder.answers = [plan(steps=[])]
    number = bench.world.story()
    bench.world.faults = {"label": [None, Transient("down")]}
    await bench.tick()
    assert (bench.world.fence(number).stage, bench.world.labels(number)) == (Stage.FAILED, {PLANNING})
    await bench.tick()
    assert "status:failed" in bench.world.labels(number)
    assert len(bench.coder.asked) == 2


async def test_a_crash_after_the_specifications_leaves_one_of_each_and_one_status(bench: Bench) -> None:
    bench.auto = True
    number = bench.world.story()
    bench.world.faults = {"told": [Transient("down")], "label": [None]}
    assert await bench.tick() == []
    assert bench.world.fence(number).phase == "create"
    (ended,) = await bench.tick()
    assert ended.result is Result.HANDED_OVER
    assert len(bench.world.specifications()) == 2
    assert len(bench.world.bodies("engine-status")) == 1
    assert bench.world.labels(number) == {"status:specified"}


@pytest.mark.parametrize("phase", ["draft", "create"])
async def test_a_plan_that_somebody_changed_is_neither_used_nor_paid_for_again(bench: Bench, phase: str) -> None:
    bench.auto = True
    bench.world.faults = {"posted": [Transient("down")]} if phase == "draft" else {"create": [Transient("down")]}
    number = bench.world.story()
    await bench.tick()
    assert bench.world.fence(number).phase == phase
    comments = bench.world.server.comments()
    (posted,) = [one for one in comments.values() if one.body.startswith("<!-- engine-plan/")]
    bench.world.server.edit(posted.id, posted.body.replace("low", "high"))
    (ended,) = await bench.tick()
    assert ended.result is Result.FAILED
    assert len(bench.coder.asked) == 1
    assert bench.world.specifications() == []


async def test_a_stale_read_does_not_hide_the_plan_that_was_just_posted(bench: Bench) -> None:
    number = bench.world.story()
    async with leased(bench) as (planner, held):
        await planner.step(held)
        (posted,) = [c for c in bench.world.server.comments().values() if c.body.startswith("<!-- engine-plan/")]
        bench.world.server.delete(posted.id)
        await planner.step(held)
        assert held.fence.stage is Stage.AWAITING_APPROVAL
    assert bench.world.fence(number).attempt == 1
    assert len(bench.coder.asked) == 1


async def test_a_crash_before_the_last_label_is_finished_by_the_next_claim(bench: Bench) -> None:
    bench.auto = True
    number = bench.world.story()
    bench.world.faults = {"label": [None, Transient("down")]}
    assert await bench.tick() == []
    assert (bench.world.fence(number).stage, bench.world.labels(number)) == (Stage.SPECIFIED, {PLANNING})
    (ended,) = await bench.tick()
    assert ended == Ended(Result.HANDED_OVER, "#12 is specified")
    assert bench.world.labels(number) == {"status:specified"}


@pytest.mark.parametrize("same_life", [False, True])
async def test_a_specification_that_lists_do_not_show_yet_is_not_created_again(bench: Bench, same_life: bool) -> None:
    """Of a planner that was killed right after it, and of one to which GitHub did not reply."""
    bench.auto = True
    bench.world.story()
    bench.world.faults = {"created": [UnknownOutcome("no reply")]}
    if not same_life:
        assert await bench.tick() == []
        bench.world.hidden_issues = {13}
        bench.unlisted.add(13)
    async with leased(bench) as (planner, held):
        if same_life:
            await planner.step(held)  # it drafts
            await planner.step(held)  # and accepts
            with pytest.raises(UnknownOutcome):
                await planner.step(held)
            bench.world.hidden_issues = {13}
            bench.unlisted.add(13)
        with pytest.raises(NotShown, match="specification-12-2"):
            await planner.step(held)
        assert [one.number for one in bench.world.specifications()] == [13]
        bench.world.hidden_issues.clear()
        bench.unlisted.clear()
        ended = await planner.step(held)
    assert ended == Ended(Result.HANDED_OVER, "#12 became #13, #14")
    assert [one.number for one in bench.world.specifications()] == [13, 14]


async def test_a_specification_that_was_named_and_never_made_is_created_when_lists_would_show_it(bench: Bench) -> None:
    bench.auto = True
    bench.world.story()
    bench.world.faults = {"create": [UnknownOutcome("killed before it was sent")]}
    assert await bench.tick() == []
    async with leased(bench) as (planner, held):
        with pytest.raises(NotShown, match="specification-12-2"):
            await planner.step(held)
        bench.world.server.seconds += PATIENCE_SECONDS
        assert await planner.step(held) == Ended(Result.HANDED_OVER, "#12 became #13, #14")


@pytest.mark.parametrize("deleted", [False, True])
async def test_a_story_is_not_closed_because_its_specifications_are_not_shown_yet(bench: Bench, deleted: bool) -> None:
    bench.auto = True
    number = bench.world.story()
    bench.world.faults = {"label": [None, Transient("killed here")]}
    assert await bench.tick() == []
    bench.world.hidden_issues = {one.number for one in bench.world.specifications()}
    async with leased(bench) as (planner, held):
        with pytest.raises(NotShown, match=r"issue 1[34]"):
            await planner.step(held)
        assert bench.world.issues[number].open
        if deleted:
            bench.world.server.seconds += KNOWN_SECONDS
        bench.world.hidden_issues -= set() if deleted else {13, 14}
        ended = await planner.step(held)
    assert isinstance(ended, Ended)
    assert ended.result is (Result.FINISHED if deleted else Result.HANDED_OVER)
    assert bench.world.issues[number].open is not deleted


WRITES = ["label", "post", "posted", "create", "created", "create", "created", "tell", "told", "label", "unlabel"]
"""Every moment at which the way from a story to its specifications can break, in order."""


@pytest.mark.parametrize("moment", range(1, len(WRITES) + 1))
async def test_wherever_it_breaks_everything_is_there_once_in_the_end(bench: Bench, moment: int) -> None:
    bench.auto = True
    bench.world.breaks_at = moment
    number = bench.world.story()
    assert await bench.tick() == []
    assert bench.world.writes[:moment] == WRITES[:moment]
    assert set(bench.world.writes[moment:]) <= {"tell", "told"}, "letting go tells what could not be told before"
    bench.world.server.seconds += PATIENCE_SECONDS  # what may have been posted is looked for until then
    (ended,) = await bench.tick()
    assert ended.result is Result.HANDED_OVER
    assert [issue.title for issue in bench.world.specifications()] == ["Search users by name", "Export the search"]
    assert len(bench.world.bodies("engine-plan")) == len(bench.world.bodies("engine-status")) == 1
    assert bench.world.labels(number) == {"status:specified"}
    assert len(bench.coder.asked) == (2 if WRITES[moment - 1] == "post" and moment < 4 else 1)
    assert await bench.tick() == []
