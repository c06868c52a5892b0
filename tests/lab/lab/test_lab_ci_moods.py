"""The lab's CI in every mood: green, red, late, never, flaky, broken, and on another system."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from ci_shop import Shop, shop_at, step

from lab.github.ci import behaviours
from lab.github.ci.behaviours import CiBehaviour, Wish


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncIterator[Shop]:
    async with shop_at(tmp_path) as here:
        yield here


async def test_a_ci_that_never_comes_stays_queued(shop: Shop) -> None:
    shop.ci.wish(Wish(behaviours.NEVER))
    sha = await shop.push()
    await shop.ci.idle()
    assert shop.states(sha) == [("check", "queued", None)]


async def test_a_late_run_begins_when_the_labs_time_has_come(shop: Shop) -> None:
    shop.ci.wish(Wish(behaviours.late(90)))
    sha = await shop.push()
    await shop.ci.idle()
    assert shop.states(sha) == [("check", "queued", None)]
    shop.clock.advance(89)
    await shop.ci.idle()
    assert shop.states(sha) == [("check", "queued", None)]
    shop.clock.advance(1)
    await shop.ci.idle()
    assert shop.states(sha) == [("check", "completed", "success")]


@pytest.mark.parametrize(
    ("mood", "first", "again"),
    [
        (behaviours.GREEN, "success", "success"),
        (behaviours.RED, "failure", "failure"),
        (behaviours.FLAKY, "failure", "success"),
        (behaviours.CANCELLED, "cancelled", "cancelled"),
        (behaviours.TIMED_OUT, "timed_out", "timed_out"),
        (behaviours.RUNNER_LOST, "failure", "success"),
    ],
)
async def test_moods_decide_in_the_place_of_commands(
    shop: Shop, tmp_path: Path, mood: CiBehaviour, first: str, again: str
) -> None:
    ran = tmp_path / "ran"
    shop.ci.settings.jobs = {"check": f"touch {ran}"}
    shop.ci.wish(Wish(mood))
    sha = await shop.push()
    await shop.ci.idle()
    assert not ran.exists()
    shop.ci.rerun(sha, ["check"])
    await shop.ci.idle()
    assert [conclusion for _, _, conclusion in shop.states(sha)] == [first, again]
    assert ran.exists() is (mood is behaviours.RUNNER_LOST), "only there the command decides the second time"


async def test_a_mood_says_in_the_log_and_as_an_annotation_how_it_ended(shop: Shop) -> None:
    shop.ci.wish(Wish(behaviours.CANCELLED))
    check = await shop.run("true")
    assert step(check.log)[-1] == "##[error]The operation was canceled."
    assert [remark.message for remark in check.annotations] == ["The operation was canceled."]


async def test_a_lost_runner_leaves_an_annotation_and_no_log(shop: Shop) -> None:
    shop.ci.wish(Wish(behaviours.RUNNER_LOST))
    check = await shop.run("true")
    assert (check.conclusion, check.log) == ("failure", None)
    assert "lost communication with the server" in check.annotations[0].message


async def test_a_run_that_cannot_start_has_no_jobs(shop: Shop) -> None:
    shop.ci.wish(Wish(behaviours.STARTUP_FAILURE))
    shop.ci.settings.jobs = {"lint": "true", "test": "true"}
    sha = await shop.push()
    await shop.ci.idle()
    (run,) = shop.checks.runs.values()
    assert (shop.states(sha), shop.checks.conclusion(run)) == ([], ("completed", "startup_failure"))
    assert await shop.push() == sha
    assert len(shop.checks.runs.values()) == 1


async def test_the_newest_wish_that_covers_a_run_counts(shop: Shop) -> None:
    shop.ci.settings.jobs = {"lint": "true", "test": "true"}
    for wish in (Wish(behaviours.CANCELLED), Wish(behaviours.RED, job="test"), Wish(behaviours.GREEN, branch="other")):
        shop.ci.wish(wish)
    sha = await shop.push()
    shop.ci.wish(Wish(behaviours.GREEN, sha=sha))
    await shop.ci.idle()
    assert sorted(shop.states(sha)) == [("lint", "completed", "cancelled"), ("test", "completed", "failure")]
    shop.ci.rerun(sha, ["test"])
    await shop.ci.idle()
    assert shop.states(sha)[-1] == ("test", "completed", "success")


@pytest.mark.parametrize(
    ("mood", "states"),
    [
        (behaviours.HONEST, ["pending", "failure"]),
        (behaviours.GREEN, ["pending", "success"]),
        (behaviours.CANCELLED, ["pending", "error"]),
        (behaviours.NEVER, ["pending"]),
    ],
)
async def test_a_ci_outside_github_speaks_in_commit_statuses(shop: Shop, mood: CiBehaviour, states: list[str]) -> None:
    shop.ci.settings.statuses = {"ci/outside": "exit 1"}
    shop.ci.wish(Wish(mood, job="ci/outside"))
    sha = await shop.push()
    await shop.ci.idle()
    assert shop.states(sha) == [("check", "completed", "success")]
    assert [(one.context, one.state) for one in shop.checks.statuses.values()] == [("ci/outside", s) for s in states]
