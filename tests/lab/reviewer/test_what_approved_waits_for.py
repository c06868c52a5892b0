"""The instructions about an approved pull request that is not merged: following them to the letter has it merged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from advice_stories import as_merge
from branch_scene import push, tip
from engine import OWNER, REPOSITORY, REVIEWER, Engine
from fakes.clock import QuickClock
from merge_scene import SCRIPT, Change, opened
from worker_scene import labels, status

from lab.github.world.pulls import DiffPlace, ReviewRecord
from lab.github.world.repository import Protection
from shared.loop.polling_loop import Loop
from shared.workflow import Role

pytestmark = pytest.mark.long

LOOK_SECONDS = 150.0
LOOKS = 8

Looks = Callable[[], Awaitable[None]]
Story = Callable[[Change, Looks], Awaitable[None]]
"""Steps of a person who causes the blocker, reads the instruction, and follows it."""


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a reviewer that approves and may merge, on a clock of its own."""
    engine.script(SCRIPT)
    engine.repository_settings |= {"merge": "auto", "delete_branch": False}
    engine.clock = QuickClock(engine.lab.clock.advance)
    for login in ("grace", "alan"):
        engine.lab.account(login)
    known = engine.lab.at(REPOSITORY).facts.collaborators
    engine.lab.configure(REPOSITORY, collaborators={**known, "grace": "write", "alan": "write"})
    return engine


async def flag_is_taken_off(change: Change, looks: Looks) -> None:
    lab = change.engine.lab
    lab.label(REPOSITORY, change.number, "flag:problematic-test", actor=OWNER)
    await looks()
    assert "Remove the flag when you are done" in status(change.engine, change.number)
    lab.unlabel(REPOSITORY, change.number, "flag:problematic-test", actor=OWNER)


async def review_is_asked_for_again(change: Change, looks: Looks) -> None:
    lab = change.engine.lab
    protect(change, approvals=2)
    await looks()
    pulls = lab.at(REPOSITORY).pulls
    (ours,) = [one for one in pulls.reviews_of(change.number) if one.author == REVIEWER]
    pulls.dismiss(ours, OWNER, "Not yet.")
    await looks()
    assert "Set `status:reviewing` for another review" in status(change.engine, change.number)
    protect(change)
    lab.label(REPOSITORY, change.number, "status:reviewing", actor=OWNER)


async def merge_is_ordered_when_the_flag_is_off(change: Change, looks: Looks) -> None:
    """Follow the first instruction; the comment then gives the next one, `/merge`, which is followed too."""
    await flag_is_taken_off(change, looks)
    await looks()
    assert not change.merged
    assert "Comment `/merge`" in status(change.engine, change.number)
    change.engine.lab.clock.advance(2)
    change.engine.lab.comment(REPOSITORY, change.number, "/merge", author="grace")


async def base_is_merged_by_hand(change: Change, looks: Looks) -> None:
    engine = change.engine
    await push(engine, "main", {"guide.md": "Theirs.\n"})
    await looks()
    told = "merge `main` into its branch, push that, then set `status:reviewing`"
    assert told in status(engine, change.number)
    base = await tip(engine, "main")
    merged = await push(engine, change.branch, {"guide.md": "Both.\n"})
    await as_merge(engine, change.branch, merged, (change.head, base))
    await engine.lab.idle()
    engine.lab.clock.advance(2)
    engine.lab.label(REPOSITORY, change.number, "status:reviewing", actor=OWNER)


async def request_is_dismissed(change: Change, looks: Looks) -> None:
    asked = await requested(change, looks)
    change.engine.lab.at(REPOSITORY).pulls.dismiss(asked, OWNER, "Never mind.")


async def requester_approves(change: Change, looks: Looks) -> None:
    await requested(change, looks)
    change.engine.lab.review(REPOSITORY, change.number, author="grace")


async def requested(change: Change, looks: Looks) -> ReviewRecord:
    """Request changes as Grace; have it reviewed as it is, as the owner, as often as the engine asks for that."""
    engine = change.engine
    protect(change, approvals=3)
    await looks()
    engine.lab.clock.advance(2)
    asked = engine.lab.review(REPOSITORY, change.number, author="grace", state="CHANGES_REQUESTED", body="Say more.")
    for _ in range(2):
        await looks()
        assert "then set `status:reviewing` for another review" in status(engine, change.number)
        engine.lab.label(REPOSITORY, change.number, "status:reviewing", actor=OWNER)
    await looks()
    told = "whoever requested them has to approve or dismiss that review"
    assert told in status(engine, change.number)
    protect(change)
    engine.lab.clock.advance(2)
    return asked


async def remark(change: Change, looks: Looks) -> None:
    """Comment on a line as Grace while an approval is missing; after it, nothing is merged over her remark."""
    engine = change.engine
    protect(change, approvals=2)
    await looks()
    engine.lab.clock.advance(2)
    engine.lab.review(REPOSITORY, change.number, author="grace", state="COMMENTED", body="Is this word right?")
    await looks()
    engine.lab.review(REPOSITORY, change.number, author="alan")
    protect(change)
    await looks()
    assert not change.merged
    told = "grace commented on this commit. It is merged when they approve it, or somebody comments `/merge`"
    assert told in status(engine, change.number)
    engine.lab.clock.advance(2)


