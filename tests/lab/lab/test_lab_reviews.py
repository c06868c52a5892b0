"""Reviews of the embedded GitHub: verdicts, inline comments, replies, requests."""

from __future__ import annotations

from typing import Any

import pytest
from lab_scene import LETTERS, NAME, Scene

from lab.github.world.repository import Protection

REMARK = {"path": "src/letters.txt", "line": 4, "side": "RIGHT", "body": "Why loud?"}


async def test_one_request_carries_the_verdict_and_all_remarks(scene: Scene) -> None:
    head = (await scene.pull())["head"]["sha"]
    old_line = {"path": "src/letters.txt", "line": 4, "side": "LEFT", "body": "This was fine."}
    wanted = {"commit_id": head, "event": "REQUEST_CHANGES", "body": "No.", "comments": [REMARK, old_line]}
    review = await scene.ask("POST", "pulls/1/reviews", wanted, by="octo")
    assert (review.status, review.body["state"], review.body["commit_id"]) == (200, "CHANGES_REQUESTED", head)
    new, old = await scene.get("pulls/1/comments")
    assert (new["line"], new["side"], new["diff_hunk"].splitlines()[-1]) == (4, "RIGHT", "+D")
    assert (old["side"], old["diff_hunk"].splitlines()[-1]) == ("LEFT", "-d")
    assert {new["pull_request_review_id"], old["pull_request_review_id"]} == {review.body["id"]}
    assert len(await scene.get(f"pulls/1/reviews/{review.body['id']}/comments")) == 2
    assert [one["id"] for one in await scene.get("pulls/1/reviews")] == [review.body["id"]]


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ("APPROVE", "Review Can not approve your own pull request"),
        ("REQUEST_CHANGES", "Review Can not request changes on your own pull request"),
    ],
)
async def test_nobody_judges_their_own_pull_request(scene: Scene, event: str, sentence: str) -> None:
    await scene.pull()
    refused = await scene.ask("POST", "pulls/1/reviews", {"event": event, "body": "Fine."})
    assert (refused.status, refused.body["message"]) == (422, "Unprocessable Entity")
    assert refused.body["errors"] == [sentence]
    commented = await scene.ask("POST", "pulls/1/reviews", {"event": "COMMENT", "body": "Fine."})
    assert commented.body["state"] == "COMMENTED"


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"comments": [{**REMARK, "line": 12}]}, "Line could not be resolved"),
        ({"comments": [{**REMARK, "path": "README.md"}]}, "Path could not be resolved"),
        ({"commit_id": "0" * 40}, "The commit_id is not part of the pull request"),
        ({"body": "", "comments": []}, "Body can't be blank"),
    ],
)
async def test_a_review_is_refused_whole(scene: Scene, changes: dict[str, Any], sentence: str) -> None:
    await scene.pull()
    wanted = {"event": "REQUEST_CHANGES", "body": "No.", "comments": [REMARK], **changes}
    refused = await scene.ask("POST", "pulls/1/reviews", wanted, by="octo")
    assert (refused.status, refused.body["errors"]) == (422, [sentence])
    assert await scene.get("pulls/1/reviews") == []
    assert await scene.get("pulls/1/comments") == []


async def test_a_remark_is_outdated_once_its_line_changes(scene: Scene) -> None:
    await scene.pull()
    await scene.ask("POST", "pulls/1/reviews", {"event": "COMMENT", "comments": [REMARK]}, by="octo")
    await scene.commit("work", {"other.txt": "other\n"})
    (kept,) = await scene.get("pulls/1/comments")
    assert kept["line"] == 4
    await scene.commit("work", {"src/letters.txt": LETTERS.replace("d\n", "DD\n")})
    (outdated,) = await scene.get("pulls/1/comments")
    assert (outdated["line"], outdated["position"], outdated["original_line"]) == (None, None, 4)


async def test_replies_hang_on_the_first_comment(scene: Scene) -> None:
    await scene.pull()
    await scene.ask("POST", "pulls/1/reviews", {"event": "COMMENT", "comments": [REMARK]}, by="octo")
    (root,) = await scene.get("pulls/1/comments")
    answer = await scene.ask("POST", f"pulls/1/comments/{root['id']}/replies", {"body": "Because."})
    assert (answer.status, answer.body["in_reply_to_id"], answer.body["user"]["login"]) == (201, root["id"], "ada")
    assert (await scene.ask("POST", "pulls/1/comments/7/replies", {"body": "x"})).status == 404


async def test_people_are_asked_for_a_review_until_they_give_one(scene: Scene) -> None:
    await scene.pull()
    asked = await scene.ask("POST", "pulls/1/requested_reviewers", {"reviewers": ["octo"]})
    assert (asked.status, [user["login"] for user in asked.body["requested_reviewers"]]) == (201, ["octo"])
    for nobody in ("ada", "bob"):
        assert (await scene.ask("POST", "pulls/1/requested_reviewers", {"reviewers": [nobody]})).status == 422
    assert [user["login"] for user in (await scene.get("pulls/1/requested_reviewers"))["users"]] == ["octo"]
    await scene.ask("POST", "pulls/1/reviews", {"event": "APPROVE"}, by="octo")
    assert (await scene.get("pulls/1/requested_reviewers"))["users"] == []
    (event,) = await scene.get("issues/1/events")
    assert (event["event"], event["requested_reviewer"]["login"]) == ("review_requested", "octo")


async def test_a_dismissed_verdict_counts_no_longer(scene: Scene) -> None:
    await scene.pull()
    scene.lab.configure(NAME, protections={"main": Protection((), 1)})
    review = await scene.ask("POST", "pulls/1/reviews", {"event": "APPROVE"}, by="octo")
    path = f"pulls/1/reviews/{review.body['id']}/dismissals"
    dismissed = await scene.ask("PUT", path, {"message": "Too early"})
    assert (dismissed.status, dismissed.body["state"]) == (200, "DISMISSED")
    assert (await scene.ask("PUT", "pulls/1/merge", {})).status == 405
    told = (await scene.get("issues/1/events"))[-1]
    assert (told["event"], told["actor"]["login"]) == ("review_dismissed", "ada")
    assert told["dismissed_review"] == {
        "state": "approved",
        "review_id": review.body["id"],
        "dismissal_message": "Too early",
    }
    again = await scene.ask("PUT", path, {"message": "Twice"})
    assert (again.status, again.body["errors"]) == (422, ["Can not dismiss a dismissed pull request review"])


async def test_a_pending_review_is_its_authors_alone(scene: Scene) -> None:
    await scene.pull()
    remark = {"path": "src/letters.txt", "line": 4, "body": "Hm"}
    pending = await scene.ask("POST", "pulls/1/reviews", {"comments": [remark]}, by="octo")
    assert (pending.body["state"], "submitted_at" in pending.body) == ("PENDING", False)
    assert len(await scene.get("pulls/1/reviews", by="octo")) == 1
    assert await scene.get("pulls/1/reviews") == await scene.get("pulls/1/comments") == []
    second = await scene.ask("POST", "pulls/1/reviews", {}, by="octo")
    assert second.body["errors"] == ["User can only have one pending review per pull request"]
