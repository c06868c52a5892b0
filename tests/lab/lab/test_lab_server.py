"""The lab as a whole: what it keeps between runs, and how it runs alone."""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
from pathlib import Path

import aiohttp
import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream
from judge import Judge
from lab_scene import NAME, Scene, scene_at

from lab import target_project
from lab.__main__ import furnish
from lab.github.http.refusals import Moved
from lab.github.repositories.git_command import environment
from lab.github.server import Lab
from lab.github.world.store import VERSION
from shared import process


async def relate(scene: Scene) -> None:
    """Give issue 1 a sub-issue, a blocker and a reaction; transfer issue 4; install an App."""
    first, second = (scene.lab.issue(NAME, title, author="ada") for title in ("Part", "Lost"))
    scene.repository.relations.adopt(1, first.id, "ada", replace=False)
    scene.lab.block(NAME, 1, by=first.number, actor="ada")
    hello = scene.lab.comment(NAME, 1, "Hello", author="ada")
    await scene.ask("POST", f"issues/comments/{hello.id}/reactions", {"content": "heart"})
    await scene.lab.repository("octo/elsewhere", {"a": "a\n"})
    scene.lab.transfer(NAME, second.number, "octo/elsewhere", actor="octo")
    scene.lab.install(scene.lab.app("engine", owner="octo", public_key="", permissions={}), NAME)


async def test_everything_is_there_again_after_a_restart(tmp_path: Path, judge: Judge) -> None:
    async with scene_at(tmp_path / "lab", judge) as scene:
        scene.lab.issue(NAME, "Add search", author="bob", labels=("story",))
        scene.lab.clock.advance(60)
        pull = await scene.pull(body="Closes #1")
        remark = {"path": "src/letters.txt", "line": 4, "body": "Hm"}
        await scene.ask("POST", "pulls/2/reviews", {"event": "APPROVE", "comments": [remark]}, by="octo")
        checks = scene.repository.checks
        checks.finish(checks.start(pull["head"]["sha"], "test"), "success", "fine", "log")
        await relate(scene)
        scene.lab.rename(NAME, "octo/other")
        await scene.get("/repos/octo/other/pulls/2")
        tokens = scene.tokens
        before = [await scene.get(f"/repos/octo/other/{path}") for path in PAGES]
    async with Lab(tmp_path / "lab") as lab, aiohttp.ClientSession() as http:
        sent = {"Authorization": f"Bearer {tokens['ada']}"}
        after = []
        for path in PAGES:
            async with http.get(f"{lab.url}/repos/octo/other/{path}", headers=sent) as answer:
                after.append(json.loads((await answer.text()).replace(lab.url, "LAB")))
        assert after == [json.loads(json.dumps(page).replace(scene.lab.url, "LAB")) for page in before]
        assert lab.issue("octo/other", "Next", author="bob").number == 5
        app = lab.world.apps.written_by("engine[bot]")
        assert app is not None
        assert lab.world.apps.installation_in(app, lab.at("octo/other").facts.id) is not None
        with pytest.raises(Moved):
            lab.at("octo/other").issues.require(4)
        assert lab.world.moved(NAME) is lab.at("octo/other")


PAGES = (
    "issues?state=all",
    "issues/1/events",
    "issues/1/timeline",
    "issues/1/sub_issues",
    "issues/1/dependencies/blocked_by",
    "issues/1/comments",
    "labels",
    "pulls/2",
    "pulls/2/reviews",
    "pulls/2/comments",
    "commits/work/check-runs",
    "branches",
)


async def test_identities_keep_their_tokens(tmp_path: Path) -> None:
    runs = []
    for _ in range(2):
        async with Lab(tmp_path / "lab") as lab:
            runs.append(await furnish(lab, "octo/demo"))
            assert len(lab.world.repositories) == 1
    assert runs[0] == runs[1]
    assert runs[0].keys() == {"maintainer", "engine-bot", "reviewer-bot"}


async def test_observers_see_each_exchange_whole(tmp_path: Path, judge: Judge) -> None:
    async with scene_at(tmp_path / "lab", judge) as scene:
        await scene.ask("POST", "issues", {"title": "Seen"})
        exchange = list(scene.lab.exchanges)[-1]
    assert (exchange.method, exchange.template) == ("POST", "/repos/{owner}/{repo}/issues")
    assert (exchange.path, exchange.status) == (f"/repos/{NAME}/issues", 201)
    assert json.loads(exchange.request_body) == {"title": "Seen"}
    assert json.loads(exchange.response_body)["title"] == "Seen"


async def test_it_runs_alone_and_stops_on_term(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "lab", "--state", str(tmp_path / "state"), "--socket", str(tmp_path / "lab.sock")]
    log, root = tmp_path / "log", Path(__file__).parents[3]
    with anyio.fail_after(30):
        async with process.piped([*argv, "--repo", "octo/demo"], cwd=root, env=environment(), log=log) as child:
            assert child.stdout is not None
            spoken = (await BufferedByteReceiveStream(child.stdout).receive_until(b"}\n", 4096)).decode()
            facts = json.loads(spoken.splitlines()[-1] + "}")
            assert f"engine-bot-token: {facts['engine-bot-token']}" in spoken
            sent = {"Authorization": f"Bearer {facts['engine-bot-token']}"}
            connector = aiohttp.UnixConnector(str(tmp_path / "lab.sock"))
            async with aiohttp.ClientSession(connector=connector, headers=sent) as http:
                async with http.get("http://lab/user") as answer:
                    assert (await answer.json())["login"] == "engine-bot"
                async with http.get("http://lab/repos/octo/demo/contents/") as answer:
                    names = {entry["name"] for entry in await answer.json()}
                    assert names == {path.partition("/")[0] for path in target_project.files()}
            child.send_signal(signal.SIGTERM)
            assert await child.wait() == 0
    assert json.loads((tmp_path / "state" / "world.json").read_text())["version"] == VERSION


def beside(path: Path) -> Path:
    """Return the same path, relative to the working directory of the tests."""
    return Path(os.path.relpath(path))


async def test_a_relative_state_directory_serves_git_too(tmp_path: Path) -> None:
    async with Lab(beside(tmp_path / "state")) as lab, aiohttp.ClientSession() as http:
        await lab.repository(NAME, {"README.md": "hello\n"})
        secret = base64.b64encode(f"x:{lab.token('octo', {'contents': 'read'})}".encode()).decode()
        where = f"{lab.git_url(NAME)}/info/refs?service=git-upload-pack"
        async with http.get(where, headers={"Authorization": f"Basic {secret}"}) as answer:
            assert answer.status == 200
            assert b"refs/heads/main" in await answer.read()
