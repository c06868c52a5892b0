"""Single inline comments on the diffs of the embedded GitHub, and who works together there."""

from __future__ import annotations

from typing import Any

import pytest
from lab_scene import LETTERS, NAME, Scene

PATH = "src/letters.txt"
INVALID_LINE = {"resource": "PullRequestReviewComment", "code": "invalid", "field": "pull_request_review_thread.line"}
INVALID_PATH = {**INVALID_LINE, "field": "pull_request_review_thread.path"}


async def remark(scene: Scene, **changes: Any) -> Any:
    """Send octo's remark on the loud line, and return the answer."""
    head = (await scene.get("pulls/1"))["head"]["sha"]
    wanted = {"body": "Why loud?", "commit_id": head, "path": PATH, "line": 4, "side": "RIGHT", **changes}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    return await scene.ask("POST", "pulls/1/comments", wanted, by="octo")


async def test_a_remark_is_a_review_of_its_own(scene: Scene) -> None:
    await scene.pull()
    made = await remark(scene)
    assert (made.status, made.headers["Location"], made.body["line"]) == (201, made.body["url"], 4)
    (review,) = await scene.get("pulls/1/reviews")
    assert (review["state"], review["user"]["login"]) == ("COMMENTED", "octo")
    assert [one["id"] for one in await scene.get(f"pulls/1/reviews/{review['id']}/comments")] == [made.body["id"]]
    answer = await remark(scene, in_reply_to=made.body["id"], body="Because.")
    assert (answer.status, answer.body["in_reply_to_id"]) == (201, made.body["id"])


async def test_a_remark_can_be_on_a_position_or_on_the_whole_file(scene: Scene) -> None:
    await scene.pull()
    placed = await remark(scene, line=None, side=None, position=5)
    assert (placed.body["line"], placed.body["diff_hunk"].splitlines()[-1]) == (4, "+D")
    whole = await remark(scene, line=None, side=None, subject_type="file")
    assert (whole.body["subject_type"], whole.body["line"]) == ("file", None)
    await scene.commit("work", {PATH: LETTERS.replace("d\n", "DD\n")})
    old, still = await scene.get("pulls/1/comments")
    assert (old["position"], still["subject_type"]) == (None, "file")


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({"line": 12}, [INVALID_LINE]),
        ({"line": None}, [INVALID_LINE]),
        ({"side": "LEFT", "line": 9}, [INVALID_LINE]),
        ({"path": "README.md"}, [INVALID_PATH]),
        ({"commit_id": "0" * 40}, None),
        ({"body": ""}, None),
    ],
)
async def test_a_remark_beside_the_diff_is_refused(scene: Scene, changes: dict[str, Any], errors: Any) -> None:
    await scene.pull()
    refused = await remark(scene, **changes)
    assert refused.status == 422
    assert errors is None or refused.body["errors"] == errors
    assert await scene.get("pulls/1/comments") == await scene.get("pulls/1/reviews") == []


@pytest.mark.parametrize(
    ("query", "logins"),
    [
        ("", ["octo", "ada", "eve"]),
        ("?permission=push", ["octo", "ada"]),
        ("?permission=admin", ["octo"]),
        ("?affiliation=outside", ["ada", "eve"]),
    ],
)
async def test_collaborators_are_listed_by_what_they_may(scene: Scene, query: str, logins: list[str]) -> None:
    scene.lab.account("eve")
    scene.lab.configure(NAME, collaborators={"ada": "write", "eve": "read"}, private=True)
    assert [person["login"] for person in await scene.get(f"collaborators{query}")] == logins


async def test_collaborators_are_shown_to_those_who_may_push(scene: Scene) -> None:
    refused = await scene.ask("GET", "collaborators", by="bob")
    assert (refused.status, refused.body["message"]) == (
        403,
        "Must have push access to view repository collaborators.",
    )
