"""Webhooks of the embedded GitHub: signed, sent once for each event, and never in anybody's way."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import RawTestServer
from lab_scene import NAME, Scene

from runtime.daemon.webhook import repository_of, signed

SECRET = "a-secret-of-the-webhook"


@dataclass
class Receiver:
    """A receiver of webhooks, and the requests that it has got."""

    status: int = 200
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    async def take(self, request: web.BaseRequest) -> web.Response:
        self.requests.append((dict(request.headers), await request.read()))
        return web.Response(status=self.status)

    @property
    def told(self) -> list[tuple[str, str]]:
        """Event and action of what came, in any order."""
        bodies = [(headers["X-GitHub-Event"], json.loads(body)) for headers, body in self.requests]
        return sorted((event, body.get("action", "")) for event, body in bodies)

    def payload(self, event: str, action: str = "") -> Any:
        """Return the one payload of that event."""
        found = [json.loads(body) for headers, body in self.requests if headers["X-GitHub-Event"] == event]
        (payload,) = [one for one in found if one.get("action", "") == action]
        return payload


@asynccontextmanager
async def receiving(receiver: Receiver) -> AsyncIterator[str]:
    async with RawTestServer(receiver.take) as server:
        yield str(server.make_url("/webhook"))


async def test_what_happens_is_signed_and_told_once(scene: Scene) -> None:
    receiver = Receiver()
    async with receiving(receiver) as url:
        scene.lab.hook(NAME, url, SECRET)
        await scene.ask("POST", "issues", {"title": "Add search", "labels": ["story"]})
        scene.lab.comment(NAME, 1, "Hello", author="bob")
        await scene.get("issues/1")
        await scene.lab.webhooks.idle()
    assert receiver.told == [("issue_comment", "created"), ("issues", "labeled"), ("issues", "opened")]
    for headers, body in receiver.requests:
        assert signed(body, headers["X-Hub-Signature-256"], SECRET.encode())
        assert not signed(body, headers["X-Hub-Signature-256"], b"another")
        assert repository_of(body) == NAME
    assert len({headers["X-GitHub-Delivery"] for headers, _ in receiver.requests}) == 3
    said = receiver.payload("issue_comment", "created")
    assert (said["comment"]["body"], said["issue"]["number"], said["sender"]["login"]) == ("Hello", 1, "bob")
    labels = receiver.payload("issues", "labeled")["issue"]["labels"]
    assert [label["name"] for label in labels] == ["story"]
    assert {one.status for one in scene.lab.webhooks.deliveries} == {200}


async def test_pushes_pull_requests_checks_and_reviews_are_told(scene: Scene) -> None:
    receiver = Receiver()
    scene.lab.ci_jobs(NAME, {"test": "true"}, statuses={"ci/outside": "true"})
    async with receiving(receiver) as url:
        scene.lab.hook(NAME, url)
        pull = await scene.pull()
        await scene.lab.idle()
        await scene.ask("POST", "pulls/1/reviews", {"event": "APPROVE"}, by="octo")
        await scene.ask("PUT", "pulls/1/merge", {"sha": pull["head"]["sha"]})
        await scene.lab.idle()
        await scene.lab.webhooks.idle()
    told = receiver.told
    assert told.count(("pull_request", "opened")) == told.count(("pull_request", "closed")) == 1
    assert told.count(("pull_request_review", "submitted")) == 1
    assert told.count(("check_run", "completed")) == 2, "one on the branch, one on the base"
    assert {("push", ""), ("status", "")} <= set(told)
    assert ("issues", "opened") not in told, "a pull request is told as one"
    pushes = [json.loads(body) for headers, body in receiver.requests if headers["X-GitHub-Event"] == "push"]
    assert {one["ref"] for one in pushes} == {"refs/heads/work", "refs/heads/main"}
    assert next(one["after"] for one in pushes if one["created"]) == pull["head"]["sha"]
    assert all("X-Hub-Signature-256" not in headers for headers, _ in receiver.requests), "no secret, no signature"


async def test_only_the_events_that_a_hook_wants(scene: Scene) -> None:
    receiver = Receiver()
    async with receiving(receiver) as url:
        scene.lab.hook(NAME, url, SECRET, events=("issue_comment",))
        scene.lab.issue(NAME, "Add search", author="bob")
        scene.lab.comment(NAME, 1, "Hello", author="bob")
        await scene.get("issues/1")
        await scene.lab.webhooks.idle()
    assert receiver.told == [("issue_comment", "created")]


@pytest.mark.parametrize("status", [500, 0])
async def test_what_nobody_takes_is_noted_and_not_sent_again(scene: Scene, status: int) -> None:
    receiver = Receiver(status)
    async with receiving(receiver) as url:
        scene.lab.hook(NAME, url if status else "http://127.0.0.1:1/webhook", SECRET)
        made = await scene.ask("POST", "issues", {"title": "Add search"})
        await scene.lab.webhooks.idle()
    assert made.status == 201
    assert [(one.event, one.action, one.status) for one in scene.lab.webhooks.deliveries] == [
        ("issues", "opened", status)
    ]
    assert len(receiver.requests) == (1 if status else 0)


async def test_what_is_gone_when_it_would_be_told_is_not_told(scene: Scene) -> None:
    receiver = Receiver()
    async with receiving(receiver) as url:
        scene.lab.issue(NAME, "Add search", author="bob")
        scene.lab.hook(NAME, url)
        scene.lab.close(NAME, 1, actor="bob")
        scene.lab.delete(NAME, 1)
        await scene.ask("GET", "issues/1")
        await scene.lab.webhooks.idle()
    assert receiver.told == []
