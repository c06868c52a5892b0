"""Planned faults on git's paths, as git itself sees them, and what has happened on the server all the same."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from lab_scene import NAME, Scene
from security.ladder import PLANTED

from lab.github.fault_injection.faults import Fault, FaultKind
from lab.github.repositories.git_command import environment
from shared import process

PUSH = ("POST", r"\.git/git-receive-pack$")
FETCH = ("POST", r"\.git/git-upload-pack$")


@dataclass
class Copy:
    """A clone of the repository by ada, with one commit that is not pushed."""

    scene: Scene
    directory: Path

    async def git(self, *argv: str) -> process.Finished:
        identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        return await process.run(("git", *identity, *argv), cwd=self.directory, env=environment())

    async def push(self, branch: str) -> process.Finished:
        return await self.git("push", "--quiet", "origin", f"HEAD:refs/heads/{branch}")

    async def branches(self) -> list[str]:
        return [ref.rpartition("/")[2] for ref in await self.scene.repository.bare.refs("refs/heads/")]

    def plan(self, kind: FaultKind, place: tuple[str, str], **more: Any) -> Fault:
        return self.scene.lab.faults.plan(Fault(kind, *place, **more))


@pytest.fixture
async def copy(scene: Scene, tmp_path: Path) -> AsyncIterator[Copy]:
    await scene.get("issues")
    url = scene.lab.git_url(NAME).replace("http://", f"http://x:{scene.tokens['ada']}@")
    here = Copy(scene, tmp_path)
    (tmp_path / PLANTED).touch()  # this clone, unlike any of the engine's, has the token in its address
    assert (await here.git("clone", "--quiet", url, "copy")).code == 0
    here.directory = tmp_path / "copy"
    assert (await here.git("commit", "--quiet", "--allow-empty", "-m", "One more")).code == 0
    yield here
    assert (await here.push("fine")).code == 0, "nothing of the fault remains"


@pytest.mark.parametrize(
    ("kind", "arrived"),
    [
        (FaultKind.LOST_REQUEST, False),
        (FaultKind.LOST_REPLY, True),
        (FaultKind.RESET, True),
        (FaultKind.ERROR_BEFORE, False),
        (FaultKind.ERROR_AFTER, True),
        (FaultKind.HTML, True),
        (FaultKind.EMPTY, True),
        (FaultKind.PRIMARY_LIMIT, False),
        (FaultKind.SECONDARY_LIMIT, False),
    ],
)
async def test_a_push_that_went_wrong_has_or_has_not_arrived(copy: Copy, kind: FaultKind, arrived: bool) -> None:
    twice = kind in {FaultKind.LOST_REQUEST, FaultKind.LOST_REPLY}
    copy.plan(kind, PUSH, times=2 if twice else 1)  # curl repeats what was lost without any answer
    assert (await copy.push("work")).code != 0
    assert ("work" in await copy.branches()) is arrived


async def test_a_late_push_moves_its_branch_when_its_time_has_come(copy: Copy) -> None:
    copy.plan(FaultKind.LATE, PUSH, seconds=300, times=2)
    assert (await copy.push("work")).code != 0
    assert await copy.branches() == ["main"]
    copy.scene.lab.clock.advance(300)
    await copy.scene.get("branches")
    assert await copy.branches() == ["main", "work"]


async def test_a_late_push_loses_to_whoever_moved_the_branch_first(copy: Copy) -> None:
    copy.plan(FaultKind.LATE, PUSH, seconds=300, times=2)
    assert (await copy.push("work")).code != 0
    theirs = await copy.scene.commit("work", {"theirs.txt": "theirs\n"})
    copy.scene.lab.clock.advance(300)
    await copy.scene.get("branches")
    assert await copy.scene.repository.bare.sha("refs/heads/work") == theirs


async def test_a_push_executed_twice_moves_its_branch_once(copy: Copy) -> None:
    copy.plan(FaultKind.TWICE, PUSH)
    assert (await copy.push("work")).code == 0
    tip = (await copy.git("rev-parse", "HEAD")).stdout.decode().strip()
    assert await copy.scene.repository.bare.sha("refs/heads/work") == tip


async def test_a_push_whose_reply_was_lost_is_repeated_by_curl_and_refused(copy: Copy) -> None:
    copy.plan(FaultKind.LOST_REPLY, PUSH)
    finished = await copy.push("work")
    assert (finished.code, "already exists" in finished.stderr.decode()) == (1, True)
    assert await copy.branches() == ["main", "work"], "it was refused because it had arrived"


@pytest.mark.parametrize("after", [1, 100])
async def test_a_fetch_is_cut_in_the_middle_of_its_pack(copy: Copy, after: int) -> None:
    await copy.scene.commit("theirs", {f"{n}.txt": f"{n}\n" * 100 for n in range(20)})
    copy.plan(FaultKind.RESET, FETCH, after_bytes=after, nth=2)  # the first asks for refs
    assert (await copy.git("fetch", "--quiet", "origin")).code != 0
    assert (await copy.git("rev-parse", "--verify", "--quiet", "refs/remotes/origin/theirs")).code != 0
    assert (await copy.git("fetch", "--quiet", "origin")).code == 0
    assert (await copy.git("fsck", "--strict")).code == 0


@pytest.mark.parametrize(
    ("status", "says"), [(403, "returned error: 403"), (404, "not found"), (503, "returned error: 503")]
)
async def test_git_sees_the_status(copy: Copy, status: int, says: str) -> None:
    copy.plan(FaultKind.ERROR_BEFORE, ("GET", r"\.git/info/refs$"), status=status)
    finished = await copy.push("work")
    assert finished.code != 0
    assert says in finished.stderr.decode()


async def test_a_revoked_token_is_asked_for_again(copy: Copy) -> None:
    copy.scene.lab.faults.plan(Fault(FaultKind.TOKEN_REVOKED, path=r"\.git/info/refs$", login="ada"))
    finished = await copy.push("work")
    assert finished.code != 0
    assert "Authentication failed" in finished.stderr.decode()
    url = copy.scene.lab.git_url(NAME).replace("http://", f"http://x:{copy.scene.tokens['reader']}@")
    copy.scene.tokens["ada"] = copy.scene.lab.token("ada", {"contents": "write"})
    assert (await copy.git("ls-remote", url)).code == 0, "the other token of the same person still works"
    await copy.git("remote", "set-url", "origin", url.replace(copy.scene.tokens["reader"], copy.scene.tokens["ada"]))


async def test_faults_of_the_api_do_not_hit_git(copy: Copy) -> None:
    fault = copy.plan(FaultKind.TRUNCATED, ("", ""))
    assert (await copy.push("work")).code == 0
    assert copy.scene.lab.faults.unused == [fault]
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        await copy.scene.ask("GET", "branches")


async def test_an_advertisement_can_be_lost(copy: Copy) -> None:
    copy.plan(FaultKind.LOST_REPLY, ("GET", r"\.git/info/refs$"), times=2)  # aiohttp asks twice
    login = base64.b64encode(f"x:{copy.scene.tokens['ada']}".encode()).decode()
    url = f"{copy.scene.lab.git_url(NAME)}/info/refs?service=git-upload-pack"
    with pytest.raises(aiohttp.ClientError):
        await copy.scene.http.get(url, headers={"Authorization": f"Basic {login}"})
