"""Reviews and checks over the REST client."""

from __future__ import annotations

from typing import Any

import pytest
from github_script import Plan, lease, scripted, user

from shared.errors import Gone
from shared.github.checks import Checks
from shared.github.errors import NotShown, Refused
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.github.reviews import Reviews
from shared.models import CheckOutcome, Finding, ReviewState

HEAD = "a" * 40


def review(state: str = "APPROVED", **changes: Any) -> dict[str, Any]:
    return {
        "id": 3,
        "user": user(),
        "state": state,
        "body": "",
        "commit_id": HEAD,
        "submitted_at": "2023-11-21T09:00:00Z",
    } | changes


async def test_submitted_reviews_and_inline_comments() -> None:
    inline = {
        "id": 4,
        "user": None,
        "path": "a.py",
        "line": None,
        "body": "why",
        "created_at": "2023-11-21T09:00:00Z",
        "updated_at": "2023-11-21T09:00:00Z",
        "in_reply_to_id": 2,
        "diff_hunk": "@@ -1 +1 @@\n-x",
    }
    draft = review("PENDING")
    del draft["submitted_at"]
    async with scripted(Plan(body=[review(), draft, review("DISMISSED", id=5)]), Plan(body=[inline])) as (github, _):
        reviews = await Reviews(github, "o/r").of(57)
        comments = await Reviews(github, "o/r").comments(57)
    assert [(one.id, one.state, one.head_sha) for one in reviews] == [
        (3, ReviewState.APPROVED, HEAD),
        (5, ReviewState.DISMISSED, HEAD),
    ]
    assert (comments[0].line, comments[0].in_reply_to, comments[0].author.login) == (None, 2, "ghost")
    assert comments[0].hunk == "@@ -1 +1 @@\n-x"


FINDINGS = [Finding("a.py", 3, "Off by one"), Finding("b.py", 9, "Unused")]
OWN = {"message": "Unprocessable Entity", "errors": ["Review Can not approve your own pull request"]}
LINE = {"message": "Unprocessable Entity", "errors": ["Line could not be resolved"]}


async def test_a_review_is_one_request() -> None:
    async with scripted(Plan(body=review())) as (github, script):
        found = await Reviews(github, "o/r").submit(
            57, HEAD, ReviewState.APPROVED, "Good", FINDINGS, lease(script.clock)
        )
    assert found.state is ReviewState.APPROVED
    assert script.asked[0].body == {
        "commit_id": HEAD,
        "event": "APPROVE",
        "body": "Good",
        "comments": [
            {"path": "a.py", "line": 3, "side": "RIGHT", "body": "Off by one"},
            {"path": "b.py", "line": 9, "side": "RIGHT", "body": "Unused"},
        ],
    }


@pytest.mark.fault(41)
async def test_a_review_gives_up_verdict_and_lines_rather_than_itself() -> None:
    async with scripted(Plan(422, OWN), Plan(422, LINE), Plan(body=review("COMMENTED"))) as (github, script):
        found = await Reviews(github, "o/r").submit(
            57, HEAD, ReviewState.CHANGES_REQUESTED, "Text", FINDINGS, lease(script.clock)
        )
    assert found.state is ReviewState.COMMENTED
    assert [asked.body["event"] for asked in script.asked] == ["REQUEST_CHANGES", "COMMENT", "COMMENT"]
    assert script.asked[2].body["comments"] == []
    assert script.asked[2].body["body"] == "Text\n\n- `a.py:3` Off by one\n- `b.py:9` Unused"


@pytest.mark.parametrize(
    ("refusals", "state"),
    [
        ([Plan(422, {"message": "Body is too long"})], ReviewState.APPROVED),
        ([Plan(422, LINE), Plan(422, LINE)], ReviewState.APPROVED),
        ([Plan(422, OWN)], ReviewState.COMMENTED),
        ([Plan(409, LINE)], ReviewState.APPROVED),
    ],
)
async def test_a_review_that_cannot_be_given_is_refused(refusals: list[Plan], state: ReviewState) -> None:
    async with scripted(*refusals) as (github, script):
        with pytest.raises(Refused):
            await Reviews(github, "o/r").submit(57, HEAD, state, "Text", FINDINGS, lease(script.clock))