async def who_has_remarked_approves(change: Change, looks: Looks) -> None:
    await remark(change, looks)
    change.engine.lab.review(REPOSITORY, change.number, author="grace")


async def merge_is_ordered_over_a_remark(change: Change, looks: Looks) -> None:
    await remark(change, looks)
    change.engine.lab.comment(REPOSITORY, change.number, "/merge", author="alan")


def protect(change: Change, **rules: Any) -> None:
    change.engine.lab.configure(REPOSITORY, protections={"main": Protection(**rules)})


@pytest.mark.parametrize(
    "story",
    [
        flag_is_taken_off,
        merge_is_ordered_when_the_flag_is_off,
        review_is_asked_for_again,
        base_is_merged_by_hand,
        request_is_dismissed,
        requester_approves,
        who_has_remarked_approves,
        merge_is_ordered_over_a_remark,
    ],
    ids=lambda story: story.__name__,
)
async def test_whoever_does_what_is_said_has_it_merged(engine: Engine, story: Story) -> None:
    if story is merge_is_ordered_when_the_flag_is_off:
        engine.repository_settings["merge"] = "approve"
    change = await opened(engine, "guide")
    async with engine.agent(Role.REVIEWER) as reviewer:

        async def looks() -> None:
            await seen(engine, reviewer, lambda: False)

        await story(change, looks)
        await seen(engine, reviewer, lambda: change.merged)
    assert change.merged
    assert not {one for one in labels(engine, change.number) if one.startswith(("flag:", "status:"))}


def remarks(change: Change, author: str, body: str = "", *, reply_to: int | None = None) -> int:
    """Comment on a line, or answer there, as GitHub keeps it: a review without words; return the comment's id."""
    pulls = change.engine.lab.at(REPOSITORY).pulls
    review = change.engine.lab.review(REPOSITORY, change.number, author=author, state="COMMENTED")
    line = DiffPlace("guide.md", 1, "RIGHT", "@@ -0,0 +1 @@\n+Read me.", "Read me.", 1)
    return pulls.remark(review, line, body, reply_to=reply_to).id


async def stranger_and_program_comment(change: Change) -> None:
    lab = change.engine.lab
    lab.account("helper[bot]")
    for author in ("mallory", "helper[bot]"):
        lab.review(REPOSITORY, change.number, author=author, state="COMMENTED", body="Consider a map.")
    lab.review(REPOSITORY, change.number, author="alan")


async def who_approves_says_thanks(change: Change) -> None:
    change.engine.lab.review(REPOSITORY, change.number, author="alan")
    change.engine.lab.clock.advance(2)
    change.engine.lab.review(REPOSITORY, change.number, author="alan", state="COMMENTED", body="Thanks!")


async def remark_is_answered_and_its_author_approves(change: Change) -> None:
    remark = remarks(change, "grace", "Is this word right?")
    remarks(change, "alan", "It is.", reply_to=remark)
    remarks(change, REVIEWER, "It is.", reply_to=remark)
    change.engine.lab.clock.advance(2)
    change.engine.lab.review(REPOSITORY, change.number, author="grace")


@pytest.mark.parametrize(
    "said",
    [stranger_and_program_comment, who_approves_says_thanks, remark_is_answered_and_its_author_approves],
    ids=lambda said: said.__name__,
)
async def test_what_objects_to_nothing_holds_nothing_up(
    engine: Engine, said: Callable[[Change], Awaitable[None]]
) -> None:
    change = await opened(engine, "guide")
    protect(change, approvals=2)
    async with engine.agent(Role.REVIEWER) as reviewer:
        await seen(engine, reviewer, lambda: False)
        assert "waits for 1 approval of a person" in status(engine, change.number)
        engine.lab.clock.advance(2)
        await said(change)
        await seen(engine, reviewer, lambda: change.merged)
    assert change.merged


@pytest.mark.parametrize("author", ["grace", REVIEWER], ids=["a person", "a person who lends the engine an account"])
async def test_a_remark_on_the_commit_holds_the_merge_also_when_it_came_before_the_verdict(
    engine: Engine, author: str
) -> None:
    change = await opened(engine, "guide")
    remarks(change, author, "This deletes every table.")
    async with engine.agent(Role.REVIEWER) as reviewer:
        await seen(engine, reviewer, lambda: False)
        assert not change.merged
        assert f"{author} commented on this commit." in status(engine, change.number)
        remarks(change, "alan", "And every view.")
        await seen(engine, reviewer, lambda: False)
        assert f"{author} and alan commented on this commit." in status(engine, change.number)
        engine.lab.clock.advance(2)
        engine.lab.comment(REPOSITORY, change.number, "/merge", author="alan")
        await seen(engine, reviewer, lambda: change.merged)
    assert change.merged


async def seen(engine: Engine, reviewer: Loop, done: Callable[[], bool]) -> None:
    """Have the reviewer look until `done`, some minutes apart, no more often than everything needs."""
    clock = engine.clock
    assert isinstance(clock, QuickClock)
    for _ in range(LOOKS):
        if done():
            return
        await engine.tick(reviewer)
        clock.skip(LOOK_SECONDS)
