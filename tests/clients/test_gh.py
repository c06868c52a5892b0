"""`gh api` over the lab's unix socket: as github.com, and as an Enterprise host."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from desk import Desk, desk, desk_at, program, short_directory
from judge import Judge
from lab_scene import NAME, Scene, scene_at

from lab.github.repositories.git_command import environment
from shared import process

THING = f"repos/{NAME}"


@pytest.fixture
async def here(tmp_path: Path, judge: Judge) -> AsyncIterator[tuple[Scene, Desk]]:
    """Yield the scene, and Ada's desk whose gh was told of the socket by `gh config set`."""
    program("gh")
    with short_directory() as directory:
        socket = directory / "lab.sock"
        async with scene_at(tmp_path / "lab", judge, unix_socket=socket) as scene:
            quiet = {"GH_NO_UPDATE_NOTIFIER": "1", "NO_COLOR": "1", "GH_PROMPT_DISABLED": "1"}
            ada = desk(scene, "ada", tmp_path / "ada", GH_TOKEN=scene.tokens["ada"], **quiet)
            await ada.ok("gh", "config", "set", "http_unix_socket", str(socket))
            yield scene, ada


def given(person: Desk, **variables: str) -> Desk:
    """Return the same desk with more variables in its environment."""
    return replace(person, variables={**person.variables, **variables})


async def api(person: Desk, *arguments: str, stdin: str = "") -> Any:
    return json.loads(await person.ok("gh", "api", *arguments, stdin=stdin))


@pytest.mark.parametrize("host", ["github.com", "github.example.org"])
async def test_gh_knows_who_it_is(here: tuple[Scene, Desk], host: str) -> None:
    scene, ada = here
    assert (await api(given(ada, GH_HOST=host, GH_ENTERPRISE_TOKEN=scene.tokens["ada"]), "user"))["login"] == "ada"


async def test_fields_make_an_issue(here: tuple[Scene, Desk]) -> None:
    scene, ada = here
    fields = ("-f", "title=Add search", "-f", "body=By name.", "-f", "labels[]=story", "-F", "assignees[]=ada")
    issue = await api(ada, f"{THING}/issues", *fields)
    assert (issue["number"], issue["state"], issue["labels"][0]["name"]) == (1, "open", "story")
    closed = await api(ada, "-X", "PATCH", f"{THING}/issues/1", "-f", "state=closed", "-f", "state_reason=not_planned")
    assert closed["state_reason"] == "not_planned"
    record = scene.repository.issues.require(1)
    assert (record.author, record.body, record.assignees, record.open) == ("ada", "By name.", ("ada",), False)


async def test_a_body_comes_from_standard_input(here: tuple[Scene, Desk]) -> None:
    scene, ada = here
    scene.lab.issue(NAME, "Add search", author="bob")
    text = 'A comment with "quotes", line ends\r\nand 漢字 🎉'
    comment = await api(ada, f"{THING}/issues/1/comments", "--input", "-", stdin=json.dumps({"body": text}))
    assert comment["body"] == text
    assert await ada.ok("gh", "api", "--silent", "-X", "DELETE", f"{THING}/issues/comments/{comment['id']}") == ""
    assert await api(ada, f"{THING}/issues/1/comments") == []


@pytest.mark.parametrize("host", ["github.com", "github.example.org"])
async def test_pages_are_followed_to_the_last(here: tuple[Scene, Desk], host: str) -> None:
    """Only the token of that host is given: the next page is on the same host as the first one."""
    scene, ada = here
    if host != "github.com":
        ada = given(ada, GH_HOST=host, GH_TOKEN="", GH_ENTERPRISE_TOKEN=scene.tokens["ada"])
    for number in range(1, 8):
        scene.lab.issue(NAME, f"Issue {number}", author="bob")
    wanted = ("--paginate", "-X", "GET", f"{THING}/issues", "-F", "per_page=3", "-f", "direction=asc")
    assert await ada.ok("gh", "api", *wanted, "--jq", ".[].number") == "1\n2\n3\n4\n5\n6\n7"
    assert await ada.ok("gh", "api", f"{THING}/issues?per_page=3", "--jq", "length") == "3"


async def test_what_was_renamed_is_followed_to_where_it_is(here: tuple[Scene, Desk]) -> None:
    scene, ada = here
    scene.lab.rename(NAME, "octo/other")
    assert await ada.ok("gh", "api", THING, "--jq", ".full_name") == "octo/other"


async def test_what_has_not_changed_is_a_304_that_costs_nothing_and_ends_with_1(here: tuple[Scene, Desk]) -> None:
    _, ada = here
    first = headers((await ada.run("gh", "api", "-i", f"{THING}/issues")).text)
    again = await ada.run("gh", "api", "-i", f"{THING}/issues", "-H", f"If-None-Match: {first['etag']}")
    assert (again.code, again.stderr.strip()) == (1, b"gh: HTTP 304")
    assert again.text.startswith("HTTP/1.1 304")
    assert headers(again.text)["x-ratelimit-used"] == first["x-ratelimit-used"]
    await api(ada, f"{THING}/issues", "-f", "title=New")
    changed = await ada.run("gh", "api", "-i", f"{THING}/issues", "-H", f"If-None-Match: {first['etag']}")
    assert changed.code == 0
    assert changed.text.startswith("HTTP/1.1 200")


