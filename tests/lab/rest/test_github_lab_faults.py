"""The REST client against an embedded GitHub that loses, breaks, repeats, delays or limits."""

from __future__ import annotations

from pathlib import Path

import aiohttp
import pytest
from github_bench import NAME, bench

from lab.github.fault_injection.faults import Fault, FaultKind
from shared.errors import Transient, UnknownOutcome
from shared.github.comments import Comments
from shared.github.errors import Limited
from shared.github.issues import Issues
from shared.lock.write_permit import OperatorPermit

PERSON = OperatorPermit("test")


@pytest.mark.fault(9)
@pytest.mark.parametrize(
    ("kind", "posted"),
    [
        (FaultKind.LOST_REQUEST, 0),
        (FaultKind.LOST_REPLY, 1),
        (FaultKind.ERROR_BEFORE, 0),
        (FaultKind.ERROR_AFTER, 1),
        (FaultKind.RESET, 1),
        (FaultKind.HTML, 1),
        (FaultKind.TRUNCATED, 1),
        (FaultKind.EMPTY, 1),
        (FaultKind.WRONG_TYPE, 1),
        (FaultKind.NULL_FIELDS, 1),
    ],
)
async def test_a_comment_is_posted_at_most_once(tmp_path: Path, kind: FaultKind, posted: int) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.faults.plan(Fault(kind, "POST", "/comments$", names=("id",)))
        comments = Comments(b.client("engine"), NAME)
        with pytest.raises(UnknownOutcome):
            await comments.post(number, "hello", PERSON)
        assert len(await comments.thread(number)) == posted
        assert len([one for one in b.lab.exchanges if one.method == "POST"]) == 1


@pytest.mark.fault(9)
@pytest.mark.parametrize("gave_up_after_seconds", [None, 0.05])
async def test_a_comment_may_appear_after_the_client_gave_up(
    tmp_path: Path, gave_up_after_seconds: float | None
) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        kind = FaultKind.DELAY if gave_up_after_seconds else FaultKind.LATE
        b.lab.faults.plan(Fault(kind, "POST", "/comments$", seconds=300))
        github = b.client("engine")
        if gave_up_after_seconds:
            github._transport.timeout = aiohttp.ClientTimeout(total=gave_up_after_seconds)
        comments = Comments(github, NAME)
        with pytest.raises(UnknownOutcome):
            await comments.post(number, "hello", PERSON)
        github._transport.timeout = aiohttp.ClientTimeout(total=10)
        assert await comments.thread(number) == ()
        b.lab.clock.advance(300)
        for _ in range(3):  # a delayed request is a task of its own, a late one comes before the next
            thread = await comments.thread(number)
        assert [comment.body for comment in thread] == ["hello"]


