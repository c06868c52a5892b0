"""Issues of the embedded GitHub: lists, pages, changes, events."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from lab_scene import NAME, Scene


async def test_an_issue_is_created_with_labels_assignees_and_a_location(scene: Scene) -> None:
    wanted = {"title": "Add search", "body": "Please.", "labels": ["story", "new"], "assignees": ["ada"]}
    created = await scene.ask("POST", "issues", wanted)
    assert created.status == 201
    assert created.headers["Location"] == created.body["url"]
    assert [label["name"] for label in created.body["labels"]] == ["story", "new"]
    assert (await scene.get("issues/1")) == created.body
    assert {label["name"] for label in await scene.get("labels")} == {"story", "new"}


async def test_labels_of_a_stranger_are_dropped(scene: Scene) -> None:
    created = await scene.ask("POST", "issues", {"title": "Spam", "labels": ["status:ready"]}, by="bob")
    assert (created.status, created.body["labels"]) == (201, [])
    assert (await scene.ask("POST", "issues/1/labels", {"labels": ["x"]}, by="bob")).status == 403
    assert (await scene.ask("PATCH", "issues/1", {"state": "closed"}, by="bob")).body["state"] == "closed"


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("", [4, 3, 1]),
        ("?state=closed", [2]),
        ("?state=all&direction=asc", [1, 2, 3, 4]),
        ("?labels=a", [3, 1]),
        ("?labels=A,b", [3]),
        ("?creator=bob", [4]),
        ("?assignee=ada", [1]),
        ("?assignee=none", [4, 3]),
        ("?mentioned=Ada", [4]),
        ("?milestone=none", [4, 3, 1]),
        ("?milestone=*", []),
        ("?sort=comments", [3, 4, 1]),
        ("?state=all&sort=updated", [3, 2, 1, 4]),
    ],
)
async def test_the_list_is_filtered_and_sorted(scene: Scene, query: str, numbers: list[int]) -> None:
    lab = scene.lab
    for title, author, labels in (("1", "ada", ("a",)), ("2", "ada", ()), ("3", "ada", ("a", "b")), ("4", "bob", ())):
        lab.issue(NAME, title, "Thanks, @ada." if author == "bob" else "Not @adam.", author=author, labels=labels)
    for seconds, change in enumerate(("assign", "close", "comment"), 1):
        lab.clock.advance(10 * seconds)
        if change == "assign":
            scene.repository.issues.assign(1, ["ada"], "octo")
        elif change == "close":
            lab.close(NAME, 2, actor="octo")
        else:
            lab.comment(NAME, 3, "Hello", author="bob")
    assert [issue["number"] for issue in await scene.get(f"issues{query}")] == numbers


async def test_a_milestone_that_does_not_exist_is_no_filter(scene: Scene) -> None:
    refused = await scene.ask("GET", "issues?milestone=7")
    assert (refused.status, refused.body["errors"][0]["field"]) == (422, "milestone")


async def test_since_is_inclusive_on_the_time_of_the_last_update(scene: Scene) -> None:
    scene.lab.issue(NAME, "Old", author="ada")
    scene.lab.clock.advance(60)
    moment = (scene.lab.issue(NAME, "New", author="ada")).updated_at
    for shift, numbers in ((0, [2]), (1, []), (-60, [2, 1])):
        since = datetime.fromtimestamp(moment + shift, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        assert [issue["number"] for issue in await scene.get(f"issues?since={since}")] == numbers


async def test_pages_are_linked_by_repository_id_and_complete(scene: Scene) -> None:
    for number in range(1, 8):
        scene.lab.issue(NAME, f"Issue {number}", author="ada")
    seen: list[int] = []
    url: str | None = "issues?per_page=3&direction=asc"
    while url is not None:
        answer = await scene.ask("GET", url)
        seen += [issue["number"] for issue in answer.body]
        last, url = answer, answer.link("next")
        assert url is None or url.startswith(f"{scene.lab.url}/repositories/{scene.repository.facts.id}/issues?")
    assert seen == [1, 2, 3, 4, 5, 6, 7]
    assert last.link("first") is not None
    assert last.link("last") is None


@pytest.mark.parametrize(
    ("host", "path", "root"),
    [
        ("git.example.org", "/repos/", "http://git.example.org"),
        ("git.example.org:8080", "/api/v3/repos/", "http://git.example.org:8080/api/v3"),
        ("[::1]:8080", "/repos/", "http://[::1]:8080"),
        ("not a host>; <x", "/repos/", None),
    ],
)
async def test_the_next_page_is_where_the_client_found_the_first(
    scene: Scene, host: str, path: str, root: str | None
) -> None:
    for title in ("One", "Two"):
        scene.lab.issue(NAME, title, author="ada")
    answer = await scene.ask("GET", f"{path}{NAME}/issues?per_page=1", headers={"Host": host})
    here = scene.lab.url if root is None else root
    assert answer.link("next") == f"{here}/repositories/{scene.repository.facts.id}/issues?per_page=1&page=2"


async def test_pull_requests_are_issues_too(scene: Scene) -> None:
    pull = await scene.pull()
    (seen,) = await scene.get("issues")
    assert seen["pull_request"]["url"] == pull["url"]
    labelled = await scene.ask("POST", f"issues/{pull['number']}/labels", {"labels": ["status:reviewing"]})
    assert [label["name"] for label in labelled.body] == ["status:reviewing"]
    commented = await scene.ask("POST", f"issues/{pull['number']}/comments", {"body": "Looks fine."})
    assert "/pull/1#issuecomment-" in commented.body["html_url"]


async def test_a_patch_replaces_labels_and_state_in_one_step(scene: Scene) -> None:
    scene.lab.issue(NAME, "Add search", author="bob", labels=("a", "b"))
    changes = {"title": "Add user search", "state": "closed", "state_reason": "not_planned", "labels": ["b", "c"]}
    changed = (await scene.ask("PATCH", "issues/1", changes)).body
    assert (changed["title"], changed["state_reason"], changed["closed_by"]["login"]) == (
        "Add user search",
        "not_planned",
        "ada",
    )
    assert [label["name"] for label in changed["labels"]] == ["b", "c"]
    scene.lab.unlabel(NAME, 1, "c", actor="octo")
    reopened = (await scene.ask("PATCH", "issues/1", {"state": "open", "assignees": ["ada"]})).body
    assert (reopened["state"], reopened["state_reason"], reopened["closed_at"]) == ("open", "reopened", None)
    events = await scene.get("issues/1/events?per_page=100")
    told = [(e["event"], e["actor"]["login"], e.get("label", {}).get("name")) for e in events]
    assert told == [
        ("labeled", "bob", "a"),
        ("labeled", "bob", "b"),
        ("renamed", "ada", None),
        ("unlabeled", "ada", "a"),
        ("labeled", "ada", "c"),
        ("closed", "ada", None),
        ("unlabeled", "octo", "c"),
        ("assigned", "ada", None),
        ("reopened", "ada", None),
    ]


@pytest.mark.parametrize(
    ("fields", "field"),
    [({"title": " "}, "title"), ({"title": "x" * 257}, "title"), ({"title": "x", "body": "x" * 65537}, "body")],
)
async def test_bad_texts_are_refused_as_github_does(scene: Scene, fields: dict[str, str], field: str) -> None:
    refused = await scene.ask("POST", "issues", fields)
    assert (refused.status, refused.body["message"]) == (422, "Validation Failed")
    assert refused.body["errors"][0]["field"] == field
    assert await scene.get("issues") == []


async def test_deleted_and_unknown_issues(scene: Scene) -> None:
    scene.lab.issue(NAME, "Gone", author="ada")
    scene.repository.issues.delete(1)
    assert (await scene.ask("GET", "issues/1")).status == 410
    assert (await scene.ask("GET", "issues/2")).status == 404
    assert (await scene.ask("POST", "issues/1/comments", {"body": "x"})).status == 410
    assert (await scene.ask("POST", "issues", {"title": "Next"})).body["number"] == 2


async def test_assignees_are_added_and_removed(scene: Scene) -> None:
    scene.lab.issue(NAME, "Work", author="bob")
    added = await scene.ask("POST", "issues/1/assignees", {"assignees": ["ada", "bob"]})
    assert (added.status, [user["login"] for user in added.body["assignees"]]) == (201, ["ada"])
    removed = await scene.ask("DELETE", "issues/1/assignees", {"assignees": ["ada"]})
    assert removed.body["assignees"] == []
    events = await scene.get("issues/1/events")
    assert [(e["event"], e["assignee"]["login"]) for e in events] == [("assigned", "ada"), ("unassigned", "ada")]


async def test_a_deleted_account_leaves_null_behind(scene: Scene) -> None:
    scene.lab.issue(NAME, "Orphan", author="eve", labels=("a",))
    del scene.lab.world.accounts["eve"]
    assert (await scene.get("issues/1"))["user"] is None
    assert (await scene.get("issues/1/events"))[0]["actor"]["login"] == "ghost"
