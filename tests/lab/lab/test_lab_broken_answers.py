"""Answers of the embedded GitHub that arrive in pieces, or are not what they should be, as a plain client sees them."""

from __future__ import annotations

import json

import aiohttp
import pytest
from lab_scene import NAME, Scene

from lab.github.fault_injection.faults import Fault, FaultKind

COMMENTS = r"/issues/1/comments$"


@pytest.fixture
def scene(scene: Scene) -> Scene:
    """Return the scene with an issue with three comments."""
    scene.lab.issue(NAME, "Here", author="ada")
    for body in ("one", "two", "three"):
        scene.lab.comment(NAME, 1, body, author="ada")
    return scene


async def raw(scene: Scene, path: str = "issues/1/comments") -> tuple[int, str, bytes]:
    """Read a path; return status, content type and body, whatever they are."""
    sent = {"Authorization": f"Bearer {scene.tokens['ada']}"}
    async with scene.http.get(f"{scene.lab.url}/repos/{NAME}/{path}", headers=sent) as answer:
        return answer.status, answer.headers["Content-Type"], await answer.read()


async def test_broken_bodies_come_with_status_200(scene: Scene) -> None:
    whole = await raw(scene)
    seen = {}
    for kind in (FaultKind.HTML, FaultKind.TRUNCATED, FaultKind.EMPTY, FaultKind.WRONG_TYPE):
        scene.lab.faults.plan(Fault(kind, path=COMMENTS))
        seen[kind] = await raw(scene)
    json_type = "application/json; charset=utf-8"
    assert seen[FaultKind.HTML][:2] == (200, "text/html; charset=utf-8")
    assert seen[FaultKind.HTML][2].startswith(b"<!DOCTYPE html>")
    assert seen[FaultKind.TRUNCATED] == (200, json_type, whole[2][: len(whole[2]) // 2])
    assert seen[FaultKind.EMPTY] == (200, json_type, b"")
    assert seen[FaultKind.WRONG_TYPE] == (200, "text/plain; charset=utf-8", whole[2])
    assert await raw(scene) == whole


async def test_fields_become_null_wherever_they_stand(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.NULL_FIELDS, path=COMMENTS, names=("user", "created_at")))
    spoiled, whole = await scene.get("issues/1/comments"), await scene.get("issues/1/comments")
    assert spoiled == [{**comment, "user": None, "created_at": None} for comment in whole]


@pytest.mark.parametrize("after", [0, 1, 200])
async def test_a_reset_lets_the_head_and_some_of_the_body_through(scene: Scene, after: int) -> None:
    _, _, whole = await raw(scene)
    scene.lab.faults.plan(Fault(FaultKind.RESET, path=COMMENTS, after_bytes=after))
    sent = {"Authorization": f"Bearer {scene.tokens['ada']}"}
    async with scene.http.get(f"{scene.lab.url}/repos/{NAME}/issues/1/comments", headers=sent) as answer:
        assert (answer.status, answer.content_length) == (200, len(whole))
        got = await answer.content.readexactly(after)
        with pytest.raises(aiohttp.ClientError):
            await answer.content.readexactly(1)
    assert got == whole[:after]


async def test_what_was_reset_has_been_carried_out(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.RESET, "POST", COMMENTS, after_bytes=10**9))
    with pytest.raises(aiohttp.ClientError):
        await scene.ask("POST", "issues/1/comments", {"body": "four"})
    assert [comment["body"] for comment in await scene.get("issues/1/comments")] == ["one", "two", "three", "four"]


async def test_a_newer_comment_is_seen_before_an_older_one(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.OUT_OF_ORDER, path=COMMENTS))
    scene.lab.faults.plan(Fault(FaultKind.OUT_OF_ORDER, path=COMMENTS, nth=2, missing=5))
    seen = [[comment["body"] for comment in json.loads((await raw(scene))[2])] for _ in range(3)]
    assert seen == [["one", "three"], ["three"], ["one", "two", "three"]]
