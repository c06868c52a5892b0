"""A branch that asks for more than the engine's word: it says what it waits for, and merges by itself when it comes."""

from __future__ import annotations

import pytest
from board_scene import row_of
from branch_scene import push
from engine import REPOSITORY, Engine
from merge_scene import SCRIPT, Change, looks, opened
from worker_scene import comments, labels, status

from lab.github.ci.behaviours import GREEN, NEVER
from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.world.pulls import DiffPlace
from lab.github.world.repository import Protection
from shared.workflow import Role

pytestmark = pytest.mark.long


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a reviewer that approves and may merge; Grace and Alan may write."""
    engine.script(SCRIPT)
    engine.repository_settings |= {"merge": "auto", "delete_branch": False}
    here = engine.lab.at(REPOSITORY)
    for login in ("grace", "alan"):
        engine.lab.account(login)
    engine.lab.configure(REPOSITORY, collaborators={**here.facts.collaborators, "grace": "write", "alan": "write"})
    return engine


def protect(engine: Engine, rules: Protection) -> None:
    engine.lab.configure(REPOSITORY, protections={"main": rules})


def merges_asked(engine: Engine) -> int:
    """Return the number of merge requests that GitHub got."""
    return sum(one.method == "PUT" and one.path.endswith("/merge") for one in engine.lab.exchanges)


async def approves(engine: Engine, change: Change, login: str) -> None:
    engine.lab.clock.advance(2)
    engine.lab.review(REPOSITORY, change.number, author=login)


async def test_it_waits_for_two_people_by_name_and_merges_when_the_second_has_approved(engine: Engine) -> None:
    protect(engine, Protection(approvals=3))
    change = await opened(engine, "guide")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
        assert "It waits for 2 approvals of people, as `main` requires" in status(engine, change.number)
        waiting = (await row_of(engine, change.number)).waiting
        assert waiting is not None
        assert (waiting.whom, waiting.why) == ("person", "2 approvals of people")
        said = len(comments(engine, change.number))
        await approves(engine, change, "grace")
        await approves(engine, change, "mallory")
        await looks(engine, reviewer)
        assert "It waits for 1 approval of a person, as `main` requires" in status(engine, change.number)
        assert (change.merged, merges_asked(engine)) == (False, 0), "nothing is tried that would be refused"
        await approves(engine, change, "alan")
        await looks(engine, reviewer)
    assert (change.merged, merges_asked(engine)) == (True, 1)
    assert len(comments(engine, change.number)) <= said + 2, "an ACK for each time it took it up, and no words beside"
    assert not labels(engine, change.number) & {"status:failed", "flag:manual-intervention"}


async def test_what_only_an_administrator_can_read_is_waited_for_as_well(engine: Engine) -> None:
    protect(engine, Protection(approvals=2, hidden=True))
    change = await opened(engine, "guide")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
        assert "It waits for what its rules ask for, which GitHub names beside the merge button" in status(
            engine, change.number
        )
        await approves(engine, change, "grace")
        await looks(engine, reviewer)
    assert (change.merged, merges_asked(engine)) == (True, 1)


async def test_it_waits_for_the_owner_of_the_code(engine: Engine) -> None:
    await push(engine, "main", {"CODEOWNERS": "* @ada\n*.md @grace\n"})
    protect(engine, Protection(approvals=1, code_owners=True))
    change = await opened(engine, "guide")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
        assert "It waits for the approval of a code owner" in status(engine, change.number)
        await approves(engine, change, "alan")
        await looks(engine, reviewer)
        assert not change.merged
        await approves(engine, change, "grace")
        await looks(engine, reviewer)
    assert (change.merged, merges_asked(engine)) == (True, 1)


async def test_it_waits_until_every_conversation_is_resolved(engine: Engine) -> None:
    protect(engine, Protection(conversations=True))
    change = await opened(engine, "guide")
    pulls = engine.lab.at(REPOSITORY).pulls
    review = engine.lab.review(REPOSITORY, change.number, author="grace", state="COMMENTED")
    place = DiffPlace("guide.md", 1, "RIGHT", "@@ -0,0 +1 @@\n+Read me.", "Read me.", 1)
    pulls.remark(review, place, "Is this so?")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
        assert "It waits for every conversation to be resolved" in status(engine, change.number)
        engine.lab.resolve(REPOSITORY, change.number)
        engine.lab.clock.advance(301)  # GitHub shows the pull request as unchanged
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
    assert (change.merged, merges_asked(engine)) == (True, 1)


async def test_who_pushed_last_does_not_approve_alone(engine: Engine) -> None:
    protect(engine, Protection(approvals=1, last_push=True))
    change = await opened(engine, "guide")
    engine.lab.at(REPOSITORY).pulls.records.change(change.number, pushed_by="reviewer-bot")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
        assert "It waits for" in status(engine, change.number)
        assert not change.merged
        await approves(engine, change, "grace")
        await looks(engine, reviewer)
    assert (change.merged, merges_asked(engine)) == (True, 1)


async def test_a_refusal_that_nothing_announced_is_told_and_tried_again_and_frees_the_turn(engine: Engine) -> None:
    engine.lab.configure(REPOSITORY, merge_methods=("merge",))
    first, second = await opened(engine, "one"), await opened(engine, "two")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer, 4)
        assert merges_asked(engine) == 2, "one refused merge does not hold up the other, and none is tried twice"
        for change in (first, second):
            assert "GitHub refused to merge it: Squash merges are not allowed" in status(engine, change.number)
            assert labels(engine, change.number) == {"status:approved"}
        engine.lab.configure(REPOSITORY, merge_methods=("merge", "squash"))
        engine.lab.clock.advance(1801)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer, 4)
    assert (first.merged, second.merged) == (True, True)


async def test_a_draft_is_not_reviewed_until_it_is_ready(engine: Engine) -> None:
    change = await opened(engine, "guide")
    records = engine.lab.at(REPOSITORY).pulls.records
    records.change(change.number, draft=True)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await looks(engine, reviewer)
        assert comments(engine, change.number) == []
        records.change(change.number, draft=False)
        engine.lab.at(REPOSITORY).issues.touch(change.number)
        await looks(engine, reviewer)
    assert change.merged


@pytest.mark.edges("pull_request: approved, gave up")
async def test_whose_checks_cannot_be_read_any_more_is_left_to_a_person_whose_label_leads_on(engine: Engine) -> None:
    """The token loses `checks: read` while the checks of an approved pull request still run."""
    engine.lab.ci_mood(REPOSITORY, NEVER)
    change = await opened(engine, "guide")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await engine.until(lambda: "status:approved" in labels(engine, change.number), reviewer)
        assert "Its checks are running" in status(engine, change.number)
        engine.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "GET", "/check-runs", status=403))
        await engine.until(lambda: bool(reviewer.ended), reviewer)
    assert labels(engine, change.number) >= {"status:failed", "flag:manual-intervention"}
    assert "or `status:reviewing` to have it reviewed again" in status(engine, change.number)
    engine.lab.ci_mood(REPOSITORY, GREEN)
    await engine.lab.ci_run(REPOSITORY, change.branch)
    await engine.lab.idle()
    engine.lab.clock.advance(2)
    engine.lab.label(REPOSITORY, change.number, "status:reviewing", actor="ada")
    async with engine.agent(Role.REVIEWER, state="machine-2") as reviewer:
        await engine.until(lambda: change.merged, reviewer)
    assert not labels(engine, change.number) & {"status:failed", "flag:manual-intervention"}
