"""GitHub's limits and its time: obeyed before anything is sent."""

from __future__ import annotations

from datetime import timedelta

import aiohttp
import pytest
from github_script import NOW, START, Plan, scripted

from shared.errors import EngineError, Transient
from shared.github.client import GitHub
from shared.github.errors import GraphqlUsedUp, Limited, Refused
from shared.github.points import MINUTE
from shared.lock.write_permit import OperatorPermit

PERSON = OperatorPermit("test")


@pytest.mark.fault(7)
@pytest.mark.parametrize("status", [403, 429])
async def test_an_exhausted_budget_stops_everything_until_its_reset(status: int) -> None:
    reset = NOW + timedelta(minutes=40)
    spent = {
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": str(int(reset.timestamp())),
    }
    async with scripted(Plan(status, {"message": "API rate limit exceeded"}, spent)) as (github, script):
        with pytest.raises(Limited) as caught:
            await github.get("/x")
        assert caught.value.until == reset + timedelta(seconds=1)
        with pytest.raises(Limited):
            await github.write("POST", "/y", {}, OperatorPermit("test"))
        script.clock.seconds += 40 * 60 + 2
        script.plan(Plan(body={}))
        await github.get("/x")
    assert script.calls == ["GET /x", "GET /x"]


@pytest.mark.fault(7)
async def test_the_last_tenth_of_the_budget_is_kept_for_leases() -> None:
    low = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "500", "x-ratelimit-reset": "1700564400"}
    async with scripted(Plan(body={}, headers=low), Plan(body={}, headers=low), Plan(body={}, headers=low)) as (
        github,
        script,
    ):
        await github.get("/x")
        for refused in (
            github.changed("/x", tuple),
            github.pages("/x"),
            github.write("POST", "/x", {}, OperatorPermit("t")),
        ):
            with pytest.raises(Limited, match="kept for leases"):
                await refused
        await github.get("/ack")
        await github.write("PATCH", "/ack", {}, OperatorPermit("heartbeat"), urgent=True)
    assert script.calls == ["GET /x", "GET /ack", "PATCH /ack"]


USED_UP = {"errors": [{"type": "RATE_LIMIT", "code": "graphql_rate_limit", "message": "API rate limit exceeded."}]}
"""The answer of GitHub's GraphQL, with status 200, when its hour is used up."""


@pytest.mark.fault(7)
@pytest.mark.parametrize(("status", "left"), [(200, "0"), (200, "37"), (403, "0"), (429, "0")])
async def test_graphqls_own_budget_stops_graphql_alone(status: int, left: str) -> None:
    """The headers may tell of requests that are left although GitHub refuses."""
    reset = NOW + timedelta(minutes=40)
    headers = {
        "x-ratelimit-resource": "graphql",
        "x-ratelimit-limit": "5000",
        "x-ratelimit-remaining": left,
        "x-ratelimit-reset": str(int(reset.timestamp())),
    }
    body = USED_UP if status == 200 else {"message": "API rate limit exceeded for user ID 1."}
    async with scripted(Plan(status, body, headers), Plan(body={}), Plan(body={"data": {}})) as (github, script):
        for _ in range(2):
            with pytest.raises(GraphqlUsedUp) as caught:
                await github.graphql("Q", "query Q { x }", {}, PERSON)
            assert caught.value.until == reset
        assert script.calls == ["POST /graphql"], "asked once"
        await github.write("POST", "/x", {}, PERSON)
        script.clock.seconds += 40 * 60 + 1
        await github.graphql("Q", "query Q { x }", {}, PERSON)
    assert script.calls == ["POST /graphql", "POST /x", "POST /graphql"]


