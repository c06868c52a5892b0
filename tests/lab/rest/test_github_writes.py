"""Writes of the REST client: permitted, sent once, and honest about what is not known."""

from __future__ import annotations

from typing import Any

import aiohttp
import pytest
from github_script import TOKEN, Plan, comment, lease, scripted

from shared.errors import Gone, Lost, NotAllowed, Transient, Unauthorized, UnknownOutcome
from shared.github.comments import Comments
from shared.github.errors import Moved, NeverSent, Refused
from shared.lock.write_permit import OperatorPermit

PERSON = OperatorPermit("test")


class Unreachable(aiohttp.TCPConnector):
    """Refuses the first `times` connections."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    async def connect(self, req: Any, *args: Any, **kwargs: Any) -> Any:
        if self.times:
            self.times -= 1
            raise aiohttp.ClientConnectorError(req.connection_key, OSError(111, "refused"))
        return await super().connect(req, *args, **kwargs)


async def test_a_write_carries_its_body_and_returns_the_reply() -> None:
    async with scripted(Plan(201, {"id": 5}), Plan(204)) as (github, script):
        assert await github.write("POST", "/x", {"body": "hé"}, PERSON) == {"id": 5}
        assert await github.write("DELETE", "/x/5", None, PERSON) is None
    assert script.asked[0].body == {"body": "hé"}
    assert script.asked[0].headers["content-type"] == "application/json; charset=utf-8"
    assert script.asked[1].body is None


async def test_a_lost_lease_writes_nothing() -> None:
    async with scripted() as (github, script):
        held = lease(script.clock)
        script.clock.seconds += 1500
        with pytest.raises(Lost):
            await github.write("POST", "/x", {}, held)
    assert script.calls == []


async def test_a_heartbeat_does_not_wait_where_other_edits_do() -> None:
    """Seventy-two writes in a minute leave room for eight that are urgent."""
    async with scripted(*[Plan(body=comment(7))] * 74, interval=0.001) as (github, script):
        comments = Comments(github, "ada/x")
        for _ in range(72):
            await comments.edit(7, "told", PERSON)
        waited = sum(script.clock.slept)
        await comments.edit(7, "alive", PERSON, urgent=True)
        assert sum(script.clock.slept) < waited + 1
        await comments.edit(7, "told again", PERSON)
        assert sum(script.clock.slept) > waited + 50


@pytest.mark.fault(8)
async def test_writes_are_paced_and_the_lease_is_asked_after_that_wait() -> None:
    async with scripted(Plan(body={}), Plan(body={}), interval=1.0) as (github, script):
        held = lease(script.clock)
        script.clock.seconds += 1498.5
        await github.write("POST", "/x", {}, held)
        await github.write("POST", "/x", {}, held)
        assert script.clock.slept == [1.0]
        with pytest.raises(Lost):
            await github.write("POST", "/x", {}, held)
    assert script.calls == ["POST /x", "POST /x"]


@pytest.mark.fault(38)
async def test_the_lease_is_asked_after_the_wait_not_before() -> None:
    async with scripted(connector=Unreachable(1)) as (github, script):
        held = lease(script.clock)
        script.clock.seconds += 1499.8  # it ends during the half second before the second try
        with pytest.raises(Lost):
            await github.write("PATCH", "/x", {}, held)
    assert script.calls == []


@pytest.mark.fault(9)
@pytest.mark.parametrize("method", ["POST", "PATCH", "PUT", "DELETE"])
@pytest.mark.parametrize(
    "plan", [Plan(drop=True), Plan(500), Plan(502, raw=b"<html>", type="text/html"), Plan(raw=b'{"id": 1')]
)
async def test_a_write_whose_reply_is_lost_is_unknown_and_not_repeated(method: str, plan: Plan) -> None:
    async with scripted(plan) as (github, script):
        with pytest.raises(UnknownOutcome):
            await github.write(method, "/x", {}, PERSON)
    assert script.calls == [f"{method} /x"]


@pytest.mark.fault(9)
async def test_a_broken_reused_connection_does_not_repeat_a_write() -> None:
    async with scripted(Plan(body={}), Plan(drop=True)) as (github, script):
        await github.get("/x")  # leaves an idle connection; on these aiohttp would send a PUT again
        with pytest.raises(UnknownOutcome):
            await github.write("PUT", "/merge", {}, PERSON)
    assert script.calls == ["GET /x", "PUT /merge"]


@pytest.mark.fault(9)
async def test_a_post_that_was_never_sent_is_known_not_to_have_happened() -> None:
    async with scripted(connector=Unreachable(1)) as (github, script):
        with pytest.raises(NeverSent) as caught:
            await github.write("POST", "/x", {}, PERSON)
    assert not isinstance(caught.value, UnknownOutcome)
    assert script.calls == []


@pytest.mark.fault(9)
async def test_a_patch_that_was_never_sent_is_sent_once_more() -> None:
    async with scripted(Plan(body={"id": 1}), connector=Unreachable(1)) as (github, script):
        assert await github.write("PATCH", "/x", {}, PERSON) == {"id": 1}
        assert script.clock.slept == [0.5]
    async with scripted(connector=Unreachable(2)) as (github, script):
        with pytest.raises(NeverSent):
            await github.write("PATCH", "/x", {}, PERSON)


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, Unauthorized), (403, NotAllowed), (404, Gone), (410, Gone), (409, Refused), (422, Refused)],
)
async def test_a_refusal_says_what_github_said(status: int, error: type[Exception]) -> None:
    async with scripted(Plan(status, {"message": "Because of reasons"})) as (github, _):
        with pytest.raises(error, match="Because of reasons") as caught:
            await github.write("POST", "/x", {}, PERSON)
    assert TOKEN not in str(caught.value)


async def test_a_refusal_keeps_status_message_and_errors() -> None:
    errors = [{"resource": "Label", "code": "invalid", "field": "color"}, "Line could not be resolved"]
    async with scripted(Plan(422, {"message": "Validation Failed", "errors": errors})) as (github, _):
        with pytest.raises(Refused) as caught:
            await github.write("POST", "/x", {}, PERSON)
    assert caught.value.status == 422
    assert "Validation Failed" in caught.value.message
    assert caught.value.errors == ("Label color invalid", "Line could not be resolved")
    assert caught.value.says("LINE could")


@pytest.mark.fault(13)
async def test_a_write_is_not_carried_into_another_repository() -> None:
    moved = Plan(301, {"message": "Moved Permanently"}, {"Location": "ROOT/repositories/10/issues/1/comments"})
    async with scripted(moved, Plan(body={"id": 9})) as (github, script):
        with pytest.raises(Moved):
            await github.write("POST", "/repos/o/r/issues/42/comments", {}, PERSON)
    assert script.calls[-1] == "GET /repos/o/r"


@pytest.mark.fault(3)
async def test_a_write_to_a_renamed_repository_goes_through_the_next_time() -> None:
    moved = Plan(307, {"message": "Temporary Redirect"}, {"Location": "ROOT/repositories/9/issues/42/comments"})
    root = Plan(301, {}, {"Location": "ROOT/repositories/9"})
    async with scripted(moved, root, Plan(201, comment())) as (github, script):
        comments = Comments(github, "old/name")
        with pytest.raises(Transient) as caught:
            await comments.post(42, "hello", PERSON)
        assert not isinstance(caught.value, UnknownOutcome)
        await comments.post(42, "hello", PERSON)
    assert script.calls[-1] == "POST /repositories/9/issues/42/comments"


async def test_a_reply_without_its_fields_leaves_the_outcome_unknown() -> None:
    async with scripted(Plan(201, {"id": 1})) as (github, _):
        with pytest.raises(UnknownOutcome):
            await Comments(github, "o/r").post(42, "hello", PERSON)
