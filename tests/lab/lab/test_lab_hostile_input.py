"""Hostile input to the embedded GitHub: each is answered with a chosen status and a message, never with a crash."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from typing import Any

import pytest
from judge import Judge
from lab_scene import NAME, Scene
from yarl import URL

from lab.github.http.call import Operation
from lab.github.http.service import GREEDY
from lab.github.routes import OPERATIONS

PLACES = {
    "owner": "octo",
    "repo": "thing",
    "username": "ada",
    "issue_number": "1",
    "pull_number": "2",
    "branch": "main",
    "ref": "heads/main",
    "basehead": "main...work",
    "name": "bug",
    "path": "README.md",
    "sha": "main",
    "tree_sha": "main",
}
"""Parameters that name existing things; every other parameter is a number that names nothing."""

HOSTILE_PARTS = (
    *("%00", "%2e%2e", "-1", "9" * 40, "%FF", "%F0%9F%92%A9", "%0A", "@%7B", "%5E%7Bcommit%7D", "HEAD:README.md"),
    *(":/Initial", "--all", "refs/heads/*", "x" * 3000),
)

HOSTILE_BODIES = (
    *(b"{", b"[]", b"[1]", b'"x"', b"0", b"null", b"NaN", b"\xff\xfe", b"[" * 100_000, b'{"title": "\\ud800"}'),
    *(b'{"body": "\\u0000", "title": "\\u0000"}', b'{"\\udcff": 1}', b"{}" * 2),
)

HOSTILE_VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    10**30,
    1.5,
    "",
    " ",
    "\n",
    "x" * 70_000,
    [],
    [None],
    [[]],
    {},
    {"name": None},
    "refs/",
)

NAMES = (
    *("title", "body", "state", "state_reason", "labels", "assignees", "color", "name", "new_name", "description"),
    *("head", "base", "event", "comments", "commit_id", "path", "line", "position", "side", "in_reply_to", "reviewers"),
    *(
        "merge_method",
        "sha",
        "commit_title",
        "expected_head_sha",
        "message",
        "content",
        "encoding",
        "tree",
        "base_tree",
    ),
    *("parents", "author", "committer", "ref", "force", "context", "target_url", "head_sha", "status", "conclusion"),
    *("output", "started_at", "completed_at", "sub_issue_id", "permissions", "repositories", "repository_ids"),
)
"""Every field that some operation reads."""

QUERIES = (
    "page=" + "9" * 5000,
    "per_page=x&page=%00&since=0001-01-01T00:00:00%2B23:59&until=9999-12-31T23:59:59-23:59",
    "since=yesterday",
    "sort=%00&direction=%00&state=%00&filter=none&affiliation=none&permission=none&recursive=",
    "labels=,,%00&ref=%00&sha=-x&path=..%2f..&head=%00",
    "ref=--all&sha=--all&path=--all",
)


def address(operation: Operation, hostile: str | None = None) -> str:
    """Return the path of an operation; with `hostile` in place of every parameter but the repository's."""

    def filled(parameter: re.Match[str]) -> str:
        name = parameter[1]
        known = PLACES.get(name, "7")
        unfit = hostile is None or name in {"owner", "repo"} or ("/" in hostile and name not in GREEDY)
        return known if unfit else str(hostile)

    return re.sub(r"{(\w+)}", filled, operation.template)


@pytest.fixture
def judge() -> Judge:
    """Return a judge of the answers only; the requests are wrong on purpose."""
    return Judge(requests=False)


async def furnish(scene: Scene) -> None:
    """Make an issue, a pull request and an App's token."""
    scene.lab.issue(NAME, "Here", author="ada", labels=("bug",))
    await scene.pull()
    app = scene.lab.app("engine", owner="octo", public_key="", permissions={"checks": "write"})
    scene.lab.install(app, NAME)
    scene.tokens["bot"] = scene.lab.token(app.bot, {"checks": "write"})


def token_for(operation: Operation) -> str:
    """Return the App for check runs, the owner for everything else."""
    return "bot" if "/check-runs" in operation.template and operation.method != "GET" else "octo"


async def send(scene: Scene, method: str, address: str, by: str, body: bytes | None = None) -> tuple[int, str]:
    """Send a raw request; return status and text of the answer."""
    headers = {"Authorization": f"Bearer {scene.tokens[by]}", "Content-Type": "application/json"}
    url = URL(scene.lab.url + address, encoded=True)
    data = None if body is None else io.BytesIO(body)
    async with scene.http.request(method, url, data=data, headers=headers, allow_redirects=False) as answer:
        return answer.status, await answer.text(errors="replace")


def check(answers: list[tuple[str, int, str]]) -> Counter[int]:
    """Assert that nothing crashed and that refusals have a message; return the number of each status."""
    for what, status, text in answers:
        assert status < 500, (what, text[:300])
        assert status < 400 or json.loads(text)["message"], what
    return Counter(status for _, status, _ in answers)


async def test_hostile_paths(scene: Scene) -> None:
    await furnish(scene)
    answers = []
    for operation in OPERATIONS:
        if operation.method == "GET" and not operation.as_app and operation.template.count("{") > 2:
            for part in HOSTILE_PARTS:
                path = address(operation, part)
                answers.append((path, *await send(scene, "GET", path, "octo")))
    assert check(answers)[404] > 400


async def test_hostile_names_of_what_is_written(scene: Scene) -> None:
    await furnish(scene)
    before = set(await scene.repository.bare.refs("refs/"))
    answers = []
    for operation in OPERATIONS:
        if operation.method != "GET" and not operation.as_app and operation.template.count("{") > 2:
            for part in HOSTILE_PARTS:
                path = address(operation, part)
                answers.append((path, *await send(scene, operation.method, path, token_for(operation), b"{}")))
    check(answers)
    assert set(await scene.repository.bare.refs("refs/")) == before


async def test_hostile_queries(scene: Scene) -> None:
    await furnish(scene)
    answers = []
    for operation in OPERATIONS:
        if operation.method == "GET" and not operation.as_app:
            for query in QUERIES:
                path = f"{address(operation)}?{query}"
                answers.append((path, *await send(scene, "GET", path, "octo")))
    assert check(answers)[422] > 0


async def test_bodies_that_are_no_objects(scene: Scene) -> None:
    await furnish(scene)
    answers = []
    for operation in OPERATIONS:
        if operation.method in {"POST", "PATCH", "PUT"} and not operation.as_app:
            for body in HOSTILE_BODIES:
                sent = (operation.method, address(operation), token_for(operation), body)
                answers.append((f"{sent[1]} {body[:30]!r}", *await send(scene, *sent)))
    assert check(answers)[400] > 100


@pytest.mark.parametrize("value", HOSTILE_VALUES, ids=[repr(value)[:20] for value in HOSTILE_VALUES])
async def test_fields_of_the_wrong_kind(scene: Scene, value: Any) -> None:
    """All fields are wrong at once, and some of them alone: other ones for each value."""
    await furnish(scene)
    answers, chosen = [], NAMES[HOSTILE_VALUES.index(value) :: len(HOSTILE_VALUES)]
    whole = {"title": "x", "body": "x", "name": "n", "ref": "refs/heads/n", "sha": "main", "head_sha": "main"}
    for operation in OPERATIONS:
        if operation.method in {"POST", "PATCH", "PUT"} and not operation.as_app:
            for body in ({**whole, **dict.fromkeys(NAMES, value)}, *({**whole, name: value} for name in chosen)):
                sent = (operation.method, address(operation), token_for(operation), json.dumps(body).encode())
                answers.append((f"{sent[1]} {body!r}"[:300], *await send(scene, *sent)))
    check(answers)
