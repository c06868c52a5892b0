"""Pull requests and people over the REST client."""

from __future__ import annotations

from typing import Any

import pytest
from github_script import Plan, lease, pull, scripted, user

from shared.errors import Misconfigured, Transient, UnknownOutcome
from shared.github.errors import HeadMoved, NothingToPull, Refused
from shared.github.people import People
from shared.github.pulls import Pulls
from shared.lock.write_permit import OperatorPermit
from shared.models import Account, Permission

PERSON = OperatorPermit("test")
HEAD, MERGED = "a" * 40, "c" * 40
EXISTS = {
    "message": "Validation Failed",
    "errors": [{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for o:x."}],
}


async def test_a_pull_request_before_and_after_its_merge() -> None:
    after = pull(merged=True, state="closed", mergeable=None)
    async with scripted(Plan(body=pull(mergeable=False)), Plan(body=after)) as (github, _):
        pulls = Pulls(github, "o/r")
        before, done = await pulls.pull_request(57), await pulls.pull_request(57)
    assert (before.open, before.merged, before.merge_sha, before.mergeable) == (True, False, None, False)
    assert (before.head_branch, before.head_sha, before.base_branch) == ("auto/issue-42", HEAD, "main")
    assert (done.open, done.merged, done.merge_sha) == (False, True, MERGED)


async def test_the_pull_requests_of_a_branch_newest_first() -> None:
    listed = [
        pull(5, state="closed", merged_at="2023-11-21T09:00:00Z"),
        pull(9),
        pull(7, head={"ref": "x", "sha": HEAD}),
    ]
    async with scripted(Plan(body=listed)) as (github, script):
        found = await Pulls(github, "o/r").of_branch("auto/issue-42")
    assert [(one.number, one.merged) for one in found] == [(9, False), (5, True)]
    assert script.calls == ["GET /repos/o/r/pulls?per_page=100&head=o:auto%2Fissue-42&state=all"]


@pytest.mark.fault(3)
async def test_the_pull_requests_of_a_branch_are_found_under_the_repositorys_new_owner() -> None:
    moved = {"message": "Moved Permanently"}
    here = {"id": 9, "full_name": "new/r", "default_branch": "main"}
    async with scripted(
        Plan(301, moved, {"Location": "ROOT/repositories/9/pulls?per_page=100&head=o:auto%2Fissue-42&state=all"}),
        Plan(301, moved, {"Location": "ROOT/repositories/9"}),
        Plan(body=[]),
        Plan(body=here),
        Plan(body=[pull(9)]),
        Plan(body=[]),
        Plan(body=here),
    ) as (github, script):
        pulls = Pulls(github, "o/r")
        assert [one.number for one in await pulls.of_branch("auto/issue-42")] == [9], "GitHub knows no such owner"
        assert await pulls.of_branch("auto/issue-43") == ()
    assert script.calls[2:] == [
        "GET /repositories/9/pulls?per_page=100&head=o:auto%2Fissue-42&state=all",
        "GET /repositories/9",
        "GET /repositories/9/pulls?per_page=100&head=new:auto%2Fissue-42&state=all",
        "GET /repositories/9/pulls?per_page=100&head=new:auto%2Fissue-43&state=all",
        "GET /repositories/9",
    ]


@pytest.mark.fault(32)
async def test_an_open_pull_request_of_the_branch_is_adopted() -> None:
    async with scripted(Plan(201, pull(57)), Plan(422, EXISTS), Plan(body=[pull(60, state="closed"), pull(57)])) as (
        github,
        script,
    ):
        pulls, held = Pulls(github, "o/r"), lease(script.clock)
        assert (await pulls.open("T", "B", "auto/issue-42", "main", held)).number == 57
        assert (await pulls.open("T", "B", "auto/issue-42", "main", held)).number == 57
    assert script.asked[0].body == {"title": "T", "body": "B", "head": "auto/issue-42", "base": "main"}


@pytest.mark.fault(36)
async def test_a_pull_request_without_commits_is_refused() -> None:
    nothing = {
        "message": "Validation Failed",
        "errors": [{"code": "custom", "message": "No commits between main and x"}],
    }
    async with scripted(Plan(422, nothing), Plan(422, EXISTS), Plan(body=[])) as (github, script):
        pulls, held = Pulls(github, "o/r"), lease(script.clock)
        with pytest.raises(NothingToPull, match="No commits between"):
            await pulls.open("T", "B", "auto/issue-42", "main", held)
        with pytest.raises(Refused, match="already exists"):
            await pulls.open("T", "B", "auto/issue-42", "main", held)


async def test_changes_to_a_pull_request() -> None:
    async with scripted(Plan(body=pull()), Plan(body=pull()), Plan(201, pull())) as (github, script):
        pulls = Pulls(github, "o/r")
        await pulls.edit(57, body="", permit=PERSON)
        await pulls.close(57, PERSON)
        await pulls.request_reviewers(57, ["ada"], lease(script.clock))
    assert [(asked.call, asked.body) for asked in script.asked] == [
        ("PATCH /repos/o/r/pulls/57", {"body": ""}),
        ("PATCH /repos/o/r/pulls/57", {"state": "closed"}),
        ("POST /repos/o/r/pulls/57/requested_reviewers", {"reviewers": ["ada"]}),
    ]


async def test_a_merge_is_bound_to_the_head_that_was_judged() -> None:
    async with scripted(Plan(body={"sha": MERGED, "merged": True, "message": "ok"})) as (github, script):
        assert await Pulls(github, "o/r").merge(57, HEAD, "squash", "Title (#57)", lease(script.clock)) == MERGED
    assert script.asked[0].call == "PUT /repos/o/r/pulls/57/merge"
    assert script.asked[0].body == {"sha": HEAD, "merge_method": "squash", "commit_title": "Title (#57)"}


@pytest.mark.fault(44)
@pytest.mark.parametrize(
    ("status", "message", "now", "error"),
    [
        (409, "Head branch was modified. Review and try the merge again.", pull(), HeadMoved),
        (405, "Pull Request is not mergeable", pull(head={"ref": "x", "sha": "d" * 40}), HeadMoved),
        (405, "Base branch was modified. Review and try the merge again.", pull(), Transient),
        (405, "Pull Request is not mergeable", pull(), Refused),
        (405, "Changes must be made through the merge queue", pull(), Refused),
    ],
)
async def test_a_merge_that_is_refused(status: int, message: str, now: dict[str, Any], error: type[Exception]) -> None:
    async with scripted(Plan(status, {"message": message}), Plan(body=now)) as (github, script):
        with pytest.raises(error):
            await Pulls(github, "o/r").merge(57, HEAD, "merge", "T", lease(script.clock))


@pytest.mark.fault(44)
async def test_merging_again_after_a_lost_reply_is_success() -> None:
    refused = Plan(405, {"message": "Pull Request is not mergeable"})
    async with scripted(Plan(drop=True), refused, Plan(body=pull(merged=True, state="closed"))) as (github, script):
        pulls, held = Pulls(github, "o/r"), lease(script.clock)
        with pytest.raises(UnknownOutcome):
            await pulls.merge(57, HEAD, "merge", "T", held)
        assert await pulls.merge(57, HEAD, "merge", "T", held) == MERGED


async def test_who_we_are_and_where() -> None:
    where = {"id": 9, "full_name": "o/r", "default_branch": "trunk", "private": True, "archived": False}
    async with scripted(Plan(body=user("engine", 8)), Plan(body=where)) as (github, _):
        assert await People(github, "o/r").me() == Account(8, "engine")
        found = await People(github, "o/r").repository()
    assert (found.id, found.default_branch, found.private) == (9, "trunk", True)


@pytest.mark.fault(3)
async def test_an_unknown_repository_is_a_sentence_about_what_to_do() -> None:
    async with scripted(Plan(404, {"message": "Not Found"})) as (github, _):
        with pytest.raises(Misconfigured, match=r"o/r to this token: check the spelling"):
            await People(github, "o/r").repository()


async def test_a_permission_is_believed_for_five_minutes() -> None:
    write, none = Plan(body={"permission": "write", "role_name": "maintain"}), Plan(404, {"message": "Not Found"})
    async with scripted(write, none) as (github, script):
        people = People(github, "o/r")
        assert await people.permission("ada[bot]") is Permission.WRITE
        script.clock.seconds += 299
        assert await people.permission("Ada[bot]") is Permission.WRITE
        script.clock.seconds += 1
        assert await people.permission("ada[bot]") is Permission.NONE
        assert await people.permission("ada[bot]") is Permission.NONE
    assert script.calls[0] == "GET /repos/o/r/collaborators/ada%5Bbot%5D/permission"


async def test_a_failed_question_about_a_permission_is_no_answer_and_not_remembered() -> None:
    broken = Plan(502)
    async with scripted(broken, broken, broken, Plan(body={"permission": "admin"})) as (github, _):
        people = People(github, "o/r")
        with pytest.raises(Transient):
            await people.permission("ada")
        assert await people.permission("ada") is Permission.ADMIN
