"""A repository's conditions for a merge, over HTTP and git: size, time to object, approval by others, no such label."""

from __future__ import annotations

import pytest
from engine import OWNER, REPOSITORY, Engine
from merge_scene import SCRIPT, Change, opened
from worker_scene import comments, status

from lab.github.world.pulls import PullRecord
from shared.telemetry.events import EventKind, Query
from shared.telemetry.sqlite_store import SqliteStore
from shared.workflow import Role

pytestmark = pytest.mark.long

SECOND = "grace"


@pytest.fixture
def engine(engine: Engine) -> Engine:
    """Return an engine with a reviewer that approves, in a repository in which two people may write."""
    engine.script(SCRIPT)
    engine.repository_settings |= {"merge": "auto", "delete_branch": False}
    here = engine.lab.at(REPOSITORY)
    engine.lab.account(SECOND)
    engine.lab.configure(REPOSITORY, collaborators={**here.facts.collaborators, SECOND: "write"})
    return engine


async def looked_at(engine: Engine, change: Change, ticks: int = 3) -> PullRecord:
    """Have a reviewer that has just been started look a few times; return the pull request."""
    async with engine.agent(Role.REVIEWER) as reviewer:
        for _ in range(ticks):
            await engine.tick(reviewer)
    return engine.lab.at(REPOSITORY).pulls.require(change.number)


async def test_a_merge_waits_for_its_time_through_a_restart(engine: Engine) -> None:
    engine.repository_settings["merge_cooling_minutes"] = 60
    change = await opened(engine, "guide")
    await looked_at(engine, change)
    found = await engine.fence(Role.REVIEWER, change.number)
    assert found is not None
    assert found.wait is not None
    assert found.wait.reason == "cooling"
    assert f"It is merged at {found.wait.until:%H:%M} UTC" in status(engine, change.number)
    said = len(comments(engine, change.number))
    engine.lab.clock.advance(1800)
    await looked_at(engine, change)
    assert not change.merged
    assert len(comments(engine, change.number)) == said, "no ACK and no word before its time"
    engine.lab.clock.advance(1900)
    await looked_at(engine, change)
    assert change.merged


async def test_a_label_keeps_it_from_being_merged_until_it_is_taken_off(engine: Engine) -> None:
    change = await opened(engine, "guide")
    engine.lab.label(REPOSITORY, change.number, "Do-Not-Merge", actor=OWNER)
    await looked_at(engine, change)
    assert not change.merged
    assert "It is not merged: it carries the excluded label 'Do-Not-Merge'." in status(engine, change.number)
    engine.lab.unlabel(REPOSITORY, change.number, "Do-Not-Merge", actor=OWNER)
    await looked_at(engine, change)
    assert change.merged


async def test_a_larger_change_is_merged_by_a_review_of_somebody_but_its_requester(engine: Engine) -> None:
    engine.repository_settings |= {"merge_max_lines": 1, "merge_by_requester": False}
    change = await opened(engine, "guide", "Read me.\nThen read on.\n")
    await looked_at(engine, change)
    assert "It changes 2 lines, more than 1" in status(engine, change.number)
    engine.lab.clock.advance(2)
    engine.lab.comment(REPOSITORY, change.number, "/merge", author=OWNER)
    await looked_at(engine, change)
    assert not change.merged
    assert "Only its requester asked for the merge" in status(engine, change.number)
    engine.lab.clock.advance(2)
    engine.lab.at(REPOSITORY).pulls.review(change.number, SECOND, "APPROVED", "", change.head)
    await looked_at(engine, change)
    found = await engine.fence(Role.REVIEWER, change.number)
    assert found is not None
    assert found.approved_by.startswith("grace in review ")
    trail = SqliteStore(engine.directory / "machine-1" / "events.db").read(Query(repository=REPOSITORY), 10_000)
    told = [row.event for row in trail if row.event.kind is EventKind.APPROVAL]
    granted = [(one.pull, one.data["by"]) for one in told if one.data["state"] == "granted"]
    assert granted == [(change.number, found.approved_by)], "the word that did not count is none of them"
    assert change.merged