def headers(answer: str) -> dict[str, str]:
    """Return the headers that `gh api -i` prints before the body."""
    lines = answer.replace("\r", "").split("\n\n")[0].splitlines()[1:]
    return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((f"{THING}/issues/99",), b"gh: Not Found (HTTP 404)"),
        ((f"{THING}/labels", "-f", "name=red", "-f", "color=red"), b"gh: Validation Failed (HTTP 422)"),
        ((f"{THING}/pulls", "-f", "title=x", "-f", "head=none", "-f", "base=main"), b"(HTTP 422)"),
        (("-X", "PUT", f"{THING}/pulls/1/merge"), b"gh: Not Found (HTTP 404)"),
    ],
)
async def test_a_refusal_is_told_in_githubs_words(
    here: tuple[Scene, Desk], arguments: tuple[str, ...], message: bytes
) -> None:
    _, ada = here
    refused = await ada.run("gh", "api", *arguments)
    assert refused.code == 1
    assert message in refused.stderr


async def test_an_unknown_token_is_sent_to_log_in(here: tuple[Scene, Desk]) -> None:
    _, ada = here
    refused = await given(ada, GH_TOKEN="unknown").run("gh", "api", "user")
    assert b"gh: Bad credentials (HTTP 401)" in refused.stderr


async def test_a_pull_request_is_read_as_diff_reviewed_and_merged(here: tuple[Scene, Desk]) -> None:
    scene, ada = here
    pull = await scene.pull("work", body="Closes #2")
    scene.lab.issue(NAME, "Make it loud", author="bob")
    diff = await ada.ok("gh", "api", f"{THING}/pulls/1", "-H", "Accept: application/vnd.github.diff")
    assert diff.startswith("diff --git a/src/letters.txt b/src/letters.txt\n")
    octo = given(ada, GH_TOKEN=scene.tokens["octo"])
    remark = {"path": "src/letters.txt", "line": 4, "body": "Why?"}
    order = json.dumps({"event": "APPROVE", "body": "Fine", "comments": [remark]})
    assert (await api(octo, f"{THING}/pulls/1/reviews", "--input", "-", stdin=order))["state"] == "APPROVED"
    merge = ("-X", "PUT", f"{THING}/pulls/1/merge", "-f", "merge_method=squash", "-f", f"sha={pull['head']['sha']}")
    assert (await api(ada, *merge))["merged"] is True
    assert await ada.ok("gh", "api", f"{THING}/issues/2", "--jq", ".state") == "closed"
    assert await ada.ok("gh", "api", "--silent", f"{THING}/pulls/1/merge") == ""


async def test_a_file_is_read_raw_and_a_log_through_its_redirect(here: tuple[Scene, Desk]) -> None:
    scene, ada = here
    raw = ("-H", "Accept: application/vnd.github.raw")
    assert await ada.ok("gh", "api", f"{THING}/contents/README.md", *raw) == "# Thing"
    checks = scene.repository.checks
    job = checks.finish(checks.start((await scene.get("commits/main"))["sha"], "test"), "failure", "red", "Line 1\n")
    assert await ada.ok("gh", "api", f"{THING}/actions/jobs/{job.id}/logs") == "Line 1"
    assert await ada.ok("gh", "api", f"{THING}/actions/jobs/{job.id}", "--jq", ".conclusion") == "failure"


async def test_a_lab_that_runs_alone_serves_port_and_socket(tmp_path: Path) -> None:
    program("gh")
    with short_directory() as directory:
        socket = directory / "lab.sock"
        argv = (sys.executable, "-m", "lab", "--port", "0", "--socket", str(socket), "--state", str(tmp_path / "lab"))
        root = Path(__file__).parents[2]
        async with process.piped(argv, cwd=root, env=environment(), log=tmp_path / "log") as child:
            assert child.stdout is not None
            with anyio.fail_after(30):
                said = await BufferedByteReceiveStream(child.stdout).receive_until(b"}\n", 4096)
            facts = json.loads(said.decode().splitlines()[-1] + "}")
            token = facts["maintainer-token"]
            person = desk_at(facts["url"], "maintainer", token, tmp_path / "home", GH_TOKEN=token)
            await person.ok("gh", "config", "set", "http_unix_socket", str(socket))
            repository = await api(person, f"repos/{facts['repository']}")
            assert repository["permissions"]["admin"] is True
            await person.ok("git", "clone", "--quiet", facts["git"], "project")
            assert (person.home / "project" / "README.md").exists()
