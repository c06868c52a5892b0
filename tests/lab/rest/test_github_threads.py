"""Issues, comments and labels over the REST client: what is asked, what is made of the answer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from github_script import Plan, comment, issue, scripted, user
from label_scene import PERSON

from shared.errors import NotAllowed
from shared.github.comments import Comments
from shared.github.issues import Issues
from shared.models import Account

RECENT = "GET /repos/o/r/issues?state=open&sort=updated&direction=desc&per_page=100"


async def test_the_poll_is_one_stable_url_and_free_when_nothing_changed() -> None:
    listed = [issue(42), issue(57, pull_request={"url": "x"})]
    async with scripted(Plan(body=listed, headers={"ETag": '"e"'}), Plan(304)) as (github, script):
        found = await Issues(github, "o/r").recent()
        assert found is not None
        assert [(item.number, item.is_pull_request) for item in found] == [(42, False), (57, True)]
        assert await Issues(github, "o/r").recent() is None
    assert script.calls == [RECENT, RECENT]


@pytest.mark.fault(10)
async def test_news_that_could_not_be_read_are_asked_for_again() -> None:
    unusable = Plan(body=[{"number": 42}], headers={"ETag": '"e"'})
    async with scripted(unusable, Plan(body=[issue(42)])) as (github, script):
        assert await Issues(github, "o/r").recent() is not None
    assert "if-none-match" not in script.asked[1].headers


async def test_items_by_label_come_once_in_order_of_creation() -> None:
    link = {"Link": '<ROOT/p2>; rel="next"'}
    async with scripted(Plan(body=[issue(1), issue(2)], headers=link), Plan(body=[issue(2), issue(3)])) as (
        github,
        script,
    ):
        found = await Issues(github, "o/r").labelled("status:ready")
    assert [item.number for item in found] == [1, 2, 3]
    expected = "GET /repos/o/r/issues?per_page=100&labels=status:ready&state=open&sort=created&direction=asc"
    assert script.calls[0] == expected


async def test_an_issue_of_a_deleted_account_without_a_body() -> None:
    async with scripted(Plan(body=issue(42, user=None, body=None, locked=True, state="closed"))) as (github, _):
        found = await Issues(github, "o/r").issue(42)
    assert (found.author, found.body, found.locked, found.open) == (Account(0, "ghost"), "", True, False)
    assert found.labels == {"status:ready"}
    assert found.updated_at == datetime(2023, 11, 21, 9, 30, tzinfo=UTC)


async def test_label_events_are_picked_from_all_events() -> None:
    when = "2023-11-21T09:00:00Z"
    events = [
        {"id": 1, "event": "labeled", "label": {"name": "status:ready"}, "actor": user(), "created_at": when},
        {"id": 2, "event": "assigned", "actor": user(), "created_at": when},
        {"id": 3, "event": "unlabeled", "label": {"name": "status:ready"}, "actor": None, "created_at": when},
    ]
    async with scripted(Plan(body=events)) as (github, _):
        found = await Issues(github, "o/r").label_events(42)
    assert [(event.id, event.added, event.actor.login) for event in found] == [(1, True, "ada"), (3, False, "ghost")]


async def test_changes_to_an_issue() -> None:
    async with scripted(*(Plan(body=issue(42)) for _ in range(5))) as (github, script):
        issues = Issues(github, "o/r")
        await issues.create("Title", "Body", {"b", "a"}, PERSON)
        await issues.close(42, PERSON)
        await issues.retitle(42, "New", PERSON)
        await issues.assign(42, "ada", PERSON)
        await issues.unassign(42, "ada", PERSON)
    assert [(asked.call, asked.body) for asked in script.asked] == [
        ("POST /repos/o/r/issues", {"title": "Title", "body": "Body", "labels": ["a", "b"]}),
        ("PATCH /repos/o/r/issues/42", {"state": "closed"}),
        ("PATCH /repos/o/r/issues/42", {"title": "New"}),
        ("POST /repos/o/r/issues/42/assignees", {"assignees": ["ada"]}),
        ("DELETE /repos/o/r/issues/42/assignees", {"assignees": ["ada"]}),
    ]


async def test_a_thread_is_whole_and_in_the_order_of_ids() -> None:
    link = {"Link": '<ROOT/p2>; rel="next"'}
    since = datetime(2023, 11, 21, 9, 0, 0, 5, tzinfo=UTC)
    async with scripted(Plan(body=[comment(1), comment(3)], headers=link), Plan(body=[comment(3), comment(2)])) as (
        github,
        script,
    ):
        thread = await Comments(github, "o/r").thread(42, since)
    assert [(one.id, one.number, one.author.id) for one in thread] == [(1, 42, 7), (2, 42, 7), (3, 42, 7)]
    assert script.calls[0] == "GET /repos/o/r/issues/42/comments?per_page=100&since=2023-11-21T09:00:00Z"


async def test_an_empty_thread_is_empty() -> None:
    async with scripted(Plan(body=[])) as (github, _):
        assert await Comments(github, "o/r").thread(42) == ()


async def test_only_a_404_says_that_a_comment_does_not_exist() -> None:
    missing = Plan(404, {"message": "Not Found"})
    async with scripted(missing, missing, missing, Plan(403, {"message": "no"}), Plan(body=comment(5))) as (github, _):
        comments = Comments(github, "o/r")
        assert await comments.comment(5) is None
        assert await comments.edit(5, "x", PERSON) is None
        await comments.delete(5, PERSON)
        with pytest.raises(NotAllowed):
            await comments.comment(5)
        found = await comments.comment(5)
    assert found is not None
    assert found.number == 42


async def test_posting_and_editing_a_comment() -> None:
    async with scripted(Plan(201, comment(9)), Plan(200, comment(9, body="new")), Plan(204)) as (github, script):
        comments = Comments(github, "o/r")
        assert (await comments.post(42, "text", PERSON)).id == 9
        edited = await comments.edit(9, "new", PERSON, urgent=True)
        assert edited is not None
        assert edited.body == "new"
        await comments.delete(9, PERSON)
    assert [(asked.call, asked.body) for asked in script.asked] == [
        ("POST /repos/o/r/issues/42/comments", {"body": "text"}),
        ("PATCH /repos/o/r/issues/comments/9", {"body": "new"}),
        ("DELETE /repos/o/r/issues/comments/9", None),
    ]


@pytest.mark.parametrize("items", ["issues", "pulls"])
async def test_the_thread_of_an_item_without_comments_is_not_asked_for(items: str) -> None:
    async with scripted(Plan(body={"comments": 0})) as (github, script):
        comments = Comments(github, "o/r", items=items)
        assert await comments.opening(42) == ()
        assert await comments.recent_thread(42) == ()
    assert script.calls == [f"GET /repos/o/r/{items}/42"]


async def test_a_count_that_lacks_what_was_just_posted_is_not_believed() -> None:
    plans = (Plan(201, comment(7)), Plan(body={"comments": 0}), Plan(body=[comment(7)]))
    async with scripted(*plans) as (github, script):
        comments = Comments(github, "o/r")
        await comments.post(42, "text", PERSON)
        assert [one.id for one in await comments.opening(42)] == [7]
    assert script.calls[1:] == ["GET /repos/o/r/issues/42", "GET /repos/o/r/issues/42/comments?per_page=100"]


@pytest.mark.parametrize(("count", "since"), [(100, ""), (101, "&since=2026-01-05T00:00:00Z")])
async def test_a_thread_with_comments_is_read_whole_unless_it_is_long(count: int, since: str) -> None:
    async with scripted(Plan(body={"comments": count}), Plan(body=[comment(7)])) as (github, script):
        found = await Comments(github, "o/r").opening(42, datetime(2026, 1, 5, tzinfo=UTC))
    assert [one.id for one in found] == [7]
    assert script.calls[1] == f"GET /repos/o/r/issues/42/comments?per_page=100{since}"


async def test_what_was_just_read_and_written_is_not_read_again() -> None:
    plans = (Plan(body=[comment(7)]), Plan(201, comment(8)), Plan(404, {"message": "Not Found"}))
    async with scripted(*plans) as (github, script):
        comments = Comments(github, "o/r")
        await comments.thread(42)
        await comments.post(42, "text", PERSON)
        assert [one.id for one in await comments.recent_thread(42)] == [7, 8]
        assert await comments.edit(7, "text", PERSON) is None
        assert [one.id for one in await comments.recent_thread(42)] == [8]
    assert len(script.calls) == 3
