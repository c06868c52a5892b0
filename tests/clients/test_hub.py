"""`hub`, GitHub's first command line, with the lab as a GitHub Enterprise Server and over its unix socket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from desk import Desk, clone, desk, program, short_directory
from judge import Judge
from lab_scene import NAME, Scene, scene_at


@pytest.fixture
async def ada(scene: Scene, tmp_path: Path) -> Desk:
    """Return Ada's desk with a clone of the repository; hub knows the lab as her Enterprise host."""
    program("hub")
    host = urlsplit(scene.lab.url).netloc
    ada = desk(scene, "ada", tmp_path / "ada", GITHUB_HOST=host)
    configure(ada, f"{host}:\n- user: ada\n  oauth_token: {scene.tokens['ada']}\n  protocol: http\n")
    await clone(ada, scene)
    return ada


@pytest.fixture
async def socketed(tmp_path: Path, judge: Judge) -> AsyncIterator[tuple[Scene, Desk]]:
    """Yield the scene and Ada's desk, whose hub reaches github.com through a unix socket to the lab."""
    program("hub")
    with short_directory() as directory:
        socket = directory / "lab.sock"
        async with scene_at(tmp_path / "lab", judge, unix_socket=socket) as scene:
            ada = desk(scene, "ada", tmp_path / "ada")
            lines = f"github.com:\n- user: ada\n  oauth_token: {scene.tokens['ada']}\n  protocol: https\n"
            configure(ada, f"{lines}  unix_socket: {socket}\n")
            yield scene, ada


def configure(person: Desk, content: str) -> None:
    (person.home / ".config").mkdir()
    (person.home / ".config" / "hub").write_text(f"---\n{content}")


async def hub(person: Desk, *arguments: str) -> str:
    return await person.ok("hub", *arguments, cwd=person.home / "thing")


async def test_an_issue_from_its_creation_to_its_end(scene: Scene, ada: Desk) -> None:
    wanted = ("-m", "Add search", "-m", "By name.", "--labels", "story,priority:high", "--assign", "ada")
    url = await hub(ada, "issue", "create", *wanted)
    assert url == f"{scene.lab.url}/{NAME}/issues/1"
    shown = await hub(ada, "issue", "show", "-f", "%I|%t|%b|%L|%as|%au|%S", "1")
    assert shown == "1|Add search|By name.|story, priority:high|ada|ada|open"
    await hub(ada, "issue", "update", "1", "-m", "Add a search", "-m", "By name or by age.", "--labels", "story")
    await hub(ada, "issue", "create", "-m", "Another")
    assert await hub(ada, "issue", "--labels", "story", "-f", "%I %t%n") == "1 Add a search"
    assert await hub(ada, "issue", "--assignee", "ada", "-f", "%I%n") == "1"
    assert await hub(ada, "issue", "--sort", "created", "--sort-ascending", "-f", "%I%n") == "1\n2"
    await hub(ada, "issue", "update", "1", "--state", "closed")
    assert await hub(ada, "issue", "--state", "closed", "-f", "%I%n") == "1"
    assert scene.lab.at(NAME).issues.require(1).body == "By name or by age."
    assert await hub(ada, "issue", "labels") == "priority:high\nstory"


async def test_a_pull_request_from_a_branch_of_ones_own(scene: Scene, ada: Desk) -> None:
    tree = ada.home / "thing"
    await ada.ok("git", "switch", "--quiet", "--create", "loud", cwd=tree)
    (tree / "src/letters.txt").write_text("A\n")
    await ada.ok("git", "commit", "--quiet", "--all", "-m", "Make it loud", cwd=tree)
    wanted = ("-m", "Make it loud", "-m", "Closes #9", "--base", "main", "--reviewer", "octo", "--labels", "automated")
    url = (await hub(ada, "pull-request", "--push", *wanted)).splitlines()[-1]
    assert url == f"{scene.lab.url}/{NAME}/pull/1"
    assert await hub(ada, "pr", "list", "-f", "%I %t %H %L %rs%n") == "1 Make it loud loud automated octo"
    assert await hub(ada, "pr", "list", "--state", "merged", "-f", "%I%n") == ""
    tip = await ada.ok("git", "rev-parse", "HEAD", cwd=tree)
    assert await hub(ada, "pr", "show", "-f", "%I %S %sH %B %b", "1") == f"1 open {tip} main Closes #9"
    assert await hub(ada, "pr", "show", "--url", "--head", "loud") == url
    again = await ada.run("hub", "pull-request", "-m", "Again", "--base", "main", cwd=tree)
    assert again.code == 1
    assert b"A pull request already exists for octo:loud." in again.stderr