async def test_a_reply_to_an_inline_comment() -> None:
    answer = {
        "id": 6,
        "user": user(),
        "path": "a.py",
        "line": 3,
        "body": "done",
        "created_at": "2023-11-21T09:00:00Z",
        "updated_at": "2023-11-21T09:00:00Z",
        "in_reply_to_id": 4,
    }
    async with scripted(Plan(201, answer)) as (github, script):
        assert (await Reviews(github, "o/r").reply(57, 4, "done", lease(script.clock))).in_reply_to == 4
    assert script.calls == ["POST /repos/o/r/pulls/57/comments/4/replies"]


async def test_checks_are_runs_and_statuses_of_one_commit() -> None:
    job = "https://github.com/o/r/actions/runs/11/job/12"
    runs = [
        {"id": 12, "name": "test", "status": "completed", "conclusion": "failure", "details_url": job, "output": {}},
        {"id": 13, "name": "lint", "status": "in_progress", "conclusion": None, "app": {"slug": "github-actions"}},
        {"id": 14, "name": "docs", "status": "completed", "conclusion": "skipped", "output": {"title": "Not needed"}},
    ]
    statuses = [
        {"context": "ci/a", "state": "success", "description": None},
        {"context": "ci/b", "state": "error", "description": "broke"},
        {"context": "ci/c", "state": "pending", "description": ""},
    ]
    async with scripted(
        Plan(body={"total_count": 3, "check_runs": runs}),
        Plan(body={"state": "failure", "total_count": 3, "statuses": statuses, "repository": {"id": 9}}),
    ) as (github, script):
        found = await Checks(github, "o/r").of(HEAD)
    assert [(check.name, check.outcome, check.summary, check.job_id) for check in found] == [
        ("test", CheckOutcome.FAILED, "failure", 12),
        ("lint", CheckOutcome.RUNNING, "", 13),
        ("docs", CheckOutcome.NEUTRAL, "skipped: Not needed", None),
        ("ci/a", CheckOutcome.PASSED, "", None),
        ("ci/b", CheckOutcome.FAILED, "broke", None),
        ("ci/c", CheckOutcome.RUNNING, "", None),
    ]
    assert script.calls == [
        f"GET /repos/o/r/commits/{HEAD}/check-runs?per_page=100&filter=latest",
        f"GET /repos/o/r/commits/{HEAD}/status?per_page=100",
    ]


def job_of_run(run: int, conclusion: str | None, name: str = "test") -> dict[str, Any]:
    """Return a job of the workflow run of that number, as a check run."""
    job = f"https://github.com/o/r/actions/runs/{run}/job/{run + 100}"
    status = "in_progress" if conclusion is None else "completed"
    return {"id": run + 100, "name": name, "status": status, "conclusion": conclusion, "details_url": job}


def begun(run: int, event: str = "pull_request", workflow: int = 7, at: str = "2023-11-21T09:00:00Z") -> dict[str, Any]:
    """Return a workflow run; those that labels begin in one request begin in one second."""
    return {"id": run, "workflow_id": workflow, "event": event, "created_at": at, "run_started_at": at}


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("jobs", "runs", "outcomes"),
    [
        (((1, "cancelled"), (2, "success")), (begun(1), begun(2)), "superseded passed"),
        (
            ((1, "cancelled"), (2, "cancelled"), (3, None)),
            (begun(1), begun(2), begun(3)),
            "superseded superseded running",
        ),
        (((1, "success"), (2, "cancelled")), (begun(1), begun(2)), "passed failed"),
        (((1, "cancelled"), (2, "success")), (begun(1, at="2023-11-21T09:05:00Z"), begun(2)), "failed passed"),
        (((1, "cancelled"), (2, "success")), (begun(1), begun(2, event="push")), "failed passed"),
        (((1, "cancelled"), (2, "success")), (begun(1), begun(2, workflow=8)), "failed passed"),
        (((1, "cancelled"), (2, "success")), (), "failed passed"),
        (((1, "failure"), (2, "success")), (begun(1), begun(2)), "superseded passed"),
        (((1, "failure"), (2, None)), (begun(1), begun(2)), "superseded running"),
        (((1, "failure"), (2, "failure")), (begun(1), begun(2)), "superseded failed"),
        (((1, "failure"), (2, "success")), (begun(1), begun(2, event="push")), "failed passed"),
        (((1, "success"), (2, "success")), None, "passed passed"),
        (((1, "cancelled"), (2, "skipped")), None, "failed neutral"),
        (((1, "cancelled"), (2, "cancelled")), None, "failed failed"),
    ],
    ids=[
        "cancelled by the next run",
        "one after the other",
        "the newest was cancelled",
        "run once more and cancelled again",
        "another event",
        "another workflow",
        "runs that are not shown",
        "failed before the label was set",
        "the next one runs",
        "failed again",
        "failed on another event",
        "nothing failed",
        "the next one tested nothing",
        "all were cancelled",
    ],
)
async def test_a_failed_job_is_superseded_by_the_next_run_of_its_workflow_for_the_same_event(
    jobs: tuple[tuple[int, str | None], ...], runs: tuple[dict[str, Any], ...] | None, outcomes: str
) -> None:
    listed = {"total_count": len(jobs), "check_runs": [job_of_run(*job) for job in jobs]}
    statuses = Plan(body={"total_count": 0, "statuses": []})
    more = [] if runs is None else [Plan(body={"total_count": len(runs), "workflow_runs": list(runs)})]
    async with scripted(Plan(body=listed), statuses, *more) as (github, script):
        found = await Checks(github, "o/r").of(HEAD)
    assert [check.outcome for check in found] == outcomes.split()
    asked = f"GET /repos/o/r/actions/runs?per_page=100&head_sha={HEAD}"
    assert script.calls[2:] == ([] if runs is None else [asked])


