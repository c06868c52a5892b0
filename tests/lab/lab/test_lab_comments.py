"""Comments and labels of the embedded GitHub."""

from __future__ import annotations

import pytest
from lab_scene import NAME, Scene


async def test_comments_come_by_ascending_id_above_32_bits(scene: Scene) -> None:
    scene.lab.issue(NAME, "Talk", author="bob")
    ids = [(await scene.ask("POST", "issues/1/comments", {"body": f"{n}"})).body["id"] for n in range(4)]
    assert ids == sorted(ids)
    assert ids[0] > 2**31
    assert [comment["id"] for comment in await scene.get("issues/1/comments")] == ids
    assert [c["id"] for c in await scene.get("issues/comments?sort=created&direction=desc")] == ids[::-1]
    assert [c["id"] for c in await scene.get("issues/comments?direction=desc")] == ids
    assert (await scene.get("issues/1"))["comments"] == 4


async def test_since_sees_edited_comments_and_the_thread_is_touched(scene: Scene) -> None:
    lab = scene.lab
    lab.issue(NAME, "Talk", author="bob")
    first = lab.comment(NAME, 1, "First", author="ada")
    lab.comment(NAME, 1, "Second", author="ada")
    lab.clock.advance(100)
    edited = (await scene.ask("PATCH", f"issues/comments/{first.id}", {"body": "First, edited"})).body
    assert edited["created_at"] < edited["updated_at"]
    since = edited["updated_at"]
    assert [c["body"] for c in await scene.get(f"issues/1/comments?since={since}")] == ["First, edited"]
    assert [c["body"] for c in await scene.get(f"issues/comments?since={since}")] == ["First, edited"]
    assert (await scene.get("issues/1"))["updated_at"] == since


async def test_a_deleted_comment_is_gone(scene: Scene) -> None:
    scene.lab.issue(NAME, "Talk", author="bob")
    comment = scene.lab.comment(NAME, 1, "Oops", author="ada")
    assert (await scene.ask("DELETE", f"issues/comments/{comment.id}")).status == 204
    assert (await scene.ask("GET", f"issues/comments/{comment.id}")).status == 404
    assert (await scene.ask("PATCH", f"issues/comments/{comment.id}", {"body": "x"})).status == 404
    assert await scene.get("issues/1/comments") == []


async def test_strangers_may_comment_but_not_touch_what_others_wrote(scene: Scene) -> None:
    scene.lab.issue(NAME, "Talk", author="octo")
    mine = scene.lab.comment(NAME, 1, "By ada", author="ada")
    theirs = await scene.ask("POST", "issues/1/comments", {"body": "By bob"}, by="bob")
    assert theirs.body["author_association"] == "NONE"
    assert (await scene.ask("PATCH", f"issues/comments/{mine.id}", {"body": "x"}, by="bob")).status == 403
    assert (await scene.ask("DELETE", f"issues/comments/{theirs.body['id']}", by="ada")).status == 204
    scene.repository.issues.lock(1, "octo")
    assert (await scene.ask("POST", "issues/1/comments", {"body": "more"}, by="bob")).status == 403
    assert (await scene.ask("POST", "issues/1/comments", {"body": "more"}, by="ada")).status == 201


@pytest.mark.parametrize("body", ["", "x" * 65537])
async def test_empty_and_endless_comments_are_refused(scene: Scene, body: str) -> None:
    scene.lab.issue(NAME, "Talk", author="bob")
    assert (await scene.ask("POST", "issues/1/comments", {"body": body})).status == 422
    assert await scene.get("issues/1/comments") == []


async def test_adding_answers_the_whole_set_and_removing_what_is_left(scene: Scene) -> None:
    scene.lab.issue(NAME, "Work", author="bob", labels=("human",))
    added = await scene.ask("POST", "issues/1/labels", {"labels": ["status:ready", "status:ready"]})
    assert [label["name"] for label in added.body] == ["human", "status:ready"]
    removed = await scene.ask("DELETE", "issues/1/labels/status:ready")
    assert (removed.status, [label["name"] for label in removed.body]) == (200, ["human"])
    again = await scene.ask("DELETE", "issues/1/labels/status:ready")
    assert (again.status, again.body["message"]) == (404, "Label does not exist")
    replaced = await scene.ask("PUT", "issues/1/labels", {"labels": ["other"]})
    assert [label["name"] for label in replaced.body] == ["other"]


async def test_labels_are_defined_renamed_and_deleted(scene: Scene) -> None:
    created = await scene.ask("POST", "labels", {"name": "a/b c", "color": "FF0000", "description": "Odd"})
    assert (created.status, created.body["color"]) == (201, "ff0000")
    scene.lab.issue(NAME, "Work", author="ada", labels=("a/b c",))
    taken = await scene.ask("POST", "labels", {"name": "A/B C"})
    assert taken.body["errors"] == [{"resource": "Label", "code": "already_exists", "field": "name"}]
    ugly = await scene.ask("POST", "labels", {"name": "x", "color": "red"})
    assert ugly.body["errors"] == [{"resource": "Label", "code": "invalid", "field": "color"}]
    assert (await scene.ask("PATCH", "labels/a%2Fb%20c", {"new_name": "plain"})).body["name"] == "plain"
    assert [label["name"] for label in await scene.get("issues/1/labels")] == ["plain"]
    assert (await scene.ask("DELETE", "labels/plain")).status == 204
    assert (await scene.ask("GET", "labels/plain")).status == 404
    assert await scene.get("issues/1/labels") == []
