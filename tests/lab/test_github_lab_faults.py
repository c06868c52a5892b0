"""The REST client against an embedded GitHub that is renamed, forbids, breaks or limits."""

from __future__ import annotations

from pathlib import Path

import pytest
from github_bench import NAME, bench

from lab.faults import Fault, FaultKind
from shared.errors import NotAllowed, Transient, Unauthorized, UnknownOutcome
from shared.github.comments import Comments
from shared.github.errors import Limited
from shared.github.issues import Issues
from shared.github.people import People
from shared.warrant import Operator

PERSON = Operator("test")


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


@pytest.mark.fault(9)
@pytest.mark.parametrize(
    ("kind", "posted"),
    [(FaultKind.LOST_REQUEST, 0), (FaultKind.LOST_REPLY, 1), (FaultKind.ERROR_BEFORE, 0), (FaultKind.ERROR_AFTER, 1)],
)
async def test_a_comment_is_posted_at_most_once(tmp_path: Path, kind: FaultKind, posted: int) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.faults.plan(Fault(kind, "POST", "/comments$"))
        comments = Comments(b.client("engine"), NAME)
        with pytest.raises(UnknownOutcome):
            await comments.post(number, "hello", PERSON)
        assert len(await comments.thread(number)) == posted


@pytest.mark.fault(10)
@pytest.mark.parametrize("kind", [FaultKind.TRUNCATED, FaultKind.HTML, FaultKind.ERROR_BEFORE, FaultKind.LOST_REPLY])
async def test_a_broken_list_is_read_again_or_not_at_all(tmp_path: Path, kind: FaultKind) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.comment(NAME, number, "there", author="ada")
        b.lab.faults.plan(Fault(kind, "GET", "/comments$", times=2))
        assert len(await Comments(b.client("engine"), NAME).thread(number)) == 1
        b.lab.faults.plan(Fault(kind, "GET", "/comments$", times=3))
        with pytest.raises(Transient):
            await Comments(b.client("engine"), NAME).thread(number)


@pytest.mark.fault(8)
async def test_a_secondary_limit_stops_writing(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.faults.plan(Fault(FaultKind.SECONDARY_LIMIT, "POST", "/comments$", retry_after=30))
        comments = Comments(b.client("engine"), NAME)
        for _ in range(2):
            with pytest.raises(Limited):
                await comments.post(number, "hello", PERSON)
        assert len(list(b.lab.exchanges)) == 1
        b.clock.time += 31
        await comments.post(number, "hello", PERSON)
        assert len(b.lab.at(NAME).comments.of(number)) == 1
