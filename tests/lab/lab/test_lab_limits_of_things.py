"""GitHub's refusals and details that a simpler server would not have; each has surprised a real program."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

import pytest
from lab_scene import NAME, Scene

from lab.github.world.issues import MOST_LABELS
from lab.github.world.labels import MAX_DESCRIPTION


def names(count: int) -> list[str]:
    return [f"label-{number}" for number in range(count)]


async def refused(scene: Scene, method: str, path: str, body: Any = None, *, by: str = "ada") -> Any:
    """Send a request that must be refused with 422, and return the body."""
    answer = await scene.ask(method, path, body, by=by)
    assert answer.status == 422, answer.text
    return answer.body


async def issue(scene: Scene) -> None:
    assert (await scene.ask("POST", "issues", {"title": "A thing"})).status == 201


async def test_a_label_is_described_in_a_hundred_characters(scene: Scene) -> None:
    fits, long = "x" * MAX_DESCRIPTION, "x" * (MAX_DESCRIPTION + 1)
    assert (await scene.ask("POST", "labels", {"name": "other", "description": fits})).status == 201
    for said in (
        await refused(scene, "POST", "labels", {"name": "one", "description": long}),
        await refused(scene, "PATCH", "labels/other", {"description": long}),
    ):
        assert said["errors"][0]["message"] == "description is too long (maximum is 100 characters)"
    assert (await scene.ask("GET", "labels/one")).status == 404
    assert (await scene.get("labels/other"))["description"] == fits


async def test_a_thread_has_a_hundred_labels_at_most(scene: Scene) -> None:
    await issue(scene)
    await refused(scene, "POST", "issues/1/labels", {"labels": names(MOST_LABELS + 1)})
    assert await scene.get("issues/1/labels") == []
    full = await scene.ask("POST", "issues/1/labels", {"labels": names(MOST_LABELS)})
    assert full.status == 200
    said = await refused(scene, "POST", "issues/1/labels", {"labels": ["one more"]})
    assert "cannot have more than 100 labels" in said["message"]
    assert (await scene.ask("POST", "issues/1/labels", {"labels": ["LABEL-7"]})).status == 200, "it is there already"
    wish = {"labels": names(MOST_LABELS + 1)}
    await refused(scene, "PUT", "issues/1/labels", wish)
    await refused(scene, "PATCH", "issues/1", {"title": "Another", **wish})
    await refused(scene, "POST", "issues", {"title": "Too many", **wish})
    shown = await scene.get("issues/1")
    assert (shown["title"], len(shown["labels"])) == ("A thing", MOST_LABELS)
    assert len(await scene.get("issues?state=all")) == 1


async def test_nobody_writes_the_refs_of_pull_requests_or_deletes_the_default_branch(scene: Scene) -> None:
    pull = await scene.pull()
    ref, main = f"git/refs/pull/{pull['number']}/head", await scene.get("git/ref/heads/main")
    sha = main["object"]["sha"]
    await refused(scene, "POST", "git/refs", {"ref": "refs/pull/99/head", "sha": sha})
    await refused(scene, "PATCH", ref, {"sha": sha, "force": True})
    await refused(scene, "DELETE", ref)
    assert (await scene.get(ref.replace("refs", "ref", 1)))["object"]["sha"] == pull["head"]["sha"]
    for by in ("ada", "octo"):
        said = await refused(scene, "DELETE", "git/refs/heads/main", by=by)
        assert said["message"] == "Cannot delete the default branch"
    assert await scene.get("git/ref/heads/main") == main
    said = await refused(scene, "POST", "git/refs", {"ref": "refs/heads/a..b", "sha": sha})
    assert said["message"] == "refs/heads/a..b is not a valid ref name."


@pytest.mark.parametrize(
    ("moved", "why"),
    [("forced", "was force-pushed or recreated"), ("deleted", "has been deleted"), ("forward", ""), ("not", "")],
)
async def test_a_pull_request_whose_branch_was_forced_meanwhile_stays_closed(
    scene: Scene, moved: str, why: str
) -> None:
    path = f"pulls/{(await scene.pull())['number']}"
    assert (await scene.ask("PATCH", path, {"state": "closed"})).status == 200
    if moved == "forced":
        tip = await scene.commit("other", {"a.txt": "a\n"})
        assert (await scene.ask("PATCH", "git/refs/heads/work", {"sha": tip, "force": True})).status == 200
    elif moved == "deleted":
        assert (await scene.ask("DELETE", "git/refs/heads/work")).status == 204
    elif moved == "forward":
        await scene.commit("work", {"a.txt": "a\n"})
    if why:
        said = await refused(scene, "PATCH", path, {"state": "open"})
        assert said["errors"][0]["message"] == f"state cannot be changed. The work branch {why}."
    else:
        assert (await scene.ask("PATCH", path, {"state": "open"})).status == 200
    assert (await scene.get(path))["state"] == ("closed" if why else "open")


async def test_logins_are_compared_without_case_and_a_filter_by_nobody_is_refused(scene: Scene) -> None:
    await issue(scene)
    assigned = await scene.ask("POST", "issues/1/assignees", {"assignees": ["ADA"]})
    assert [one["login"] for one in assigned.body["assignees"]] == ["ada"]
    for query in ("assignee=Ada", "creator=ADA", "assignee=*"):
        assert [one["number"] for one in await scene.get(f"issues?{query}")] == [1], query
    assert await scene.get("issues?assignee=none") == await scene.get("issues?assignee=octo") == []
    said = await refused(scene, "GET", "issues?assignee=nobody-at-all")
    assert (said["errors"][0]["field"], said["errors"][0]["value"]) == ("assignee", "nobody-at-all")
    assert (await scene.get("collaborators/ADA/permission"))["permission"] == "write"
    taken = await scene.ask("DELETE", "issues/1/assignees", {"assignees": ["aDa"]})
    assert taken.body["assignees"] == []


async def test_what_is_shown_alone_says_when_it_changed_and_answers_head(scene: Scene) -> None:
    await issue(scene)
    whole, head = await scene.ask("GET", "issues/1"), await scene.ask("HEAD", "issues/1")
    changed = parsedate_to_datetime(whole.headers["Last-Modified"])
    assert f"{changed:%Y-%m-%dT%H:%M:%SZ}" == whole.body["updated_at"]
    assert (head.status, head.text) == (200, "")
    assert [head.headers[name] for name in ("ETag", "Last-Modified")] == [
        whole.headers[name] for name in ("ETag", "Last-Modified")
    ]
    for age, status in ((0, 304), (1, 200)):
        told = {"If-Modified-Since": format_datetime(changed - timedelta(seconds=age), usegmt=True)}
        assert (await scene.ask("GET", "issues/1", headers=told)).status == status
        assert (await scene.ask("GET", "issues/1", headers={**told, "If-None-Match": '"other"'})).status == 200
    assert "Last-Modified" not in (await scene.ask("GET", "issues")).headers
    assert (await scene.ask("HEAD", "issues/2")).status == 404


async def test_a_change_can_be_read_as_mails(scene: Scene) -> None:
    pull = await scene.pull()
    accept = {"Accept": "application/vnd.github.patch"}
    for path in (f"pulls/{pull['number']}", f"commits/{pull['head']['sha']}", "compare/main...work"):
        answer = await scene.ask("GET", path, headers=accept)
        assert answer.headers["Content-Type"] == "application/vnd.github.patch; charset=utf-8"
        assert answer.text.startswith(f"From {pull['head']['sha']} "), path
        assert "+D\n" in answer.text


async def test_an_inline_comment_counts_its_reactions(scene: Scene) -> None:
    pull = await scene.pull()
    wish = {"body": "Loud", "commit_id": pull["head"]["sha"], "path": "src/letters.txt", "line": 4, "side": "RIGHT"}
    said = (await scene.ask("POST", f"pulls/{pull['number']}/comments", wish)).body
    assert said["reactions"]["total_count"] == 0
    assert said["reactions"]["url"].endswith(f"/repos/{NAME}/pulls/comments/{said['id']}/reactions")
