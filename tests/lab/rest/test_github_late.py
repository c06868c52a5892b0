"""Right after something was made, GitHub may answer that it is not there: it is asked again, and only then believed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import pytest
from github_script import NOW, Plan, comment, issue, lease, pull, scripted

from shared.errors import Gone
from shared.github.checks import Checks
from shared.github.client import GitHub
from shared.github.comments import Comments
from shared.github.errors import NotShown, Refused
from shared.github.issues import Issues
from shared.github.label_board import LabelBoard
from shared.github.pulls import Pulls
from shared.github.replica_lag import KNOWN_SECONDS, PATIENCE_SECONDS, YOUNG_SECONDS
from shared.github.reviews import Reviews
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.write_permit import OperatorPermit
from shared.models import ReviewState
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels

R = "o/r"
SHA = "a" * 40
PERSON = OperatorPermit("test")
NOT_FOUND = Plan(404, {"message": "Not Found"})
NODE = Plan(422, {"message": "Validation Failed", "errors": ["Could not resolve to a node with the global id of 'x'."]})
NO_COMMIT = Plan(422, {"message": f"No commit found for SHA: {SHA}"})
HEAD = Plan(
    422,
    {"message": "Validation Failed", "errors": [{"resource": "PullRequest", "field": "head", "code": "invalid"}]},
)
RUNS = Plan(body={"total_count": 0, "check_runs": []})
STATUS = Plan(body={"total_count": 0, "statuses": []})
REVIEW = {
    "id": 5,
    "user": {"login": "ada", "id": 7, "type": "User"},
    "body": "",
    "state": "COMMENTED",
    "commit_id": SHA,
    "submitted_at": "2023-11-21T09:00:00Z",
}
FENCE = Fence(key=ItemKey(Role.WORKER, 42), ack_id=1, nonce="0" * 32, agent="w", stage=Stage.TESTING, at=NOW, pr=57)

Act = Callable[[GitHub, Any], Awaitable[object]]


def named(act: Act) -> Act:
    """Return the act, done after the fence has named the issue."""

    async def acted(github: GitHub, script: Any) -> object:
        Issues(github, R).name(FENCE)
        return await act(github, script)

    return acted


ACTS: dict[str, tuple[Plan, Act, tuple[Plan, ...]]] = {
    "check runs": (NO_COMMIT, lambda github, _: Checks(github, R).of(SHA), (RUNS, STATUS)),
    "check runs 404": (NOT_FOUND, lambda github, _: Checks(github, R).of(SHA), (RUNS, STATUS)),
    "the pull request": (NOT_FOUND, named(lambda github, _: Pulls(github, R).pull_request(57)), (Plan(body=pull()),)),
    "the issue": (NOT_FOUND, named(lambda github, _: Issues(github, R).issue(42)), (Plan(body=issue()),)),
    "its reviews": (NOT_FOUND, named(lambda github, _: Reviews(github, R).of(57)), (Plan(body=[]),)),
    "a label": (
        NODE,
        named(lambda github, _: LabelBoard(github, R, Labels()).add(57, ["x"], PERSON)),
        (Plan(body=[]),),
    ),
    "a comment": (
        NOT_FOUND,
        named(lambda github, _: Comments(github, R).post(57, "hello", PERSON)),
        (Plan(201, comment(number=57)),),
    ),
    "a new pull request": (
        HEAD,
        lambda github, script: Pulls(github, R).open("T", "B", "work", "main", lease(script.clock)),
        (Plan(201, pull()),),
    ),
    "a review": (
        NO_COMMIT,
        lambda github, script: Reviews(github, R).submit(57, SHA, ReviewState.COMMENTED, "", [], lease(script.clock)),
        (Plan(body=REVIEW),),
    ),
    "the merge": (
        NOT_FOUND,
        named(lambda github, script: Pulls(github, R).merge(57, SHA, "squash", "T", lease(script.clock))),
        (Plan(body={"sha": SHA, "merged": True, "message": ""}),),
    ),
}


@pytest.mark.parametrize("what", ACTS)
async def test_one_late_answer_is_not_noticed(what: str) -> None:
    late, act, then = ACTS[what]
    async with scripted(late, late, *then) as (github, script):
        await act(github, script)
        assert script.calls[0] == script.calls[1] == script.calls[2]
        assert script.clock.slept[:2] == [0.5, 1.0]


@pytest.mark.parametrize("what", ACTS)
async def test_what_stays_away_for_two_minutes_is_gone_and_until_then_hardly_asked_for(what: str) -> None:
    late, act, _ = ACTS[what]
    async with scripted(*[late] * 12) as (github, script):
        began = script.clock.boot()
        with pytest.raises((Gone, Refused)):
            await _until_it_counts(act, github, script)
        assert PATIENCE_SECONDS <= script.clock.boot() - began < PATIENCE_SECONDS + 35
        assert 7 <= len(script.asked) <= 12
        del script.plans[:]


async def _until_it_counts(act: Act, github: GitHub, script: Any) -> None:
    """Repeat `act` as ticks do, a second later each time, while the server does not show everything."""
    while True:
        try:
            await act(github, script)
        except NotShown:
            script.clock.seconds += 1


async def test_a_comment_is_looked_for_in_the_list_that_it_was_put_into() -> None:
    older, whole = Plan(body=[comment(1)]), Plan(body=[comment(1), comment(2)])
    async with scripted(Plan(201, comment(2)), older, older, whole) as (github, script):
        comments = Comments(github, R)
        await comments.post(42, "mine", PERSON)
        assert [one.id for one in await comments.thread(42)] == [1, 2]
        assert script.clock.slept == [0.5, 1.0]


async def test_the_end_of_a_thread_has_to_show_what_was_put_there_since() -> None:
    before = NOW - timedelta(seconds=60)
    made = {**comment(2), "created_at": f"{NOW:%Y-%m-%dT%H:%M:%SZ}"}
    async with scripted(Plan(201, made), Plan(body=[]), Plan(body=[made])) as (github, script):
        comments = Comments(github, R)
        await comments.post(42, "mine", PERSON)
        assert [one.id for one in await comments.thread(42, before)] == [2]
        assert script.clock.slept == [0.5]
    async with scripted(Plan(201, made), Plan(body=[])) as (github, _):
        comments = Comments(github, R)
        await comments.post(42, "mine", PERSON)
        assert await comments.thread(42, NOW + timedelta(seconds=1)) == ()


async def test_a_late_thread_is_no_answer_and_a_deleted_comment_one_after_two_minutes() -> None:
    older = Plan(body=[comment(1)])
    async with scripted(Plan(201, comment(2)), *[older] * 4) as (github, script):
        comments = Comments(github, R)
        await comments.post(42, "mine", PERSON)
        with pytest.raises(NotShown):
            await comments.thread(42)
        script.clock.seconds += PATIENCE_SECONDS
        assert [one.id for one in await comments.thread(42)] == [1]


async def test_an_item_that_nobody_named_is_gone_at_once() -> None:
    async with scripted(NOT_FOUND) as (github, script):
        with pytest.raises(Gone):
            await Issues(github, R).issue(42)
        assert script.clock.slept == []


@pytest.mark.parametrize("old", [False, True])
async def test_a_new_item_of_a_list_is_not_gone_because_the_next_replica_does_not_show_it(old: bool) -> None:
    made = NOW - timedelta(seconds=KNOWN_SECONDS + 60 if old else 60)
    listed = Plan(body=[issue(42) | {"created_at": f"{made:%Y-%m-%dT%H:%M:%SZ}"}])
    async with scripted(listed, *([NOT_FOUND] if old else [NOT_FOUND, Plan(body=issue(42))])) as (github, script):
        issues = Issues(github, R)
        found = await issues.recent()
        assert found is not None
        assert [one.number for one in found] == [42]
        if old:
            with pytest.raises(Gone):
                await issues.issue(42)
        else:
            assert (await issues.issue(42)).number == 42
            assert script.clock.slept == [0.5]


async def test_an_item_that_was_named_lately_is_not_gone_because_it_is_not_shown() -> None:
    """An item that was named long ago may have been deleted since: only a recent name is a reason to ask again."""
    async with scripted(Plan(body={}), NOT_FOUND, NOT_FOUND, Plan(body=issue(42))) as (github, script):
        await github.get("/rate_limit")
        assert (await Issues(github, R).named(42, NOW)).number == 42
        assert script.clock.slept == [0.5, 1.0]
    async with scripted(Plan(body={}), NOT_FOUND) as (github, script):
        await github.get("/rate_limit")
        with pytest.raises(Gone):
            await Issues(github, R).named(42, NOW - timedelta(seconds=KNOWN_SECONDS + 60))
        assert script.clock.slept == []


@pytest.mark.parametrize("old", [False, True])
async def test_a_new_comment_of_a_thread_is_not_gone_because_the_next_replica_does_not_show_it(old: bool) -> None:
    """A comment whose reply was lost, and which was found by its thread, is edited; it does not count as deleted."""
    made = NOW - timedelta(seconds=YOUNG_SECONDS + 60 if old else 60)
    listed = Plan(body=[comment(2) | {"created_at": f"{made:%Y-%m-%dT%H:%M:%SZ}"}])
    async with scripted(listed, *([NOT_FOUND] if old else [NOT_FOUND, Plan(body=comment(2))])) as (github, script):
        comments = Comments(github, R)
        await comments.thread(42)
        assert (await comments.edit(2, "mine", PERSON) is None) is old
        assert script.clock.slept == ([] if old else [0.5])