@pytest.mark.fault(8)
@pytest.mark.parametrize(("headers", "pause"), [({}, 60), ({"retry-after": "30"}, 30)])
async def test_a_secondary_limit_that_graphql_tells_with_a_200_stops_everything(
    headers: dict[str, str], pause: int
) -> None:
    body = {"errors": [{"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}]}
    async with scripted(Plan(200, body, headers), Plan(body={})) as (github, script):
        with pytest.raises(Limited) as caught:
            await github.graphql("Q", "query Q { x }", {}, PERSON)
        assert caught.value.until == NOW + timedelta(seconds=pause)
        with pytest.raises(Limited):
            await github.write("POST", "/x", {}, PERSON)
        script.clock.seconds += pause
        await github.write("POST", "/x", {}, PERSON)
    assert script.calls == ["POST /graphql", "POST /x"]


async def test_server_time_is_the_date_carried_on() -> None:
    async with scripted(Plan(body={})) as (github, script):
        with pytest.raises(Transient):
            _ = github.server_time
        await github.get("/rate_limit")
        assert github.server_time == NOW
        script.clock.seconds += 90
        assert github.server_time == NOW + timedelta(seconds=90)
    assert script.calls == ["GET /rate_limit"]


@pytest.mark.fault(8)
@pytest.mark.parametrize(
    ("status", "message", "headers", "pause"),
    [
        (403, "You have exceeded a secondary rate limit", {}, 60),
        (403, "You have exceeded a secondary rate limit", {"retry-after": "30"}, 30),
        (403, "Please wait", {"retry-after": "1"}, 1),
        (429, "Too many requests", {}, 60),
        (429, "Too many requests", {"retry-after": "Tue, 21 Nov 2023 10:02:00 GMT"}, 120),
    ],
)
async def test_a_secondary_limit_is_obeyed(status: int, message: str, headers: dict[str, str], pause: int) -> None:
    async with scripted(Plan(status, {"message": message}, headers), Plan(body={})) as (github, script):
        with pytest.raises(Limited) as caught:
            await github.write("POST", "/x", {}, PERSON)
        assert caught.value.until == NOW + timedelta(seconds=pause)
        script.clock.seconds += pause - 0.5
        with pytest.raises(Limited):
            await github.write("POST", "/x", {}, PERSON)
        script.clock.seconds += 0.5
        await github.write("POST", "/x", {}, PERSON)
    assert script.calls == ["POST /x", "POST /x"]


@pytest.mark.fault(8)
@pytest.mark.parametrize(
    ("method", "status", "message", "used_up", "interval"),
    [
        ("GET", 403, "You have exceeded a secondary rate limit", {}, 60),
        ("GET", 429, "Too many requests", {}, 60),
        ("POST", 403, "You have been temporarily blocked from content creation.", {}, 30),  # another limit
        ("GET", 403, "API rate limit exceeded", {"x-ratelimit-remaining": "0"}, 30),  # the hour's
        ("GET", 404, "Not Found", {}, 30),
    ],
)
async def test_only_a_refusal_for_the_limit_of_a_minute_slows_polls_down(
    method: str, status: int, message: str, used_up: dict[str, str], interval: float
) -> None:
    limits = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4000", "x-ratelimit-reset": "1700564400"}
    plan = Plan(status, {"message": message}, limits | used_up)
    async with scripted(plan, interval=0.001) as (github, _):
        github.points.limited = True
        github.points.join("worker-a", 450)
        with pytest.raises(EngineError):
            await (github.get("/x") if method == "GET" else github.write(method, "/x", {}, PERSON))
        assert github.points.interval(30) == interval


@pytest.mark.parametrize("interval", [0.0, 0.001])
@pytest.mark.parametrize("stated", [True, False])
async def test_reads_beyond_the_points_of_a_minute_wait_unless_the_server_has_no_limits(
    stated: bool, interval: float
) -> None:
    limits = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4000", "x-ratelimit-reset": "1700564400"}
    plans = [Plan(body=[], headers=limits if stated else {}) for _ in range(19)]
    async with scripted(*plans, interval=interval) as (github, script):
        github.points.neighbours = lambda: (1,) * 49  # 18 points are left, of which 16 for ordinary reads
        for _ in range(17):
            await github.pages("/x")
        waited = script.clock.seconds - START
        assert waited == (MINUTE if stated and interval else 0)
        await github.get("/x")
        await github.get("/y")


async def test_logs_and_diffs_wait_like_every_other_read() -> None:
    limits = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4000", "x-ratelimit-reset": "1700564400"}
    plans = [Plan(body=[], headers=limits) for _ in range(17)]
    async with scripted(*plans, interval=0.001) as (github, script):
        github.points.neighbours = lambda: (1,) * 49
        await github.get("/x")
        for _ in range(16):
            assert script.clock.seconds == START
            await github.text("/log", accept="text/plain")
        assert script.clock.seconds == START + MINUTE


async def test_a_client_that_was_not_answered_yet_lifts_no_limit_of_its_account() -> None:
    limits = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4000", "x-ratelimit-reset": "1700564400"}
    async with scripted(Plan(body=[], headers=limits), interval=0.001) as (github, script):
        await github.get("/x")
        github.points.join("worker-a", 600)
        assert github.points.interval(30) == 40
        async with aiohttp.ClientSession() as session:  # that of another owner's repositories, or after a reload
            pacing, clock = github._pacing, script.clock
            GitHub(session, token=_no_token, api_url=script.root, clock=clock, pacing=pacing)
            assert github.points.interval(30) == 40


async def _no_token() -> str:
    raise AssertionError("nothing is asked")


async def test_a_read_that_would_be_refused_is_so_at_once_and_spends_nothing() -> None:
    limits = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4000", "x-ratelimit-reset": "1700564400"}
    refusal = Plan(403, {"message": "You have exceeded a secondary rate limit"}, limits | {"retry-after": "900"})
    async with scripted(Plan(body=[], headers=limits), refusal, interval=0.001) as (github, script):
        github.points.neighbours = lambda: (1,) * 400  # hardly a point
        await github.get("/x")
        with pytest.raises(Limited):
            await github.get("/x")
        waited = script.clock.seconds
        for _ in range(5):
            with pytest.raises(Limited):
                await github.get("/x")
        assert script.clock.seconds == waited


TOO_QUICKLY = "was submitted too quickly"
FAILED = "Validation Failed"


@pytest.mark.fault(8)
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (422, {"message": TOO_QUICKLY}),
        (422, {"message": FAILED, "errors": [TOO_QUICKLY]}),
        (422, {"message": FAILED, "errors": [{"resource": "Issue", "code": "custom", "message": TOO_QUICKLY}]}),
        (422, {"message": "You have exceeded a secondary rate limit"}),
        (403, {"message": "You have triggered an abuse detection mechanism. Please retry your request again later."}),
        (403, {"message": "You have been temporarily blocked from content creation."}),
        (403, {"message": TOO_QUICKLY}),
        (429, {"message": "whatever"}),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"retry-after": "60"}])
