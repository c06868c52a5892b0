"""Planned faults of the embedded GitHub: each kind happens once, to the request it was meant for."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from judge import Judge
from lab_scene import NAME, Scene, scene_at

from lab.github.fault_injection.faults import Fault, FaultKind, Faults, FaultTarget

COMMENTS = r"/issues/1/comments$"


async def test_a_lost_request_never_happened(scene: Scene) -> None:
    scene.lab.issue(NAME, "Here", author="ada")
    scene.lab.faults.plan(Fault(FaultKind.LOST_REQUEST, "POST", COMMENTS))
    with pytest.raises(aiohttp.ClientError):
        await scene.ask("POST", "issues/1/comments", {"body": "x"})
    assert await scene.get("issues/1/comments") == []


async def test_a_lost_reply_hides_what_has_happened(scene: Scene) -> None:
    scene.lab.issue(NAME, "Here", author="ada")
    scene.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "POST", COMMENTS, nth=2))
    assert (await scene.ask("POST", "issues/1/comments", {"body": "first"})).status == 201
    with pytest.raises(aiohttp.ClientError):
        await scene.ask("POST", "issues/1/comments", {"body": "second"})
    assert [comment["body"] for comment in await scene.get("issues/1/comments")] == ["first", "second"]


@pytest.mark.parametrize(("kind", "left"), [(FaultKind.ERROR_BEFORE, 0), (FaultKind.ERROR_AFTER, 1)])
async def test_errors_come_before_or_after_the_deed(scene: Scene, kind: FaultKind, left: int) -> None:
    scene.lab.issue(NAME, "Here", author="ada")
    scene.lab.faults.plan(Fault(kind, "POST", COMMENTS, status=503))
    assert (await scene.ask("POST", "issues/1/comments", {"body": "x"})).status == 503
    assert len(await scene.get("issues/1/comments")) == left


async def test_a_storm_lasts_as_often_as_planned(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, times=3))
    assert [(await scene.ask("GET", "issues")).status for _ in range(4)] == [502, 502, 502, 200]


async def test_a_storm_lasts_as_long_as_planned(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, nth=2, lasting=900, status=503))
    statuses = []
    for passed in (0, 0, 0, 899, 2):
        scene.lab.clock.advance(passed)
        statuses.append((await scene.ask("GET", "issues")).status)
    assert statuses == [200, 503, 503, 503, 200]


async def test_a_fault_is_for_one_method_path_and_person(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "GET", "/issues$", login="ADA", status=500))
    for method, path, by in (("GET", "issues", "octo"), ("GET", "labels", "ada"), ("POST", "issues", "ada")):
        assert (await scene.ask(method, path, {"title": "x"} if method == "POST" else None, by=by)).status < 300
    assert [(await scene.ask("GET", "issues", by="reader")).status for _ in range(2)] == [500, 200]


@pytest.mark.parametrize(
    ("status", "says"), [(403, "Resource not accessible"), (404, "Not Found"), (500, "Server Error"), (401, "Bad cred")]
)
async def test_errors_of_every_status_carry_its_words(scene: Scene, status: int, says: str) -> None:
    scene.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, path="/labels$", status=status, retry_after=3))
    answer = await scene.ask("GET", "labels")
    assert (answer.status, answer.headers["Retry-After"]) == (status, "3")
    assert answer.body["message"].startswith(says)


async def test_a_stale_list_misses_the_newest_or_shows_the_past(scene: Scene) -> None:
    lab = scene.lab
    lab.issue(NAME, "Here", author="ada", labels=("old",))
    for body in ("one", "two", "three"):
        lab.comment(NAME, 1, body, author="ada")
    lab.clock.advance(60)
    first = scene.repository.comments.of(1)[0]
    scene.repository.comments.edit(first.id, "one, edited")
    lab.label(NAME, 1, "new", actor="ada")
    lab.comment(NAME, 1, "four", author="ada")
    lab.faults.plan(Fault(FaultKind.STALE, path=COMMENTS, missing=2))
    lab.faults.plan(Fault(FaultKind.STALE, path=COMMENTS, seconds=30, nth=2))
    lab.faults.plan(Fault(FaultKind.STALE, path=r"/issues$", seconds=30))
    seen = [[comment["body"] for comment in await scene.get("issues/1/comments")] for _ in range(3)]
    assert seen == [["one, edited", "two"], ["one", "two", "three"], ["one, edited", "two", "three", "four"]]
    labels = [[label["name"] for label in (await scene.get("issues"))[0]["labels"]] for _ in range(2)]
    assert labels == [["old"], ["old", "new"]]


@pytest.mark.parametrize("retry_after", [None, 7])
@pytest.mark.parametrize("status", [403, 429])
async def test_limits_speak_githubs_words(scene: Scene, status: int, retry_after: int | None) -> None:
    said: dict[str, Any] = {"status": status, "retry_after": retry_after}
    scene.lab.faults.plan(Fault(FaultKind.PRIMARY_LIMIT, path="/issues$", seconds=2400, **said))
    scene.lab.faults.plan(Fault(FaultKind.SECONDARY_LIMIT, path="/labels$", **said))
    primary, secondary = await scene.ask("GET", "issues"), await scene.ask("GET", "labels")
    assert [primary.status, secondary.status] == [status, status]
    header = None if retry_after is None else str(retry_after)
    assert [answer.headers.get("Retry-After") for answer in (primary, secondary)] == [header, header]
    assert primary.headers["x-ratelimit-remaining"] == "0"
    assert int(primary.headers["x-ratelimit-reset"]) == pytest.approx(scene.lab.clock.now() + 2400, abs=60)
    assert "API rate limit exceeded" in primary.body["message"]
    assert "secondary rate limit" in secondary.body["message"]
    assert [(await scene.ask("GET", path)).status for path in ("issues", "labels")] == [200, 200]


async def test_a_delay_waits_on_the_labs_clock(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.DELAY, path="/issues$", seconds=3600))
    slow = asyncio.create_task(scene.ask("GET", "issues"))
    while not scene.lab.faults.planned[0].seen:  # noqa: ASYNC110 - the other side is a server
        await asyncio.sleep(0.01)
    assert not slow.done()
    scene.lab.clock.advance(3600)
    assert (await slow).status == 200


async def test_faults_are_planned_over_http_by_the_labs_own_token(scene: Scene) -> None:
    async def lab(method: str, body: Any = None, token: str = scene.lab.admin_token) -> tuple[int, Any]:
        sent = {"Authorization": f"Bearer {token}"}
        async with scene.http.request(method, f"{scene.lab.url}/_lab/faults", json=body, headers=sent) as answer:
            return answer.status, await answer.json() if answer.content_type == "application/json" else None

    await scene.get("issues")
    plan = {"kind": "error before", "method": "GET", "path": "/labels$", "status": 500}
    assert (await lab("POST", plan, token="wrong"))[0] == 401
    assert (await lab("POST", {**plan, "kind": "flood"}))[0] == 422
    assert (await lab("POST", {**plan, "kidn": 1}))[0] == 422
    assert (await lab("POST", {**plan, "path": "("}))[0] == 422
    assert (await lab("POST", {**plan, "nth": "soon"}))[0] == 422
    assert (await lab("POST", {**plan, "times": 0}))[0] == 422
    assert (await lab("POST", {"kind": "null fields"}))[0] == 422
    assert (await lab("POST", {"kind": "transferred"}))[0] == 422
    assert (await lab("POST", plan))[0] == 201
    (shown,) = (await lab("GET"))[1]
    assert {name: shown[name] for name in (*plan, "seen")} == {**plan, "seen": 0}
    assert (await scene.ask("GET", "labels")).status == 500
    assert await lab("GET") == (200, [])
    await lab("POST", plan)
    assert (await lab("DELETE"))[0] == 204
    assert (await scene.ask("GET", "labels")).status == 200


async def test_a_fault_that_did_not_happen_fails_the_test(tmp_path: Path) -> None:
    """This is the positive control of every fixture that asks `unused`: it shows what they see."""
    stack = AsyncExitStack()
    scene = await stack.enter_async_context(scene_at(tmp_path, Judge()))
    scene.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, path="/nowhere$"))
    await scene.get("issues")
    with pytest.raises(AssertionError, match="nowhere"):
        await stack.aclose()


@pytest.mark.parametrize(
    ("fault", "asked"),
    [
        (Fault(FaultKind.ERROR_BEFORE), 0),
        (Fault(FaultKind.ERROR_BEFORE, nth=2), 1),
        (Fault(FaultKind.ERROR_BEFORE, times=2), 1),
        (Fault(FaultKind.ERROR_BEFORE, nth=2, lasting=60), 1),
    ],
)
def test_a_fault_is_unused_until_all_of_it_has_happened(fault: Fault, asked: int) -> None:
    faults = Faults()
    faults.plan(fault)
    for _ in range(asked):
        faults.take(FaultTarget("GET", "/user", "", 0.0))
    assert faults.unused == [fault]
    faults.take(FaultTarget("GET", "/user", "", 0.0))
    assert faults.unused == []


async def test_what_is_unlisted_is_404_and_noted(scene: Scene, judge: Judge) -> None:
    answers = [await scene.ask("GET", "wiki"), await scene.ask("PUT", "issues")]
    assert [answer.status for answer in answers] == [404, 404]
    assert scene.lab.unlisted == [f"GET /repos/{NAME}/wiki", f"PUT /repos/{NAME}/issues"]
    assert len(judge.complaints) == 2
    scene.lab.unlisted.clear()
    judge.complaints.clear()
