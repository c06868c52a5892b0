"""Limits of requests to the embedded GitHub: the pages of long lists, and the pace of creating things."""

from __future__ import annotations

import pytest
from lab_scene import NAME, Scene

CONTENT_PER_MINUTE = 80
"""GitHub's own limit: issues, comments, reviews and pull requests that one account may make in a minute."""


LONG = 1000


async def collected(scene: Scene, path: str) -> list[int]:
    """Return the ids of a whole list, page by page as `Link` says."""
    seen: list[int] = []
    url: str | None = path
    while url is not None:
        answer = await scene.ask("GET", url)
        assert answer.status == 200
        seen += [item["id"] for item in answer.body]
        url = answer.link("next")
    return seen


@pytest.mark.parametrize("kind", ["issues", "comments"])
async def test_a_thousand_items_come_whole_and_in_order(scene: Scene, kind: str) -> None:
    scene.lab.issue(NAME, "First", author="ada")
    for number in range(LONG):
        if kind == "issues":
            scene.lab.issue(NAME, f"Issue {number}", author="bob")
        else:
            scene.lab.comment(NAME, 1, f"Comment {number}", author="bob")
    path = "issues?per_page=100&direction=asc" if kind == "issues" else "issues/1/comments?per_page=100"
    seen = await collected(scene, path)
    assert len(seen) == LONG + (kind == "issues")
    assert seen == sorted(set(seen))


@pytest.mark.parametrize(
    ("query", "count"),
    [("per_page=1000", 100), ("per_page=0", 30), ("", 30), ("per_page=100&page=3", 20), ("per_page=100&page=4", 0)],
)
async def test_the_size_of_a_page_is_bounded(scene: Scene, query: str, count: int) -> None:
    for number in range(220):
        scene.lab.issue(NAME, f"Issue {number}", author="bob")
    assert len(await scene.get(f"issues?{query}")) == count


async def test_creating_too_fast_is_refused_where_the_lab_paces(scene: Scene) -> None:
    scene.lab.world.pace.limit = CONTENT_PER_MINUTE
    scene.lab.issue(NAME, "Here", author="ada")
    for number in range(CONTENT_PER_MINUTE):
        created = await scene.ask("POST", "issues/1/comments", {"body": str(number)})
        assert created.status == 201
    refused = await scene.ask("POST", "issues", {"title": "One more"})
    assert (refused.status, refused.headers["Retry-After"]) == (403, "60")
    assert refused.body["message"].startswith("You have exceeded a secondary rate limit and have been temporarily")
    assert int(refused.headers["x-ratelimit-remaining"]) > 0
    assert (await scene.ask("PUT", "issues/1/labels", {"labels": ["free"]})).status == 200
    assert (await scene.ask("POST", "issues", {"title": "Mine"}, by="octo")).status == 201
    scene.lab.clock.advance(60)
    assert (await scene.ask("POST", "issues", {"title": "Later"})).status == 201


async def test_without_the_switch_nobody_is_slowed(scene: Scene) -> None:
    scene.lab.issue(NAME, "Here", author="ada")
    statuses = {(await scene.ask("POST", "issues/1/comments", {"body": "x"})).status for _ in range(100)}
    assert statuses == {201}