async def test_a_token_that_may_not_see_workflow_runs_takes_a_failed_job_as_it_is() -> None:
    listed = {"total_count": 2, "check_runs": [job_of_run(1, "cancelled"), job_of_run(2, "success")]}
    statuses = Plan(body={"total_count": 0, "statuses": []})
    refused = Plan(403, {"message": "Resource not accessible by integration"})
    async with scripted(Plan(body=listed), statuses, refused) as (github, _):
        found = await Checks(github, "o/r").of(HEAD)
    assert [check.outcome for check in found] == ["failed", "passed"]


@pytest.mark.fault(42)
async def test_no_checks_is_said_as_such_and_an_expired_log_is_gone() -> None:
    nothing = Plan(body={"total_count": 0, "check_runs": []})
    gone = Plan(410, {"message": "Server Error"})
    async with scripted(nothing, Plan(body={"total_count": 0, "statuses": []}), gone) as (github, script):
        checks = Checks(github, "o/r")
        assert await checks.of(HEAD) == ()
        with pytest.raises(Gone):
            await checks.log(12)
    assert script.calls[-1] == "GET /repos/o/r/actions/jobs/12/logs"


async def test_a_remark_of_a_review_that_is_not_listed_yet_shows_that_the_list_is_late() -> None:
    remark = {
        "id": 6,
        "user": user(),
        "path": "a.py",
        "line": 3,
        "body": "here",
        "pull_request_review_id": 9,
        "created_at": "2023-11-21T09:00:00Z",
        "updated_at": "2023-11-21T09:00:00Z",
    }
    looks = [Plan(body=[]), Plan(body=[remark])]
    async with scripted(*looks, *looks, *looks) as (github, script):
        reviews = Reviews(github, "o/r")
        for _ in range(2):
            await reviews.of(57)
            with pytest.raises(NotShown, match="review 9 of #57"):
                await reviews.comments(57)
        script.clock.seconds += PATIENCE_SECONDS
        await reviews.of(57)
        assert [one.id for one in await reviews.comments(57)] == [6], "a hidden review stops nobody for ever"


async def test_a_review_that_was_listed_once_cannot_be_lacking() -> None:
    """A person's request for changes, which the next look asks of a replica that is behind: nothing is merged by it."""
    asked = [review(), review("CHANGES_REQUESTED", id=5)]
    late, draft = [review()], review("PENDING", id=7)
    del draft["submitted_at"]
    answers = [Plan(body=body) for body in ([*asked, draft], late, asked, late, late)]
    async with scripted(*answers) as (github, script):
        reviews = Reviews(github, "o/r")
        assert len(await reviews.of(57)) == 2
        with pytest.raises(NotShown, match="review 5 of #57"):
            await reviews.of(57)
        assert [one.id for one in await reviews.of(57)] == [3, 5], "a draft may be gone"
        with pytest.raises(NotShown, match="review 5 of #57"):
            await reviews.of(57)
        script.clock.seconds += PATIENCE_SECONDS
        assert [one.id for one in await reviews.of(57)] == [3], "a hidden review stops nobody for ever"
