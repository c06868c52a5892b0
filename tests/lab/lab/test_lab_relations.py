"""Sub-issues, blockers, reactions and the timeline of the embedded GitHub."""

from __future__ import annotations

import pytest
from lab_scene import NAME, Scene

from lab.github.world.repository import MAX_SUB_ISSUES


def ids(scene: Scene, *titles: str) -> list[int]:
    """Make issues as ada, and return their ids."""
    return [scene.lab.issue(NAME, title, author="ada").id for title in titles]


async def test_an_issue_gets_sub_issues_and_counts_them(scene: Scene) -> None:
    _, one, two = ids(scene, "Story", "One", "Two")
    for child in (one, two):
        added = await scene.ask("POST", "issues/1/sub_issues", {"sub_issue_id": child})
        assert (added.status, added.body["number"]) == (201, 1)
    scene.lab.close(NAME, 2, actor="ada")
    assert [issue["number"] for issue in await scene.get("issues/1/sub_issues")] == [2, 3]
    assert [issue["number"] for issue in await scene.get("issues/1/sub_issues?per_page=1&page=2")] == [3]
    assert {one["repository"]["full_name"] for one in await scene.get("issues/1/sub_issues")} == {NAME}
    story, child = await scene.get("issues/1"), await scene.get("issues/2")
    assert story["sub_issues_summary"] == {"total": 2, "completed": 1, "percent_completed": 50}
    assert child["parent_issue_url"] == story["url"]
    told = [(e["event"], e["actor"]["login"], e["sub_issue"]["number"]) for e in await scene.get("issues/1/events")]
    assert told == [("sub_issue_added", "ada", 2), ("sub_issue_added", "ada", 3)]
    assert (await scene.get("issues/2/events"))[0]["parent_issue"]["number"] == 1


async def test_a_sub_issue_has_one_parent_and_no_circle(scene: Scene) -> None:
    one, two, three = ids(scene, "One", "Two", "Three")
    await scene.ask("POST", "issues/1/sub_issues", {"sub_issue_id": two})
    refusals = {
        ("issues/1/sub_issues", two): "Issue may not contain duplicate sub-issues",
        ("issues/3/sub_issues", two): "Sub issue may only have one parent",
        ("issues/2/sub_issues", one): "Sub issue may not create a circular dependency",
        ("issues/3/sub_issues", three): "Sub issue may not create a circular dependency",
    }
    for (path, child), sentence in refusals.items():
        refused = await scene.ask("POST", path, {"sub_issue_id": child})
        assert refused.status == 422
        assert refused.body["errors"][0]["message"].endswith(sentence)
    assert (await scene.ask("POST", "issues/1/sub_issues", {"sub_issue_id": 7})).status == 404
    assert (await scene.ask("POST", "issues/1/sub_issues", {"sub_issue_id": three}, by="bob")).status == 403
    moved = await scene.ask("POST", "issues/3/sub_issues", {"sub_issue_id": two, "replace_parent": True})
    assert moved.status == 201
    assert await scene.get("issues/1/sub_issues") == []
    assert [issue["number"] for issue in await scene.get("issues/3/sub_issues")] == [2]


async def test_a_parent_has_a_hundred_sub_issues_at_most(scene: Scene) -> None:
    ids(scene, "Story")
    children = ids(scene, *(f"Part {number}" for number in range(MAX_SUB_ISSUES + 1)))
    for child in children[:-1]:
        scene.repository.relations.adopt(1, child, "ada", replace=False)
    refused = await scene.ask("POST", "issues/1/sub_issues", {"sub_issue_id": children[-1]})
    assert (refused.status, len(await scene.get("issues/1/sub_issues?per_page=100"))) == (422, MAX_SUB_ISSUES)


