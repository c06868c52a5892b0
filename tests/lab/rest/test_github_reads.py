"""Reads of the REST client: conditional, tried again, and never empty by mistake."""

from __future__ import annotations

import aiohttp
import pytest
from github_script import TOKEN, Plan, comment, scripted

from shared.errors import Gone, Misconfigured, NotAllowed, Transient, Unauthorized
from shared.github.client import GitHub
from shared.github.comments import Comments
from shared.github.errors import NotFound
from shared.github.limits import Pacing


async def test_an_unchanged_resource_is_confirmed_and_never_shared() -> None:
    etag = {"ETag": '"one"'}
    async with scripted(Plan(body={"a": [1]}, headers=etag), Plan(304, headers={"ETag": '"two"'}), Plan(304)) as (
        github,
        script,
    ):
        first = await github.get("/repos/o/r", q="x y")
        first["a"].append(2)
        assert await github.get("/repos/o/r", q="x y") == {"a": [1]}
        assert await github.get("/repos/o/r", q="x y") == {"a": [1]}
    validators = [asked.headers.get("if-none-match") for asked in script.asked]
    assert validators == [None, '"one"', '"two"']  # a rotated ETag on a 304 is taken over
    assert {asked.path for asked in script.asked} == {"/repos/o/r?q=x%20y"}


async def test_changed_tells_news_from_a_304() -> None:
    async with scripted(
        Plan(body=[1], headers={"ETag": '"e"'}), Plan(304), Plan(body=[2], headers={"ETag": '"f"'})
    ) as (
        github,
        _,
    ):
        assert await github.changed("/x", tuple) == (1,)
        assert await github.changed("/x", tuple) is None
        assert await github.changed("/x", tuple) == (2,)


async def test_what_could_not_be_converted_is_not_remembered_as_read() -> None:
    def whole(value: list[int]) -> tuple[int, ...]:
        if 0 in value:
            raise Transient("half of it is missing")
        return tuple(value)

    async with scripted(Plan(body=[0], headers={"ETag": '"e"'}), Plan(body=[1])) as (github, script):
        assert await github.changed("/x", whole) == (1,)
    assert "if-none-match" not in script.asked[1].headers


async def test_a_list_kept_as_values_is_apart_from_its_text() -> None:
    plans = (Plan(body=[1], headers={"ETag": '"e"'}), Plan(body=[1], headers={"ETag": '"e"'}), Plan(304), Plan(304))
    async with scripted(*plans) as (github, _):
        assert await github.listed("/x", tuple) == [1]
        assert await github.pages("/x") == [1]
        assert await github.listed("/x", tuple) == [1]
        assert await github.pages("/x") == [1]


async def test_the_next_page_survives_a_304() -> None:
    link = {"ETag": '"p1"', "Link": '<ROOT/repositories/9/issues?page=2>; rel="next"'}
    async with scripted(
        Plan(body=[1], headers=link), Plan(body=[2], headers={"ETag": '"p2"'}), Plan(304), Plan(304)
    ) as (github, script):
        assert await github.pages("/repos/o/r/issues", state="open") == [1, 2]
        assert await github.pages("/repos/o/r/issues", state="open") == [1, 2]
    assert script.calls[:2] == ["GET /repos/o/r/issues?per_page=100&state=open", "GET /repositories/9/issues?page=2"]
    assert script.calls[2:] == script.calls[:2]


async def test_the_token_does_not_follow_a_link_to_another_server() -> None:
    link = {"Link": '<http://127.0.0.1:9/elsewhere?page=2>; rel="next"'}
    async with scripted(Plan(body=[1], headers=link)) as (github, _):
        with pytest.raises(Transient, match="another server"):
            await github.pages("/x")


async def test_pages_that_lead_in_a_circle_end() -> None:
    link = {"Link": '<ROOT/x?page=2>; rel="next"'}
    async with scripted(*(Plan(body=[1], headers=link) for _ in range(2))) as (github, _):
        with pytest.raises(Transient, match="circle"):
            await github.pages("/x")