@pytest.mark.fault(9)
async def test_a_change_executed_twice_is_answered_and_counted_once(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        for path in ("/labels$", "/pulls$", "/assignees$"):
            b.lab.faults.plan(Fault(FaultKind.TWICE, "POST", path))
        b.lab.faults.plan(Fault(FaultKind.TWICE, "PATCH", "/issues/1$"))
        github = b.client("engine")
        await b.branch("auto/issue-1", "b.py", "new\n")
        issues, path = Issues(github, NAME), f"/repos/{NAME}/pulls"
        await github.write("POST", f"/repos/{NAME}/issues/{number}/labels", {"labels": ["status:ready"]}, PERSON)
        await issues.assign(number, "engine", PERSON)
        await github.write("POST", path, {"title": "T", "head": "auto/issue-1", "base": "main"}, PERSON)
        await issues.close(number, PERSON)
        here = b.lab.at(NAME)
        assert (len(here.pulls.records.values()), here.issues.require(number).labels) == (1, ("status:ready",))
        events = [event.event for event in here.issues.events if event.number == number]
        assert events == ["labeled", "assigned", "closed"]


@pytest.mark.fault(10)
@pytest.mark.parametrize(
    "kind",
    [
        FaultKind.TRUNCATED,
        FaultKind.HTML,
        FaultKind.EMPTY,
        FaultKind.WRONG_TYPE,
        FaultKind.RESET,
        FaultKind.ERROR_BEFORE,
        FaultKind.ERROR_AFTER,
        FaultKind.LOST_REQUEST,
        FaultKind.LOST_REPLY,
        FaultKind.LATE,
    ],
)
async def test_a_broken_list_is_read_again_or_not_at_all(tmp_path: Path, kind: FaultKind) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.comment(NAME, number, "there", author="ada")
        b.lab.faults.plan(Fault(kind, "GET", "/comments$", times=2))
        assert len(await Comments(b.client("engine"), NAME).thread(number)) == 1
        comments = Comments(b.client("engine"), NAME)  # another one, which has nothing to be told "unchanged" of
        b.lab.faults.plan(Fault(kind, "GET", "/comments$", times=3))
        with pytest.raises(Transient):
            await comments.thread(number)
        assert len(await comments.thread(number)) == 1, "nothing of it is remembered"


@pytest.mark.fault(10)
@pytest.mark.parametrize("name", ["id", "created_at", "issue_url"])
async def test_a_list_with_holes_is_no_list(tmp_path: Path, name: str) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.comment(NAME, number, "there", author="ada")
        comments = Comments(b.client("engine"), NAME)
        b.lab.faults.plan(Fault(FaultKind.NULL_FIELDS, "GET", "/comments$", names=(name,)))
        with pytest.raises(Transient):
            await comments.thread(number)
        assert len(await comments.thread(number)) == 1


@pytest.mark.fault(10)
async def test_a_deleted_account_is_a_ghost_and_nobody_of_ours(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.comment(NAME, number, "there", author="ada")
        b.lab.faults.plan(Fault(FaultKind.NULL_FIELDS, "GET", "/comments$", names=("user",)))
        comments = Comments(b.client("engine"), NAME)
        authors = [(await comments.thread(number))[0].author.login for _ in range(2)]
        assert authors == ["ghost", "ada"]


@pytest.mark.fault(9)
async def test_a_storm_of_a_quarter_of_an_hour_leaves_nothing_behind(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, lasting=900, status=503))
        comments = Comments(b.client("engine"), NAME)
        for passed in (0, 450, 440):
            b.lab.clock.advance(passed)
            with pytest.raises(Transient):
                await comments.thread(number)
            with pytest.raises(UnknownOutcome):
                await comments.post(number, "hello", PERSON)
        b.lab.clock.advance(20)
        assert await comments.thread(number) == ()
        await comments.post(number, "hello", PERSON)
        assert len(await comments.thread(number)) == 1


@pytest.mark.fault(11)
async def test_a_stale_list_is_not_believed_for_longer_than_it_is_sent(tmp_path: Path) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        b.lab.clock.advance(60)
        for body in ("one", "two", "three"):
            b.lab.comment(NAME, number, body, author="ada")
        comments = Comments(b.client("engine"), NAME)
        b.lab.faults.plan(Fault(FaultKind.STALE, path="/comments$", seconds=30, nth=2))
        b.lab.faults.plan(Fault(FaultKind.OUT_OF_ORDER, path="/comments$", nth=3))
        seen = [[comment.body for comment in await comments.thread(number)] for _ in range(5)]
        whole = ["one", "two", "three"]
        assert seen == [whole, [], ["one", "three"], whole, whole]
        assert [exchange.status for exchange in b.lab.exchanges] == [200, 200, 200, 200, 304]


@pytest.mark.fault(7)
@pytest.mark.fault(8)
@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("kind", "retry_after", "pause_seconds"),
    [
        (FaultKind.SECONDARY_LIMIT, 30, 30),
        (FaultKind.SECONDARY_LIMIT, None, 60),
        (FaultKind.PRIMARY_LIMIT, None, 2400),
        (FaultKind.PRIMARY_LIMIT, 30, 2400),
    ],
)
async def test_a_limit_stops_everything_until_it_is_over(
    tmp_path: Path, kind: FaultKind, status: int, retry_after: int | None, pause_seconds: float
) -> None:
    async with bench(tmp_path) as b:
        number = b.lab.issue(NAME, "Search", author="ada").number
        fault = Fault(kind, "POST", "/comments$", seconds=2400, status=status, retry_after=retry_after)
        b.lab.faults.plan(fault)
        comments = Comments(b.client("engine"), NAME)
        for passed in (0, pause_seconds - 5):
            b.clock.seconds += passed
            for refused in (comments.post(number, "hello", PERSON), comments.thread(number)):
                with pytest.raises(Limited):
                    await refused
        assert len(list(b.lab.exchanges)) == 1, "nothing more was sent"
        b.clock.seconds += 7
        await comments.post(number, "hello", PERSON)
        assert len(b.lab.at(NAME).comments.of(number)) == 1
