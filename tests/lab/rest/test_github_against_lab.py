"""Every class of the REST client against the embedded GitHub: they agree on what GitHub answers."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from github_bench import NAME, bench
from github_script import lease

from lab.github.ci.behaviours import STARTUP_FAILURE
from lab.github.world.repository import Protection
from shared.errors import Gone, Misconfigured
from shared.github.checks import Checks
from shared.github.comments import Comments
from shared.github.errors import HeadMoved, Refused
from shared.github.issues import Issues
from shared.github.label_board import LOOKS, LabelBoard
from shared.github.listing import brief
from shared.github.people import People
from shared.github.pulls import Pulls
from shared.github.reviews import Reviews
from shared.lock.write_permit import OperatorPermit
from shared.models import CheckOutcome, Finding, Permission, ReviewState
from shared.workflow import Stage
from shared.workflow.labels import Labels

PERSON = OperatorPermit("test")


async def test_the_poll_is_free_until_something_changes(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        issues = Issues(b.client("engine"), NAME)
        assert await issues.recent() == ()
        assert await issues.recent() is None
        assert b.charged == 1
        number = b.lab.issue(NAME, "Search", "Body", author="ada", labels=("status:ready",)).number
        found = await issues.recent()
        assert found is not None
        assert [(item.number, item.labels) for item in found] == [(number, frozenset({"status:ready"}))]
        assert await issues.labelled("status:ready") == found
        single = await issues.issue(number)
        assert single.body == "Body"
        assert "Body" not in found[0].body, "lists keep of bodies only what names other items"
        assert brief(single) == found[0]


async def test_an_issue_from_creation_to_its_end(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        issues = Issues(b.client("engine"), NAME)
        created = await issues.create("Title", "Body", ["status:ready"], PERSON)
        assert (created.title, created.body, created.labels) == ("Title", "Body", frozenset({"status:ready"}))
        assert (await issues.retitle(created.number, "New title", PERSON)).title == "New title"
        await issues.assign(created.number, "engine", PERSON)
        await issues.unassign(created.number, "engine", PERSON)
        assert not (await issues.close(created.number, PERSON)).open
        events = await issues.label_events(created.number)
        assert [(event.label, event.added, event.actor.login) for event in events] == [("status:ready", True, "engine")]
        b.lab.at(NAME).issues.delete(created.number)
        with pytest.raises(Gone):
            await issues.issue(created.number)


async def test_a_long_thread_is_read_whole_or_since(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        posted = [b.lab.comment(NAME, number, f"c{i}", author="ada").id for i in range(250)]
        github = b.client("engine")
        comments = Comments(github, NAME)
        assert [comment.id for comment in await comments.thread(number)] == posted
        assert b.charged == 3
        assert len(await comments.thread(number)) == 250
        assert b.charged == 3  # three pages, three free confirmations
        b.lab.clock.advance(60)
        since = github.server_time + timedelta(seconds=30)
        mine = await comments.post(number, "mine", PERSON)
        assert [comment.id for comment in await comments.thread(number, since)] == [mine.id]
        edited = await comments.edit(mine.id, "edited", PERSON)
        assert edited is not None
        assert await comments.comment(mine.id) == edited
        await comments.delete(mine.id, PERSON)
        assert await comments.comment(mine.id) is None
        assert await comments.edit(mine.id, "again", PERSON) is None
        await comments.delete(mine.id, PERSON)


async def test_a_stage_moves_and_a_persons_label_stays(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada", labels=("status:ready", "bug")).number
        board = LabelBoard(b.client("engine"), NAME, Labels())
        shown = await board.show(number, Stage.IMPLEMENTING, PERSON, known=frozenset({"status:ready"}))
        assert shown == {"status:implementing", "bug"}
        assert (await Issues(b.client("engine"), NAME).issue(number)).labels == shown
        await board.remove(number, "bug", PERSON)
        await board.remove(number, "bug", PERSON)
        assert await board.add(number, ["good first issue"], PERSON) == {"status:implementing", "good first issue"}


@pytest.mark.fault(15)
async def test_all_labels_are_defined_once(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        board = LabelBoard(b.client("engine"), NAME, Labels())
        assert len(await board.create_all(PERSON)) == len(LOOKS) + 1
        assert await board.create_all(PERSON) == ()


async def test_a_pull_request_from_opening_to_merge(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        pulls, held = Pulls(b.client("engine"), NAME), lease(b.clock)
        await b.lab.at(NAME).bare.update_ref("refs/heads/empty", await b.lab.at(NAME).bare.sha("main"))
        with pytest.raises(Refused, match="No commits between"):
            await pulls.open("T", "B", "empty", "main", held)
        sha = await b.branch("auto/issue-1", "a.py", "one\n2\nthree\n")
        opened = await pulls.open("T", "B", "auto/issue-1", "main", held)
        assert (opened.head_sha, opened.base_branch, opened.open) == (sha, "main", True)
        assert (await pulls.open("again", "B", "auto/issue-1", "main", held)).number == opened.number
        assert (await pulls.edit(opened.number, title="Better", permit=PERSON)).title == "Better"
        await pulls.request_reviewers(opened.number, ["reviewer"], held)
        with pytest.raises(HeadMoved):
            await pulls.merge(opened.number, "0" * 40, "squash", "T", held)
        merged = await pulls.merge(opened.number, sha, "squash", "T (#2)", held)
        assert merged == await b.lab.at(NAME).bare.sha("main")
        assert await pulls.merge(opened.number, sha, "squash", "T (#2)", held) == merged
        found = await pulls.of_branch("auto/issue-1")
        assert [(one.number, one.merged, one.merge_sha) for one in found] == [(opened.number, True, merged)]


async def test_reviews_fall_back_as_github_demands(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        held = lease(b.clock)
        sha = await b.branch("auto/issue-1", "a.py", "one\n2\nthree\n")
        number = (await Pulls(b.client("engine"), NAME).open("T", "B", "auto/issue-1", "main", held)).number
        ours, theirs = Reviews(b.client("engine"), NAME), Reviews(b.client("reviewer"), NAME)
        placed, lost = Finding("a.py", 2, "Why?"), Finding("a.py", 99, "Nowhere")
        changes = await theirs.submit(number, sha, ReviewState.CHANGES_REQUESTED, "See below", [placed], held)
        assert (changes.state, changes.head_sha) == (ReviewState.CHANGES_REQUESTED, sha)
        own = await ours.submit(number, sha, ReviewState.APPROVED, "Fine", [placed, lost], held)
        assert own.state is ReviewState.COMMENTED
        assert "`a.py:99` Nowhere" in own.body
        root = (await ours.comments(number))[0]
        assert (root.path, root.line, root.author.login) == ("a.py", 2, "reviewer")
        answer = await ours.reply(number, root.id, "Because", held)
        assert answer.in_reply_to == root.id
        assert [review.id for review in await ours.of(number)][:2] == [changes.id, own.id]


async def test_checks_statuses_and_a_log(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        sha, world = await b.branch("auto/issue-1", "a.py", "x\n"), b.lab.at(NAME).checks
        checks = Checks(b.client("engine"), NAME)
        assert await checks.of(sha) == ()
        job = world.start(sha, "test")
        assert [check.outcome for check in await checks.of(sha)] == [CheckOutcome.RUNNING]
        world.finish(job, "failure", "1 failed", "line 1\nFAILED test_x\n")
        (check,) = await checks.of(sha)
        assert (check.outcome, check.job_id) == (CheckOutcome.FAILED, job.id)
        assert (await checks.log(job.id)).endswith("FAILED test_x\n")
        with pytest.raises(Gone):
            await checks.log(job.id + 1)


@pytest.mark.fault(42)
async def test_what_a_branch_requires_is_read_once_and_anew_only_after_a_while(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        checks = Checks(b.client("engine"), NAME)
        b.lab.configure(NAME, protections={"main": Protection(checks=("test", "lint"))})
        assert await checks.required("main") == {"test", "lint"}
        seen = len(b.lab.exchanges)
        assert await checks.required("main") == {"test", "lint"}
        assert len(b.lab.exchanges) == seen
        assert await checks.required("not/there") == frozenset()


@pytest.mark.fault(42)
async def test_failed_jobs_are_run_again_where_the_token_may(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        allowed = {"actions": "write", "checks": "read", "contents": "write", "statuses": "read"}
        held, checks = lease(b.clock), Checks(b.client("engine", **allowed), NAME)
        b.lab.ci_jobs(NAME, {"test": "exit 1"})
        sha = await b.lab.ci_run(NAME)
        await b.lab.idle()
        (check,) = await checks.of(sha)
        assert (check.conclusion, check.outcome) == ("failure", CheckOutcome.FAILED)
        assert check.run_id is not None
        await checks.rerun(check.run_id, held)
        await b.lab.idle()
        (again,) = await checks.of(sha)
        assert again.job_id is not None
        assert check.job_id is not None
        assert again.job_id > check.job_id, "GitHub gives a job that is run again another id"
        b.lab.ci_mood(NAME, STARTUP_FAILURE, branch="auto/issue-1")
        unstarted = await b.branch("auto/issue-1", "a.py", "x\n")
        assert await checks.of(unstarted) == ()
        assert [one.conclusion for one in await checks.unstarted(unstarted)] == ["startup_failure"]
        assert await checks.unstarted(sha) == ()


async def test_people_and_the_repository(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        people = People(b.client("engine"), NAME)
        assert (await people.me()).login == "engine"
        assert (await people.repository()).default_branch == "main"
        assert [await people.permission(who) for who in ("ada", "engine", "stranger", "nobody")] == [
            Permission.ADMIN,
            Permission.WRITE,
            Permission.READ,
            Permission.NONE,
        ]
        with pytest.raises(Misconfigured):
            await People(b.client("engine"), "ada/unknown").repository()