@pytest.mark.fault(11)
async def test_a_list_shorter_than_its_count_is_no_answer() -> None:
    async with scripted(Plan(body={"total_count": 2, "check_runs": [{}]})) as (github, _):
        with pytest.raises(Transient, match="1 of 2"):
            await github.pages("/x")


@pytest.mark.fault(9)
@pytest.mark.parametrize("failing", [Plan(500), Plan(502, raw=b"<html>", type="text/html"), Plan(drop=True)])
async def test_a_read_survives_passing_failures(failing: Plan) -> None:
    async with scripted(failing, failing, Plan(body={"ok": 1})) as (github, script):
        assert await github.get("/x") == {"ok": 1}
    assert script.clock.slept == [0.5, 1.0]


@pytest.mark.fault(9)
async def test_a_lasting_failure_is_transient_after_three_tries() -> None:
    async with scripted(Plan(503), Plan(503), Plan(503)) as (github, _):
        with pytest.raises(Transient, match="503"):
            await github.get("/x")


@pytest.mark.fault(10)
@pytest.mark.parametrize(
    "plan",
    [
        Plan(raw=b"<html>it works</html>", type="text/html"),
        Plan(raw=b'[{"id": 1}, {"i'),
        Plan(raw=b""),
        Plan(raw=b"[]", type="text/plain"),
        Plan(raw=b"[]", type="application/octet-stream"),
        Plan(raw=b"\xff\xfe[]"),
        Plan(body="a string"),
        Plan(body=None),
        Plan(body={"message": "hello"}),
    ],
)
async def test_an_unusable_answer_is_never_an_empty_thread(plan: Plan) -> None:
    async with scripted(plan, plan, plan) as (github, script):
        with pytest.raises(Transient):
            await Comments(github, "o/r").thread(42)
        script.plans.clear()  # what is JSON, but no list, is not asked for again


@pytest.mark.fault(10)
async def test_a_comment_without_its_fields_is_no_answer() -> None:
    broken = comment(1)
    del broken["updated_at"]
    async with scripted(Plan(body=[broken])) as (github, _):
        with pytest.raises(Transient, match="updated_at"):
            await Comments(github, "o/r").thread(42)


@pytest.mark.fault(5)
async def test_a_revoked_token_is_named_without_being_shown() -> None:
    async with scripted(Plan(401, {"message": "Bad credentials"})) as (github, script):
        with pytest.raises(Unauthorized) as caught:
            await github.get("/user")
    assert "Bad credentials" in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert script.asked[0].headers["authorization"] == f"bearer {TOKEN}"


@pytest.mark.fault(6)
async def test_a_missing_permission_is_permanent_and_names_the_endpoint() -> None:
    refused = Plan(403, {"message": "Resource not accessible by integration"}, {"x-ratelimit-remaining": "4000"})
    async with scripted(refused, Plan(body={})) as (github, _):
        with pytest.raises(NotAllowed, match=r"GET /x/y.*Resource not accessible by integration"):
            await github.get("/x/y")
        await github.get("/other")  # only that operation is refused


@pytest.mark.fault(12)
@pytest.mark.parametrize(("status", "error"), [(404, NotFound), (410, Gone)])
async def test_what_is_gone_is_gone(status: int, error: type[Gone]) -> None:
    async with scripted(Plan(status, {"message": "Not Found"})) as (github, _):
        with pytest.raises(error):
            await github.get("/repos/o/r/issues/42")


@pytest.mark.fault(47)
@pytest.mark.parametrize(("url", "interval"), [("http://ghe.example/api/v3", 1.0), ("https://api.github.com", 0.0)])
async def test_unsafe_settings_are_refused_away_from_loopback(url: str, interval: float) -> None:
    async with scripted() as (_, script), aiohttp.ClientSession() as session:

        async def token() -> str:
            return TOKEN

        with pytest.raises(Misconfigured):
            GitHub(
                session,
                token=token,
                api_url=url,
                clock=script.clock,
                pacing=Pacing(script.clock, write_interval_seconds=interval),
            )
