"""Statuses, bodies and headers that GitHub was seen to answer, one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from lab_scene import LETTERS, NAME, READ, Answer, Scene

from lab.github.world.repository import Protection


@dataclass(frozen=True)
class Seen:
    """A call, and what GitHub answers; `{sha}` stands for the head of pull request 1, `{job}` for a red job.

    `body` is the whole body, or (with `...` as a key) a part of it.
    """

    method: str
    path: str
    sent: Any
    status: int
    body: Any = ...
    by: str = "ada"
    headers: dict[str, str] = field(default_factory=dict)


SECOND = {"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for octo:work."}
COLOR = {"resource": "Label", "code": "invalid", "field": "color"}

ANSWERS = {
    "a review": Seen("POST", "pulls/1/reviews", {"event": "APPROVE"}, 200, by="octo"),
    "self-approval": Seen(
        "POST",
        "pulls/1/reviews",
        {"event": "APPROVE"},
        422,
        {"message": "Unprocessable Entity", "errors": ["Review Can not approve your own pull request"], ...: None},
    ),
    "a review request": Seen("POST", "pulls/1/requested_reviewers", {"reviewers": ["octo"]}, 201),
    "the author asked": Seen(
        "POST",
        "pulls/1/requested_reviewers",
        {"reviewers": ["ada"]},
        422,
        {"message": "Review cannot be requested from pull request author.", ...: None},
    ),
    "labels added": Seen("POST", "issues/1/labels", {"labels": ["new"]}, 200),
    "a label taken off": Seen("DELETE", "issues/1/labels/only", None, 200, []),
    "a label that is not on": Seen(
        "DELETE", "issues/1/labels/none", None, 404, {"message": "Label does not exist", ...: None}
    ),
    "a bad colour": Seen(
        "POST",
        "labels",
        {"name": "x", "color": "red"},
        422,
        {"message": "Validation Failed", "errors": [COLOR], ...: None},
    ),
    "a status": Seen("POST", "statuses/{sha}", {"state": "success"}, 201, headers={"Location": "/statuses/{sha}"}),
    "a status of nothing": Seen(
        "POST",
        "statuses/" + "0" * 40,
        {"state": "success"},
        422,
        {"message": "No commit found for SHA: " + "0" * 40, ...: None},
    ),
    "not merged": Seen("GET", "pulls/1/merge", None, 404),
    "a merge": Seen(
        "PUT", "pulls/1/merge", {}, 200, {"merged": True, "message": "Pull Request successfully merged", ...: None}
    ),
    "a head that moved": Seen(
        "PUT",
        "pulls/1/merge",
        {"sha": "0" * 40},
        409,
        {"message": "Head branch was modified. Review and try the merge again.", ...: None},
    ),
    "a conflict": Seen("PUT", "pulls/2/merge", {}, 405, {"message": "Pull Request is not mergeable", ...: None}),
    "a method not allowed": Seen(
        "PUT",
        "pulls/1/merge",
        {"merge_method": "rebase"},
        405,
        {"message": "Rebase merges are not allowed on this repository.", ...: None},
    ),
    "checks missing": Seen(
        "PUT", "pulls/3/merge", {}, 405, {"message": 'Required status check "test" is expected.', ...: None}
    ),
    "a branch brought up to date": Seen(
        "PUT",
        "pulls/1/update-branch",
        {"expected_head_sha": "{sha}"},
        202,
        {"message": "Updating pull request branch.", ...: None},
        headers={"Location": "/pulls/1"},
    ),
    "an expectation that fails": Seen(
        "PUT",
        "pulls/1/update-branch",
        {"expected_head_sha": "0" * 40},
        422,
        {"message": "expected head sha didn’t match current head ref.", ...: None},
    ),
    "nothing to bring": Seen(
        "PUT",
        "pulls/3/update-branch",
        None,
        422,
        {"message": "There are no new commits on the base branch.", ...: None},
    ),
    "a branch that conflicts": Seen(
        "PUT", "pulls/2/update-branch", None, 422, {"message": "merge conflict between base and head", ...: None}
    ),
    "a second pull request": Seen(
        "POST",
        "pulls",
        {"title": "x", "head": "work", "base": "main"},
        422,
        {"message": "Validation Failed", "errors": [SECOND], ...: None},
    ),
    "a log": Seen(
        "GET", "actions/jobs/{job}/logs", None, 302, headers={"Content-Type": "text/html", "Location": "localhost"}
    ),
    "a rerun by a stranger": Seen(
        "POST",
        "actions/runs/{run}/rerun",
        None,
        403,
        {"message": "Must have admin rights to Repository.", ...: None},
        by="bob",
    ),
    "failed jobs again": Seen("POST", "actions/runs/{run}/rerun-failed-jobs", None, 201, {}),
    "no protection": Seen(
        "GET", "branches/work/protection", None, 404, {"message": "Branch not protected", ...: None}, by="octo"
    ),
    "no branch": Seen("GET", "branches/none", None, 404, {"message": "Branch not found", ...: None}),
    "a token that may not": Seen(
        "POST",
        "issues",
        {"title": "x"},
        403,
        {"message": "Resource not accessible by personal access token", "status": "403", ...: None},
        by="reader",
        headers={"x-accepted-github-permissions": "issues=write"},
    ),
    "a dismissal of nothing": Seen(
        "PUT", "pulls/1/reviews/7/dismissals", {"message": "x"}, 404, {"message": "Not Found", ...: None}
    ),
    "a diff": Seen("GET", "pulls/1", None, 200, headers={"Content-Type": "application/vnd.github.diff; charset=utf-8"}),
    "a ref that exists": Seen(
        "POST",
        "git/refs",
        {"ref": "refs/heads/work", "sha": "{sha}"},
        422,
        {"message": "Reference already exists", ...: None},
    ),
}
"""Requests, and the answers that GitHub was seen to give."""


async def furnished(scene: Scene) -> dict[str, str]:
    """Make pull requests: 1 is clean but behind, 2 conflicts, 3 is up to date and lacks a required check."""
    pull = await scene.pull()
    await scene.pull("clash", text=LETTERS.replace("l\n", "L\n"))
    await scene.commit("main", {"src/letters.txt": LETTERS.replace("l\n", "ell\n")})
    await scene.commit("release", {"notes.txt": "1\n"})
    await scene.commit("fresh", {"new.txt": "new\n"}, onto="release")
    await scene.ask("POST", "pulls", {"title": "Fresh", "head": "fresh", "base": "release"})
    scene.lab.configure(NAME, protections={"release": Protection(("test",))}, merge_methods=("merge", "squash"))
    scene.lab.label(NAME, 1, "only", actor="ada")
    checks = scene.repository.checks
    job = checks.finish(checks.start(pull["head"]["sha"], "test", "work"), "failure", "over", "log\n")
    scene.repository.rerun = lambda sha, names: None
    return {"sha": pull["head"]["sha"], "job": str(job.id), "run": str(job.run_id)}


def filled(part: Any, names: dict[str, str]) -> Any:
    """Return the same structure with every `{name}` replaced."""
    if isinstance(part, str):
        for name, value in names.items():
            part = part.replace(f"{{{name}}}", value)
        return part
    return {key: filled(value, names) for key, value in part.items()} if isinstance(part, dict) else part


def check(answer: Answer, seen: Seen, names: dict[str, str]) -> None:
    """Assert that the answer is the one that was seen."""
    assert answer.status == seen.status, answer.text
    if isinstance(seen.body, dict) and ... in seen.body:
        wanted = {key: value for key, value in seen.body.items() if key is not ...}
        assert {key: answer.body.get(key) for key in wanted} == wanted
    elif seen.body is not ...:
        assert answer.body == seen.body
    for name, value in seen.headers.items():
        assert filled(value, names) in answer.headers[name]


@pytest.mark.parametrize("seen", ANSWERS.values(), ids=ANSWERS.keys())
async def test_it_answers_as_github_was_seen_to(scene: Scene, seen: Seen) -> None:
    names = await furnished(scene)
    accept = {"Accept": "application/vnd.github.diff"} if "diff" in seen.headers.get("Content-Type", "") else {}
    sent, path = filled(seen.sent, names), filled(seen.path, names)
    check(await scene.ask(seen.method, path, sent, by=seen.by, headers=accept), seen, names)


async def test_a_merged_pull_request_says_204(scene: Scene) -> None:
    await scene.pull()
    await scene.ask("PUT", "pulls/1/merge", {})
    merged = await scene.ask("GET", "pulls/1/merge")
    assert (merged.status, merged.text) == (204, "")


async def test_a_reader_of_a_private_repository_is_told_nothing_more(scene: Scene) -> None:
    scene.lab.configure(NAME, private=True)
    scene.tokens["stranger"] = scene.lab.token("bob", READ)
    refused = await scene.ask("GET", "issues", by="stranger")
    assert (refused.status, refused.body["message"]) == (404, "Not Found")
