"""Planned faults of the embedded GitHub: each kind happens once, to the request it was meant for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import aiohttp
import pytest
from judge import Judge
from lab_scene import NAME, Scene

from lab.faults import Fault, FaultKind
from lab.git_command import environment
from shared import process

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


async def test_a_storm_lasts_as_long_as_planned(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, times=3))
    assert [(await scene.ask("GET", "issues")).status for _ in range(4)] == [502, 502, 502, 200]


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


async def test_broken_bodies_come_with_status_200(scene: Scene) -> None:
    whole = (await scene.ask("GET", "labels")).text
    scene.lab.faults.plan(Fault(FaultKind.HTML, path="/issues$"))
    scene.lab.faults.plan(Fault(FaultKind.TRUNCATED, path="/rate_limit$"))
    page = await scene.ask("GET", "issues")
    assert (page.status, page.body, page.text[:15]) == (200, None, "<!DOCTYPE html>")
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        await scene.ask("GET", "/rate_limit")
    assert whole == "[]"


async def test_limits_speak_githubs_words(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.PRIMARY_LIMIT, path="/issues$", retry_after=2400))
    scene.lab.faults.plan(Fault(FaultKind.SECONDARY_LIMIT, path="/labels$", status=429, retry_after=7))
    scene.lab.faults.plan(Fault(FaultKind.SECONDARY_LIMIT, path="/labels$", nth=2, retry_after=None))
    primary = await scene.ask("GET", "issues")
    assert (primary.status, primary.headers["x-ratelimit-remaining"]) == (403, "0")
    assert int(primary.headers["x-ratelimit-reset"]) == pytest.approx(scene.lab.clock.now() + 2400, abs=60)
    secondary = await scene.ask("GET", "labels")
    assert (secondary.status, secondary.headers["Retry-After"]) == (429, "7")
    assert "secondary rate limit" in secondary.body["message"]
    bare = await scene.ask("GET", "labels")
    assert (bare.status, "Retry-After" in bare.headers) == (403, False)


async def test_a_delay_waits_on_the_labs_clock(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.DELAY, path="/issues$", seconds=0.01))
    assert (await scene.ask("GET", "issues")).status == 200


async def test_gits_answers_can_be_lost_too(scene: Scene, tmp_path: Path) -> None:
    token = scene.tokens["ada"]
    address = scene.lab.git_url(NAME).replace("http://", f"http://x:{token}@")

    async def git(*argv: str) -> process.Finished:
        return await process.run(("git", *argv), cwd=tmp_path, env=environment())

    assert (await git("clone", "--quiet", address, "copy")).code == 0
    scene.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "POST", r"\.git/git-receive-pack$"))
    push = ("-C", "copy", "push", "--quiet", "origin")
    assert (await git(*push, "main:refs/heads/lost")).code != 0
    scene.lab.faults.plan(Fault(FaultKind.ERROR_BEFORE, "POST", r"\.git/git-receive-pack$"))
    assert (await git(*push, "main:refs/heads/refused")).code != 0
    assert (await git(*push, "main:refs/heads/fine")).code == 0
    scene.lab.faults.plan(Fault(FaultKind.LOST_REPLY, "GET", r"\.git/info/refs$", times=2))  # aiohttp asks twice
    with pytest.raises(aiohttp.ClientError):
        await scene.http.get(f"{scene.lab.git_url(NAME)}/info/refs?service=git-upload-pack")
    assert [branch["name"] for branch in await scene.get("branches")] == ["fine", "lost", "main"]


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
    assert (await lab("POST", plan))[0] == 201
    assert [fault["kind"] for fault in (await lab("GET"))[1]] == ["error before"]
    assert (await scene.ask("GET", "labels")).status == 500
    assert await lab("GET") == (200, [])
    await lab("POST", plan)
    assert (await lab("DELETE"))[0] == 204
    assert (await scene.ask("GET", "labels")).status == 200


async def test_what_is_unlisted_is_404_and_noted(scene: Scene, judge: Judge) -> None:
    answers = [await scene.ask("GET", "wiki"), await scene.ask("PUT", "issues")]
    assert [answer.status for answer in answers] == [404, 404]
    assert scene.lab.unlisted == [f"GET /repos/{NAME}/wiki", f"PUT /repos/{NAME}/issues"]
    assert len(judge.complaints) == 2
    scene.lab.unlisted.clear()
    judge.complaints.clear()