@pytest.mark.parametrize("call", ["POST /repos/o/r/pulls", "PUT /repos/o/r/pulls/57/merge", "POST /repos/o/r/issues"])
async def test_a_content_limit_in_any_form_is_a_wait_of_the_account(
    call: str, status: int, body: dict[str, object], headers: dict[str, str]
) -> None:
    method, path = call.split()
    async with scripted(Plan(status, body, headers), Plan(body={})) as (github, script):
        with pytest.raises(Limited) as caught:
            await github.write(method, path, {"head": "work"}, PERSON)
        assert caught.value.until == NOW + timedelta(seconds=60)
        with pytest.raises(Limited):
            await github.get("/repos/o/r")
        script.clock.seconds += 60
        await github.write(method, path, {"head": "work"}, PERSON)
    assert script.calls == [call, call]


@pytest.mark.fault(8)
@pytest.mark.parametrize("said", ["Add a rate limit", "Validation Failed"])
async def test_another_422_is_no_limit(said: str) -> None:
    async with scripted(Plan(422, {"message": said})) as (github, _):
        with pytest.raises(Refused):
            await github.write("POST", "/x", {}, PERSON)


@pytest.mark.fault(8)
async def test_secondary_limits_in_a_row_pause_longer_each_time() -> None:
    limited = Plan(403, {"message": "You have exceeded a secondary rate limit"})
    pauses = []
    async with scripted(limited, limited, limited, Plan(body={}), limited) as (github, script):
        for step in range(5):
            started = script.clock.seconds
            if step == 3:
                await github.get("/x")
                continue
            with pytest.raises(Limited) as caught:
                await github.write("POST", "/x", {}, PERSON)
            pauses.append((caught.value.until - github.server_time).total_seconds())
            script.clock.seconds = started + pauses[-1]
    assert pauses == [60, 120, 240, 60]
