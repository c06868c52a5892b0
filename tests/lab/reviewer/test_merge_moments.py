"""A merge over real HTTP and git: whatever people and CI do between verdict and merge, no other commit gets in.

The same deeds at every single call are in `tests/unit/reviewer/test_reviewer_strikes.py`; here GitHub itself is
behind it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from branch_scene import push
from engine import OWNER, REPOSITORY, REVIEWER, Engine
from fakes.clock import QuickClock
from merge_scene import SCRIPT, Change, opened

from reviewer_agent.merge.merge_turns import TURN_SECONDS
from shared.loop.polling_loop import Loop
from shared.workflow import Role

pytestmark = pytest.mark.long


Deed = Callable[[Change], Awaitable[object]]


@pytest.fixture
def engine(engine: Engine) -> Engine:
    engine.script(SCRIPT)
    engine.repository_settings |= {"merge": "auto", "delete_branch": False}
    return engine


async def pushes(change: Change) -> None:
    await push(change.engine, change.branch, {"MORE.md": "More.\n"})


async def moves_the_label(change: Change) -> None:
    labels = change.engine.issue(change.number).labels
    for name in [name for name in labels if name.startswith("status:")]:
        change.engine.lab.unlabel(REPOSITORY, change.number, name, actor=OWNER)
    change.engine.lab.label(REPOSITORY, change.number, "status:changes-requested", actor=OWNER)


async def sets_a_flag(change: Change) -> None:
    change.engine.lab.label(REPOSITORY, change.number, "flag:manual-intervention", actor=OWNER)


async def turns_a_check_red(change: Change) -> None:
    checks = change.engine.lab.at(REPOSITORY).checks
    checks.say(change.head, "audit", "failure", description="Found something", creator=OWNER)


async def withdraws_the_approval(change: Change) -> None:
    pulls = change.engine.lab.at(REPOSITORY).pulls
    (ours,) = [one for one in pulls.reviews_of(change.number) if one.author == REVIEWER]
    pulls.dismiss(ours, OWNER, "Not yet")


async def requests_changes(change: Change) -> None:
    change.engine.lab.at(REPOSITORY).pulls.review(change.number, OWNER, "CHANGES_REQUESTED", "No.", change.head)


async def makes_the_base_red(change: Change) -> None:
    here = change.engine.lab.at(REPOSITORY)
    tip = await here.bare.sha("refs/heads/main")
    assert tip is not None
    here.checks.say(tip, "audit", "failure", description="Found something", creator=OWNER)


DEEDS: tuple[Deed, ...] = (
    pushes,
    moves_the_label,
    sets_a_flag,
    turns_a_check_red,
    withdraws_the_approval,
    requests_changes,
    makes_the_base_red,  # last: nothing is merged after it
)


Point = Callable[[Change], bool]
"""A predicate on a change: True if the newest request is the one to strike."""


async def reviewed(change: Change, reviewer: Loop, deed: Deed, point: Point) -> None:
    """Let the deed happen once, right before the request at `point`, and the reviewer go on until it has settled."""
    posted: list[bool] = []

    async def passing(method: str, path: str) -> None:
        if posted and not change.merged:
            change.asked.append(f"{method} {path}")
            if not change.struck and point(change):
                change.struck = True
                await deed(change)
        if method == "POST" and path.endswith(f"/pulls/{change.number}/reviews"):
            posted.append(True)

    change.engine.lab.interludes.append(passing)
    await change.engine.until(lambda: change.struck, reviewer)
    await change.engine.tick(reviewer)


async def nothing(change: Change) -> None:
    """Do nothing."""


POINTS: dict[str, Point] = {
    "right after the verdict": lambda change: len(change.asked) == 1,
    "with the turn": lambda change: change.pushes == 2,  # the first is the fence's, at its approval
    "with the merge": lambda change: change.merges == 1,
}


@pytest.mark.fault(41)
@pytest.mark.parametrize("point", POINTS)
async def test_nothing_is_merged_but_what_was_approved_and_still_is(engine: Engine, point: str) -> None:
    engine.clock = clock = QuickClock(engine.lab.clock.advance)
    async with engine.agent(Role.REVIEWER) as reviewer:
        for deed in (nothing, *DEEDS):
            clock.skip(TURN_SECONDS)  # a turn that came to nothing is over
            change = await opened(engine, deed.__name__.replace("_", "-"))
            await reviewed(change, reviewer, deed, POINTS[point])
            late = deed is nothing or (point == "with the merge" and deed is not pushes)
            assert change.merged is late, f"{deed.__name__} {point}"
            found = await engine.lab.at(REPOSITORY).bare.read("refs/heads/main", f"{change.branch}.md")
            assert (found is not None) is late
            assert await engine.lab.at(REPOSITORY).bare.read("refs/heads/main", "MORE.md") is None
            assert change.merges == (deed is nothing or point == "with the merge")


async def test_a_base_that_moves_with_the_turn_is_read_again(engine: Engine) -> None:
    """The look that follows the turn reads the refs again; the refs that an earlier look has read do not count."""

    async def moves_the_base(change: Change) -> None:
        tip = await push(engine, "main", {"BASE.md": "Newer, and broken.\n"})
        engine.lab.at(REPOSITORY).checks.say(tip, "audit", "failure", description="Found something", creator=OWNER)

    async with engine.agent(Role.REVIEWER) as reviewer:
        change = await opened(engine, "late")
        await reviewed(change, reviewer, moves_the_base, POINTS["with the turn"])
    assert change.struck
    assert (change.merged, change.merges) == (False, 0)


async def test_two_reviewers_on_two_machines_merge_one_after_the_other(engine: Engine) -> None:
    bases: list[str] = []

    async def note(method: str, path: str) -> None:
        if method == "PUT" and path.endswith("/merge"):
            bases.append(await engine.lab.at(REPOSITORY).bare.sha("refs/heads/main") or "")

    engine.lab.interludes.append(note)
    changes = [await opened(engine, name) for name in ("one", "two", "three")]
    async with (
        engine.agent(Role.REVIEWER, state="a") as first,
        engine.agent(Role.REVIEWER, state="b") as second,
    ):
        for _ in range(15):
            await engine.look(first)
            await engine.look(second)
            await first.quiet()
            await second.quiet()
            await engine.lab.idle()
            if all(change.merged for change in changes):
                break
    assert [change.merged for change in changes] == [True, True, True]
    assert len(bases) == len(set(bases)) == 3