async def test_blockers_are_listed_while_they_are_there(scene: Scene) -> None:
    ids(scene, "Late", "Early", "Gone")
    scene.lab.block(NAME, 1, by=2, actor="octo")
    scene.lab.block(NAME, 1, by=3, actor="octo")
    scene.lab.delete(NAME, 3)
    scene.lab.close(NAME, 2, actor="ada")
    assert [issue["number"] for issue in await scene.get("issues/1/dependencies/blocked_by")] == [2]
    summary = {"blocked_by": 0, "blocking": 0, "total_blocked_by": 1, "total_blocking": 0}
    assert (await scene.get("issues/1"))["issue_dependencies_summary"] == summary
    assert (await scene.get("issues/2"))["issue_dependencies_summary"]["total_blocking"] == 1
    events = await scene.get("issues/1/events")
    assert [(e["event"], e["actor"]["login"]) for e in events] == [("blocked_by_added", "octo")] * 2
    assert [e["blocked_by"] and e["blocked_by"]["number"] for e in events] == [2, None]
    assert (await scene.ask("GET", "issues/3/dependencies/blocked_by")).status == 410


async def test_a_blocker_is_taken_away_again(scene: Scene) -> None:
    ids(scene, "Late", "Early")
    scene.lab.block(NAME, 1, by=2, actor="octo")
    scene.lab.unblock(NAME, 1, by=2, actor="ada")
    assert await scene.get("issues/1/dependencies/blocked_by") == []
    told = [(e["event"], e["blocked_by"]["number"]) for e in await scene.get("issues/1/events")]
    assert told == [("blocked_by_added", 2), ("blocked_by_removed", 2)]
    assert [e["event"] for e in await scene.get("issues/2/events")] == ["blocking_added", "blocking_removed"]


async def test_the_same_reaction_counts_once(scene: Scene) -> None:
    ids(scene, "Here")
    comment = scene.lab.comment(NAME, 1, "Hello", author="bob")
    path = f"issues/comments/{comment.id}"
    answers = [await scene.ask("POST", f"{path}/reactions", {"content": "eyes"}, by=by) for by in ("ada", "ada", "bob")]
    assert [answer.status for answer in answers] == [201, 200, 201]
    assert answers[0].body == answers[1].body
    rollup = (await scene.get(path))["reactions"]
    assert (rollup["total_count"], rollup["eyes"], rollup["+1"]) == (2, 2, 0)


@pytest.mark.parametrize(("content", "status"), [("+1", 201), ("thumbs", 422)])
async def test_reactions_are_of_eight_kinds(scene: Scene, content: str, status: int) -> None:
    ids(scene, "Here")
    comment = scene.lab.comment(NAME, 1, "Hello", author="bob")
    judged = content if status == 201 else "heart"
    assert (await scene.ask("POST", f"issues/comments/{comment.id}/reactions", {"content": judged})).status == 201
    assert scene.repository.comments.reactions_to(comment.id) == [judged]


async def test_the_timeline_tells_everything_in_order_with_actors(scene: Scene) -> None:
    scene.lab.issue(NAME, "Wanted", author="bob")
    pull = await scene.pull(body="Closes #1")
    clock = scene.lab.clock
    steps = ("label", "comment", "review", "mention")
    for step in steps:
        clock.advance(10)
        if step == "label":
            scene.lab.label(NAME, 2, "status:reviewing", actor="ada")
        elif step == "comment":
            scene.lab.comment(NAME, 2, "Looks fine.", author="bob")
        elif step == "review":
            await scene.ask("POST", "pulls/2/reviews", {"event": "APPROVE"}, by="octo")
        else:
            scene.lab.issue(NAME, "Later", "Left over from #2, see octo/other#2.", author="octo")
    timeline = await scene.get("issues/2/timeline")
    told = [(entry["event"], (entry.get("actor") or entry.get("user") or {}).get("login")) for entry in timeline]
    assert told == [
        ("committed", None),
        ("labeled", "ada"),
        ("commented", "bob"),
        ("reviewed", "octo"),
        ("cross-referenced", "octo"),
    ]
    assert (timeline[0]["sha"], timeline[3]["state"]) == (pull["head"]["sha"], "approved")
    assert timeline[4]["source"]["issue"]["number"] == 3
    (mention,) = await scene.get("issues/1/timeline")
    assert (mention["event"], mention["source"]["issue"]["number"]) == ("cross-referenced", 2)
