"""Redirections: renames are followed, transfers are not, logs are fetched without the token."""

from __future__ import annotations

import pytest
from github_script import Plan, issue, scripted
from structlog.testing import capture_logs

from shared.errors import Transient
from shared.github.errors import Moved, NotFound
from shared.lock.write_permit import OperatorPermit


async def test_a_log_is_read_at_its_signed_address_without_the_token() -> None:
    async with scripted(
        Plan(302, raw=b"", headers={"Location": "ROOT/blob?sig=1"}, type="text/html"),
        Plan(raw="line 1\nlïne 2\n".encode(), type="text/plain"),
    ) as (github, script):
        assert await github.text("/repos/o/r/actions/jobs/5/logs", accept="text/plain") == "line 1\nlïne 2\n"
    assert "authorization" in script.asked[0].headers
    assert script.calls[1] == "GET /blob?sig=1"
    assert "authorization" not in script.asked[1].headers


@pytest.mark.fault(42)
async def test_of_a_huge_log_the_end_is_kept() -> None:
    async with scripted(Plan(raw=b"x" * 6_000_000 + b"the failure", type="text/plain")) as (github, _):
        text = await github.text("/log", accept="text/plain")
    assert len(text) == 2 * 2**20
    assert text.endswith("xthe failure")


@pytest.mark.fault(42)
@pytest.mark.parametrize(
    ("second", "error"), [(Plan(404), NotFound), (Plan(410), NotFound), (Plan(403), Transient), (Plan(302), Transient)]
)
async def test_a_log_that_cannot_be_downloaded(second: Plan, error: type[Exception]) -> None:
    first = Plan(302, raw=b"", headers={"Location": "ROOT/blob?sig=secret"})
    tries = 3 if error is Transient else 1
    async with scripted(*((first, second) * tries)) as (github, _):
        with pytest.raises(error) as caught:
            await github.text("/log", accept="text/plain")
    assert "secret" not in str(caught.value)


async def test_a_diff_that_is_a_web_page_is_no_diff() -> None:
    page = Plan(raw=b"<html>", type="text/html")
    async with scripted(page, page, page) as (github, _):
        with pytest.raises(Transient, match="web page"):
            await github.text("/diff", accept="application/vnd.github.diff")


@pytest.mark.fault(3)
async def test_a_renamed_repository_is_followed_with_one_warning() -> None:
    moved = {"message": "Moved Permanently"}
    async with scripted(
        Plan(301, moved, {"Location": "ROOT/repositories/9/issues/42"}),
        Plan(301, moved, {"Location": "ROOT/repositories/9"}),
        Plan(body=issue(42)),
        Plan(body=issue(43)),
        Plan(204),
    ) as (github, script):
        with capture_logs() as logs:
            await github.get("/repos/old/name/issues/42")
            await github.get("/repos/Old/Name/issues/43")
            await github.write("DELETE", "/repos/old/name/issues/comments/1", None, OperatorPermit("test"))
    assert script.calls[1:] == [
        "GET /repos/old/name",
        "GET /repositories/9/issues/42",
        "GET /repositories/9/issues/43",
        "DELETE /repositories/9/issues/comments/1",
    ]
    assert [log["event"] for log in logs if log["event"] != "clock_apart"] == ["repository_renamed"]


@pytest.mark.parametrize("rest", ["", "/protection"])
async def test_the_former_name_of_a_branch_is_no_branch_and_its_repository_is_not_renamed(rest: str) -> None:
    elsewhere = Plan(301, {"message": "Moved Permanently"}, {"Location": f"ROOT/repositories/9/branches/trunk{rest}"})
    async with scripted(elsewhere, Plan(body=issue(42))) as (github, script):
        with capture_logs() as logs:
            with pytest.raises(NotFound, match="leads to"):
                await github.get(f"/repos/o/r/branches/main{rest}")
            await github.get("/repos/o/r/issues/42")
    assert script.calls == [f"GET /repos/o/r/branches/main{rest}", "GET /repos/o/r/issues/42"]
    assert [log["event"] for log in logs if log["event"] != "clock_apart"] == []


async def test_the_former_name_of_a_branch_is_none_in_a_renamed_repository_either() -> None:
    moved = {"message": "Moved Permanently"}
    async with scripted(
        Plan(301, moved, {"Location": "ROOT/repositories/9/branches/old/name"}),
        Plan(body={"id": 9, "full_name": "new/name"}),
        Plan(301, moved, {"Location": "ROOT/repositories/9/branches/trunk"}),
    ) as (github, script):
        with pytest.raises(NotFound, match="leads to"):
            await github.get("/repos/o/r/branches/old%2Fname")
    assert script.calls[2] == "GET /repositories/9/branches/old%2Fname"


@pytest.mark.fault(13)
async def test_a_transferred_issue_is_not_followed() -> None:
    moved = Plan(301, {"message": "Moved Permanently"}, {"Location": "ROOT/repositories/10/issues/1"})
    async with scripted(moved, Plan(body={"id": 9, "full_name": "o/r"})) as (github, script):
        with pytest.raises(Moved):
            await github.get("/repos/o/r/issues/42")
    assert script.calls == ["GET /repos/o/r/issues/42", "GET /repos/o/r"]
