"""Things in the embedded GitHub that have moved, were deleted, or are locked."""

from __future__ import annotations

import pytest
from lab_scene import NAME, Answer, Scene

OTHER = "octo/other"


async def transferred(scene: Scene) -> None:
    """Transfer issue 1 with two comments to another repository, where it becomes issue 2."""
    await scene.lab.repository(OTHER, {"a": "a\n"}, collaborators={"ada": "write"})
    scene.lab.issue(OTHER, "There before", author="octo", labels=("kept",))
    scene.lab.issue(NAME, "Moving", "Text", author="bob", labels=("kept", "lost"))
    for text in ("one", "two"):
        scene.lab.comment(NAME, 1, text, author="ada")
    scene.lab.transfer(NAME, 1, OTHER, actor="octo")


async def test_a_transferred_issue_is_found_where_it_went(scene: Scene) -> None:
    await transferred(scene)
    moved = await scene.ask("GET", "issues/1")
    there = f"{scene.lab.url}/repositories/{scene.lab.at(OTHER).facts.id}/issues/2"
    assert (moved.status, moved.headers["Location"]) == (301, there)
    assert (moved.body["message"], moved.body["url"]) == ("Moved Permanently", there)
    followed = (await scene.ask("GET", there)).body
    assert (followed["title"], followed["comments"], followed["user"]["login"]) == ("Moving", 2, "bob")
    assert [label["name"] for label in followed["labels"]] == ["kept"]
    comments = await scene.ask("GET", "issues/1/comments?per_page=1")
    assert comments.headers["Location"] == f"{there}/comments?per_page=1"
    assert [one["body"] for one in await scene.get(f"{there}/comments")] == ["one", "two"]
    assert [one["event"] for one in await scene.get(f"{there}/events")] == ["transferred"]
    assert await scene.get("issues?state=all") == []


async def test_a_write_to_what_has_moved_is_sent_on_with_its_method(scene: Scene) -> None:
    await transferred(scene)
    commented = await scene.ask("POST", "issues/1/comments", {"body": "late"})
    assert (commented.status, commented.body["message"]) == (307, "Moved Permanently")
    assert len(scene.lab.at(OTHER).comments.of(2)) == 2
    assert scene.lab.issue(NAME, "Next", author="ada").number == 2


async def test_a_moved_repository_says_where_in_header_and_body(scene: Scene) -> None:
    scene.lab.rename(NAME, "octo/renamed")
    there = f"{scene.lab.url}/repositories/{scene.repository.facts.id}"
    for method, path, status in (("GET", "", 301), ("GET", "issues?state=all", 301), ("POST", "issues", 307)):
        moved = await scene.ask(method, path, {"title": "x"} if method == "POST" else None)
        assert (moved.status, moved.body["message"]) == (status, "Moved Permanently")
        assert moved.body["url"] == moved.headers["Location"] == f"{there}{'/' if path else ''}{path}"
    assert (await scene.get(there))["full_name"] == "octo/renamed"


async def test_a_deleted_issue_is_410_everywhere(scene: Scene) -> None:
    scene.lab.issue(NAME, "Spam", author="bob")
    scene.lab.delete(NAME, 1)
    for path in ("issues/1", "issues/1/comments", "issues/1/labels", "issues/1/events", "issues/1/timeline"):
        gone = await scene.ask("GET", path)
        assert (gone.status, gone.body["message"]) == (410, "This issue was deleted")
    assert (await scene.ask("PATCH", "issues/1", {"state": "closed"})).status == 410


async def locked_deeds(scene: Scene, by: str) -> list[Answer]:
    """Comment, react, review and remark in a locked pull request; return the answers."""
    comment = scene.repository.comments.records.values()[0]
    remark = {
        "body": "Hm",
        "commit_id": (await scene.get("pulls/1"))["head"]["sha"],
        "path": "src/letters.txt",
        "line": 4,
    }
    return [
        await scene.ask("POST", "issues/1/comments", {"body": "x"}, by=by),
        await scene.ask("POST", f"issues/comments/{comment.id}/reactions", {"content": "heart"}, by=by),
        await scene.ask("POST", "pulls/1/reviews", {"event": "COMMENT", "body": "x"}, by=by),
        await scene.ask("POST", "pulls/1/comments", remark, by=by),
    ]


@pytest.mark.parametrize(("by", "statuses"), [("bob", [403, 403, 403, 403]), ("octo", [201, 201, 200, 201])])
async def test_a_locked_thread_is_open_to_those_with_write_access(scene: Scene, by: str, statuses: list[int]) -> None:
    await scene.pull()
    scene.lab.comment(NAME, 1, "Heated", author="bob")
    scene.lab.lock(NAME, 1, actor="octo")
    answers = await locked_deeds(scene, by)
    assert [answer.status for answer in answers] == statuses
    if by == "bob":
        assert all("because issue is locked" in answer.body["message"] for answer in answers)
    assert (await scene.get("issues/1"))["locked"] is True