async def test_somebody_elses_pull_request_is_checked_out_by_its_number(scene: Scene, ada: Desk) -> None:
    pull = await scene.pull("work")
    await hub(ada, "pr", "checkout", str(pull["number"]))
    assert await ada.ok("git", "rev-parse", "HEAD", cwd=ada.home / "thing") == pull["head"]["sha"]
    assert await ada.ok("git", "branch", "--show-current", cwd=ada.home / "thing") == "work"


async def test_the_status_of_a_commit_adds_up_checks_and_statuses(scene: Scene, ada: Desk) -> None:
    pull = await scene.pull("work")
    sha, checks = pull["head"]["sha"], scene.repository.checks
    nothing = await ada.run("hub", "ci-status", sha, cwd=ada.home / "thing")
    assert (nothing.code, nothing.text) == (3, "no status")
    running = checks.start(sha, "test", "work")
    pending = await ada.run("hub", "ci-status", sha, cwd=ada.home / "thing")
    assert (pending.code, pending.text) == (2, "pending")
    checks.finish(running, "success", "fine", "log")
    assert await hub(ada, "ci-status", sha) == "success"
    await scene.ask("POST", f"statuses/{sha}", {"state": "failure", "context": "lint", "target_url": "http://ci/1"})
    failed = await ada.run("hub", "ci-status", "-v", "-f", "%S %t %U%n", sha, cwd=ada.home / "thing")
    assert failed.code == 1
    assert "failure lint http://ci/1" in failed.text
    assert "success test " in failed.text


async def test_hub_api_reads_writes_and_turns_pages(scene: Scene, ada: Desk) -> None:
    for number in range(1, 6):
        scene.lab.issue(NAME, f"Issue {number}", author="bob")
    pages = await hub(ada, "api", "--paginate", "--flat", "repos/{owner}/{repo}/issues?per_page=2&direction=asc")
    assert [line for line in pages.splitlines() if line.startswith(".[0].number")] == [
        f".[0].number\t{first}" for first in (1, 3, 5)
    ]
    comment = json.loads(await hub(ada, "api", "repos/{owner}/{repo}/issues/1/comments", "-f", "body=Hello"))
    assert comment["user"]["login"] == "ada"
    assert scene.repository.comments.require(comment["id"]).body == "Hello"
    missing = await ada.run("hub", "api", "repos/{owner}/{repo}/issues/99", cwd=ada.home / "thing")
    assert missing.code == 22
    assert json.loads(missing.text)["message"] == "Not Found"


async def test_the_same_over_a_unix_socket(socketed: tuple[Scene, Desk]) -> None:
    scene, ada = socketed
    assert json.loads(await ada.ok("hub", "api", "user"))["login"] == "ada"
    tree = ada.home / "thing"
    await ada.ok("git", "init", "--quiet", str(tree))
    await ada.ok("git", "remote", "add", "origin", f"https://github.com/{NAME}.git", cwd=tree)
    await hub(ada, "issue", "create", "-m", "Through the socket")
    assert await hub(ada, "issue", "-f", "%I %t %au%n") == "1 Through the socket ada"
    assert scene.repository.issues.require(1).author == "ada"
    await hub(ada, "issue", "create", "-m", "The second")
    pages = await hub(ada, "api", "--paginate", "--flat", "repos/{owner}/{repo}/issues?per_page=1&direction=asc")
    assert [line for line in pages.splitlines() if line.startswith(".[0].number")] == [
        f".[0].number\t{first}" for first in (1, 2)
    ]
