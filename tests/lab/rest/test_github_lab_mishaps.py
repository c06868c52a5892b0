"""The REST client against an embedded GitHub in which tokens, labels, issues and names go away."""

from __future__ import annotations

from pathlib import Path

import pytest
from github_bench import NAME, bench

from lab.github.fault_injection.faults import Fault, FaultKind
from shared.errors import NotAllowed, Unauthorized
from shared.github.comments import Comments
from shared.github.errors import Moved
from shared.github.issues import Issues
from shared.github.label_board import LabelBoard
from shared.github.people import People
from shared.lock.write_permit import OperatorPermit
from shared.workflow import Stage
from shared.workflow.labels import Labels

PERSON = OperatorPermit("test")


@pytest.mark.fault(3)
async def test_a_renamed_repository_keeps_working(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.rename(NAME, "ada/other")
        github = b.client("engine")
        assert (await Issues(github, NAME).issue(number)).title == "Search"
        await Comments(github, NAME).post(number, "hello", PERSON)
        assert len(await Comments(github, NAME).thread(number)) == 1


@pytest.mark.fault(4)
async def test_wrong_and_weak_tokens(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        with pytest.raises(Unauthorized):
            await People(b.client_of("wrong"), NAME).me()
        with pytest.raises(NotAllowed, match="Resource not accessible"):
            await Comments(b.client("engine", issues="read"), NAME).post(number, "hello", PERSON)
        assert b.lab.at(NAME).comments.of(number) == []


@pytest.mark.fault(5)
async def test_a_revoked_token_is_told_apart_and_never_tried_again(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.faults.plan(Fault(FaultKind.TOKEN_REVOKED, "POST", "/comments$", login="engine"))
        github = b.client("engine")
        for refused in (Comments(github, NAME).post(number, "hello", PERSON), Issues(github, NAME).issue(number)):
            with pytest.raises(Unauthorized, match="does not accept the token"):
                await refused
        assert [exchange.status for exchange in b.lab.exchanges] == [401], "the second was not even sent"
        assert b.lab.at(NAME).comments.of(number) == []


@pytest.mark.fault(6)
async def test_one_forbidden_operation_is_refused_once_and_the_rest_goes_on(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "GET", "/events$", status=403))
        issues = Issues(b.client("engine"), NAME)
        with pytest.raises(NotAllowed, match=r"Resource not accessible"):
            await issues.label_events(number)
        assert (await issues.issue(number)).title == "Search"
        assert [exchange.status for exchange in b.lab.exchanges] == [403, 200]


@pytest.mark.fault(13)
async def test_a_transferred_issue_is_written_to_nowhere(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        await b.lab.repository("ada/other", {"a.py": ""}, collaborators={"engine": "write"})
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.faults.plan(Fault(FaultKind.TRANSFERRED, "POST", "/comments$", to="ada/other"))
        github = b.client("engine")
        with pytest.raises(Moved):
            await Comments(github, NAME).post(number, "hello", PERSON)
        with pytest.raises(Moved):
            await Issues(github, NAME).issue(number)
        assert b.lab.at("ada/other").comments.of(1) == []


@pytest.mark.fault(15)
async def test_a_deleted_label_definition_is_no_error(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada", labels=("status:ready",)).number
        b.lab.faults.plan(Fault(FaultKind.LABEL_DELETED, "POST", f"/issues/{number}/labels$", names=("status:ready",)))
        board = LabelBoard(b.client("engine"), NAME, Labels())
        await board.show(number, Stage.IMPLEMENTING, PERSON)
        assert b.lab.at(NAME).issues.require(number).labels == ("status:implementing",)


@pytest.mark.fault(39)
@pytest.mark.parametrize("wrong", [1, 2], ids=["the first answer", "a later one"])
async def test_answers_that_disagree_about_the_time_make_nobody_sure_of_it(tmp_path: Path, wrong: int) -> None:
    """One of two is wrong, and nobody can tell which: what was known stays, and nothing is taken over by it."""
    async with bench(tmp_path) as b:
        b.lab.faults.plan(Fault(FaultKind.CLOCK_OFFSET, path="/rate_limit$", nth=wrong, seconds=-3600))
        github = b.client("engine")
        for _ in range(2):
            await github.get("/rate_limit")
        known = github.server_time.timestamp() - b.lab.clock.now()
        assert known == pytest.approx(-3600 if wrong == 1 else 0, abs=60)
        assert not github.sure_of_time
        if wrong == 2:
            for _ in range(2):
                await github.get("/rate_limit")
            assert github.sure_of_time
