"""Requests that happen twice or late, and what goes away in the moment in which a request arrives."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp
import pytest
from lab_scene import FILES, NAME, Scene

from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.fault_injection.sudden_changes import SuddenChanges

COMMENTS = r"/issues/1/comments$"
OTHER = "octo/other"


@pytest.fixture
def scene(scene: Scene) -> Scene:
    """Return the scene with an issue without comments."""
    scene.lab.issue(NAME, "Here", author="ada", labels=("status:ready", "bug"))
    return scene


def bodies(scene: Scene) -> list[str]:
    return [comment.body for comment in scene.repository.comments.of(1)]


async def test_a_request_executed_twice_is_answered_once(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.TWICE, "POST", COMMENTS))
    answer = await scene.ask("POST", "issues/1/comments", {"body": "x"})
    first, second = scene.repository.comments.of(1)
    assert (answer.status, answer.body["id"], second.body) == (201, first.id, "x")


async def test_the_second_execution_may_come_later(scene: Scene) -> None:
    fault = scene.lab.faults.plan(Fault(FaultKind.TWICE, "POST", COMMENTS, seconds=30))
    await scene.ask("POST", "issues/1/comments", {"body": "x"})
    await scene.ask("POST", "issues/1/comments", {"body": "y"})
    assert bodies(scene) == ["x", "y"]
    assert scene.lab.faults.unused == [fault]
    scene.lab.clock.advance(30)
    assert [comment["body"] for comment in await scene.get("issues/1/comments")] == ["x", "y", "x"]


async def test_a_late_request_is_carried_out_minutes_after_its_client_gave_up(scene: Scene) -> None:
    fault = scene.lab.faults.plan(Fault(FaultKind.LATE, "POST", COMMENTS, seconds=300))
    with pytest.raises(aiohttp.ClientError):
        await scene.ask("POST", "issues/1/comments", {"body": "late"})
    await scene.ask("POST", "issues/1/comments", {"body": "in time"})
    scene.lab.clock.advance(299)
    await scene.get("labels")
    assert bodies(scene) == ["in time"]
    assert scene.lab.faults.unused == [fault]
    scene.lab.clock.advance(1)
    await scene.get("labels")
    assert bodies(scene) == ["in time", "late"]
    (late,) = [comment for comment in scene.repository.comments.of(1) if comment.body == "late"]
    assert late.created_at == pytest.approx(scene.lab.clock.now(), abs=30), "it is dated when it was carried out"


async def test_a_late_request_is_judged_by_what_is_true_then(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.LATE, "POST", COMMENTS, seconds=60))
    with pytest.raises(aiohttp.ClientError):
        await scene.ask("POST", "issues/1/comments", {"body": "late"})
    scene.lab.delete(NAME, 1)
    scene.lab.clock.advance(60)
    await scene.get("labels")
    assert bodies(scene) == []


async def test_a_token_is_revoked_from_a_request_on(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.TOKEN_REVOKED, "POST", COMMENTS, login="ada", nth=2))
    answers = [await scene.ask("POST", "issues/1/comments", {"body": str(number)}) for number in range(3)]
    assert [answer.status for answer in answers] == [201, 401, 401]
    assert answers[1].body["message"] == "Bad credentials"
    assert (await scene.ask("GET", "issues")).status == 401
    assert [(await scene.ask("GET", "issues", by=who)).status for who in ("reader", "octo")] == [200, 200]
    assert bodies(scene) == ["0"]


async def test_a_label_definition_is_deleted_with_what_it_marks(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.LABEL_DELETED, path="/issues/1$", names=("STATUS:ready", "unknown")))
    assert [label["name"] for label in (await scene.get("issues/1"))["labels"]] == ["bug"]
    assert [label["name"] for label in await scene.get("labels")] == ["bug"]


async def test_an_issue_is_transferred_under_a_request(scene: Scene) -> None:
    await scene.lab.repository(OTHER, FILES, collaborators={"ada": "write"})
    scene.lab.comment(NAME, 1, "old", author="ada")
    scene.lab.faults.plan(Fault(FaultKind.TRANSFERRED, "POST", COMMENTS, to=OTHER))
    answer = await scene.ask("POST", "issues/1/comments", {"body": "x"})
    target = scene.lab.at(OTHER)
    assert answer.status == 307
    assert answer.headers["Location"].endswith(f"/repositories/{target.facts.id}/issues/1/comments")
    assert [comment.body for comment in target.comments.of(1)] == ["old"]


async def test_one_request_may_be_dated_by_a_clock_that_is_off(scene: Scene) -> None:
    scene.lab.faults.plan(Fault(FaultKind.CLOCK_OFFSET, "POST", COMMENTS, seconds=-7200))
    off = await scene.ask("POST", "issues/1/comments", {"body": "x"})
    right = await scene.ask("POST", "issues/1/comments", {"body": "y"})
    now = datetime.fromtimestamp(scene.lab.clock.now(), UTC)
    for answer, ahead in ((off, -7200), (right, 0)):
        for moment in (
            parsedate_to_datetime(answer.headers["Date"]),
            datetime.fromisoformat(answer.body["created_at"]),
        ):
            assert (moment - now).total_seconds() == pytest.approx(ahead, abs=60)


@pytest.mark.parametrize("path", [f"/repos/{NAME}/labels", f"/repos/{NAME}/issues/1", "/user"])
async def test_a_mishap_that_cannot_happen_says_so(scene: Scene, path: str) -> None:
    await scene.get("issues")
    with pytest.raises(ValueError, match=r"transferred from|in no repository"):
        SuddenChanges(scene.lab.world).transfer(path, "octo/nowhere")
