"""An answer to our own write that shows a whole item: the next reading of that is conditional, and never assumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from github_bench import EVERYTHING, NAME, Bench, bench
from github_script import Plan, comment, issue, pull, scripted

from shared.errors import UnknownOutcome
from shared.github.client import GitHub
from shared.github.comments import Comments
from shared.github.issues import Issues
from shared.github.kept_answers import KeptAnswers
from shared.github.pulls import Pulls
from shared.lock.write_permit import OperatorPermit

PERSON = OperatorPermit("test")
TAG = 'W/"of-the-json"'
HERE = "https://api.github.com/repos/o/r"


def started(b: Bench, directory: Path, token: str) -> GitHub:
    """Return a client as a new process of the same machine would make it."""
    return b.client_of(token, KeptAnswers(directory / "answers" / "answers.db", token, b.clock))


async def test_a_comment_that_we_wrote_last_is_read_for_free(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "T", "B", author="ada").number
        comments = Comments(b.client("engine"), NAME)
        posted = await comments.post(number, "one", PERSON)
        before = b.charged
        assert await comments.comment(posted.id) == posted
        edited = await comments.edit(posted.id, "two", PERSON)
        assert await comments.comment(posted.id) == edited
        assert b.charged == before + 1, "the edit alone"
        assert [one.status for one in b.lab.exchanges if one.method == "GET"] == [304, 304], "it was asked each time"


async def test_what_somebody_else_wrote_meanwhile_is_read(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "T", "B", author="ada").number
        comments = Comments(b.client("engine"), NAME)
        other = Comments(b.client("reviewer"), NAME)
        posted = await comments.post(number, "one", PERSON)
        await other.edit(posted.id, "not yours any more", PERSON)
        before = b.charged
        read = await comments.comment(posted.id)
        assert read is not None
        assert read.body == "not yours any more"
        assert b.charged == before + 1


async def test_an_issue_that_we_changed_last_is_read_for_free_until_a_person_changes_it(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        issues = Issues(b.client("engine"), NAME)
        created = await issues.create("T", "B", ["status:ready"], PERSON)
        before = b.charged
        assert await issues.issue(created.number) == created
        assert b.charged == before
        b.lab.at(NAME).issues.remove_label(created.number, "status:ready", "ada")
        assert (await issues.issue(created.number)).labels == frozenset(), "an order to stop is seen"
        assert (await issues.retitle(created.number, "U", PERSON)).title == "U"
        before = b.charged
        assert (await issues.issue(created.number)).title == "U"
        assert b.charged == before


async def test_a_pull_request_that_we_changed_last_is_read_for_free_until_its_head_moves(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        pulls = Pulls(b.client("engine"), NAME)
        await b.branch("auto/issue-1", "b.py", "one\n")
        opened = await pulls.open("T", "B", "auto/issue-1", "main", PERSON)
        edited = await pulls.edit(opened.number, body="C", permit=PERSON)
        before = b.charged
        assert await pulls.pull_request(opened.number) == edited
        assert b.charged == before
        sha = await b.branch("auto/issue-1", "b.py", "two\n")
        assert sha != edited.head_sha
        assert (await pulls.pull_request(opened.number)).head_sha == sha


async def test_an_issue_that_one_agent_made_is_read_for_free_by_the_next_of_its_account(tmp_path: Path) -> None:
    async with bench(tmp_path / "lab") as b:
        token = b.lab.token("engine", EVERYTHING)
        planner, worker = (Issues(started(b, tmp_path, token), NAME) for _ in range(2))
        created = await planner.create("T", "B", ["status:ready"], PERSON)
        before = b.charged
        assert await worker.issue(created.number) == created
        assert b.charged == before
        assert list(b.lab.exchanges)[-1].status == 304, "it was asked"


@pytest.mark.parametrize("order", ["unlabelled", "edited", "closed"])
async def test_what_a_person_said_before_the_next_agent_looked_is_seen(tmp_path: Path, order: str) -> None:
    async with bench(tmp_path / "lab") as b:
        token = b.lab.token("engine", EVERYTHING)
        planner, worker = (Issues(started(b, tmp_path, token), NAME) for _ in range(2))
        number = (await planner.create("T", "B", ["status:ready"], PERSON)).number
        issues = b.lab.at(NAME).issues
        if order == "unlabelled":
            issues.remove_label(number, "status:ready", "ada")
        elif order == "edited":
            issues.edit(number, "ada", body="C")
        else:
            issues.close(number, "ada")
        before = b.charged
        seen = await worker.issue(number)
        expected = {"unlabelled": (frozenset(), "B", True), "edited": (frozenset({"status:ready"}), "C", True)}
        assert (seen.labels, seen.body, seen.open) == expected.get(order, (frozenset({"status:ready"}), "B", False))
        assert b.charged == before + 1


async def test_another_token_is_told_nothing_of_it(tmp_path: Path) -> None:
    async with bench(tmp_path / "lab") as b:
        created = await Issues(started(b, tmp_path, b.lab.token("engine", EVERYTHING)), NAME).create(
            "T", "", [], PERSON
        )
        before = b.charged
        other = Issues(started(b, tmp_path, b.lab.token("reviewer", EVERYTHING)), NAME)
        assert (await other.issue(created.number)).title == "T"
        assert b.charged == before + 1


async def test_only_an_answer_that_names_its_own_address_counts_as_read() -> None:
    """A merge, labels and a review are no items; the address is below the repository as it is configured."""
    answers: tuple[tuple[str, str, Any], ...] = (
        ("PUT", "/pulls/57/merge", {"sha": "a" * 40, "merged": True}),
        ("POST", "/issues/42/labels", [{"name": "bug", "url": f"{HERE}/labels/bug"}]),
        ("POST", "/pulls/57/reviews", {"id": 5, "pull_request_url": f"{HERE}/pulls/57"}),
        ("PATCH", "/issues/42", issue(url=f"{HERE}/issues/42/labels")),
        ("PATCH", "/issues/42", issue(url=42)),
    )
    reads = (issue(), pull(), comment(5))
    async with scripted(*[Plan(body=body, headers={"ETag": TAG}) for *_, body in answers]) as (github, script):
        script.plan(*[Plan(body=body) for body in reads])
        for method, path, _ in answers:
            await github.write(method, f"/repos/o/r{path}", {"labels": []}, PERSON)
        await Issues(github, "o/r").issue(42)
        await Pulls(github, "o/r").pull_request(57)
        await Comments(github, "o/r").comment(5)
    assert all("if-none-match" not in one.headers for one in script.asked)


async def test_a_repository_is_asked_by_the_name_in_use_and_not_by_the_one_in_the_answer() -> None:
    shown = issue(url="https://elsewhere.example/api/v3/repos/O/Renamed/issues/42")
    async with scripted(Plan(body=shown, headers={"ETag": TAG}), Plan(304)) as (github, script):
        issues = Issues(github, "o/r")
        written = await issues.retitle(42, "Add user search", PERSON)
        assert await issues.issue(42) == written
    assert script.calls == ["PATCH /repos/o/r/issues/42", "GET /repos/o/r/issues/42"]
    assert script.asked[1].headers["if-none-match"] == TAG


async def test_a_write_whose_answer_is_lost_confirms_nothing() -> None:
    """The older reading is asked for again: what was written shows itself in full."""
    old, new = comment(5, url=f"{HERE}/issues/comments/5"), comment(5, body="written")
    plans = (Plan(body=old, headers={"ETag": '"old"'}), Plan(drop=True), Plan(body=new, headers={"ETag": TAG}))
    async with scripted(*plans) as (github, script):
        comments = Comments(github, "o/r")
        await comments.comment(5)
        with pytest.raises(UnknownOutcome):
            await comments.edit(5, "written", PERSON)
        read = await comments.comment(5)
    assert read is not None
    assert read.body == "written"
    assert script.asked[2].headers["if-none-match"] == '"old"'


async def test_a_replica_that_is_behind_is_believed_no_more_than_before() -> None:
    """It does not have what the tag stands for, so it sends the older state, and the next reading the newer one."""
    written = comment(5, body="written", url=f"{HERE}/issues/comments/5")
    plans = (
        Plan(body=written, headers={"ETag": TAG}),
        Plan(body=comment(5)),
        Plan(body=written, headers={"ETag": TAG}),
    )
    async with scripted(*plans) as (github, script):
        comments = Comments(github, "o/r")
        await comments.edit(5, "written", PERSON)
        read = [await comments.comment(5), await comments.comment(5)]
    assert [one.body for one in read if one is not None] == ["comment 5", "written"]
    assert [one.headers.get("if-none-match") for one in script.asked] == [None, TAG, None]
