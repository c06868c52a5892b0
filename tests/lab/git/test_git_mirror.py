"""The mirror: fetched by one at a time, an exact copy of the server's branches, and read without surprises."""

from __future__ import annotations

import asyncio
from pathlib import Path

import anyio
import pytest
from git_remote import ENVIRONMENT, commit_to, machine, remote_at, work, workspace_of

from shared.errors import Gone, Misconfigured, Transient
from shared.filesystem import directories
from shared.filesystem.file_lock import FileLock
from shared.git.command import Git
from shared.git.failures import NoSuchRef, TooMuchOutput
from shared.git.mirror import Mirror
from shared.process import CommandFailed


async def test_ten_fetches_at_once_all_succeed_while_the_branch_moves(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    again = Mirror(mirror.git, mirror.url)  # another process: it shares only the lock file
    newest = ""
    for number in range(2):
        newest = await commit_to(remote, "main", {"README.md": f"{number}\n"})
        await asyncio.gather(*(which.fetch() for which in (mirror, again) * 5))
    assert await mirror.tip("main") == newest


async def test_a_fetch_forgets_branches_that_the_server_deleted(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    await commit_to(remote, "topic", {"a": "a"})
    await mirror.fetch()
    assert await mirror.tip("topic") is not None
    await remote.update_ref("refs/heads/topic", None)
    deeper = await commit_to(remote, "topic/deeper", {"a": "a"})
    await mirror.fetch()
    assert (await mirror.tip("topic"), await mirror.tip("topic/deeper")) == (None, deeper)


async def test_a_missing_ref_is_none_and_its_old_copy_goes(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    ref, commit = "refs/notes/workflow/issue-1", await remote.sha("main")
    assert await mirror.refresh(ref) is None
    await remote.update_ref(ref, commit)
    assert await mirror.refresh(ref) == commit
    await remote.update_ref(ref, None)
    assert await mirror.refresh(ref) is None
    assert await mirror.sha(ref) is None
    with pytest.raises(NoSuchRef):
        await mirror.fetch(f"+{ref}:{ref}")


async def test_a_mirror_that_was_interrupted_is_made_again(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    half = tmp_path / "mirror.git.new"
    half.mkdir()
    (half / "HEAD").write_text("ref: refs/heads/main\n")
    mirror = await machine(tmp_path, str(remote.path))
    assert await mirror.tip("main") == await remote.sha("main")
    assert not half.exists()


DAMAGES = ["HEAD", "packed-refs", "refs/heads/main", "objects/*/*"]
"""Files of a mirror that a power cut may leave empty, or with what stood on the disk before."""


@pytest.mark.parametrize("content", [b"", b"\0" * 40], ids=["empty", "zeros"])
@pytest.mark.parametrize("damaged", DAMAGES)
async def test_a_mirror_that_a_power_cut_has_damaged_is_made_again(
    tmp_path: Path, damaged: str, content: bytes
) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    (mirror.git.git_dir / "packed-refs").touch()
    for file in [one for one in mirror.git.git_dir.glob(damaged) if one.is_file()]:
        file.unlink()  # what is linked elsewhere stays
        file.write_bytes(content)
    await mirror.git.leave()
    newest = await commit_to(remote, "main", {"README.md": "new\n"})
    restarted = Mirror(mirror.git, mirror.url)
    await restarted.ensure()
    await restarted.fetch()
    assert await restarted.tip("main") == newest
    await restarted.git.run("fsck", "--strict")


async def test_a_server_that_fails_does_not_cost_the_mirror(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    here, place = await mirror.tip("main"), mirror.git.git_dir.stat().st_ino
    await commit_to(remote, "main", {"README.md": "new\n"})
    for file in remote.path.glob("objects/*/*"):
        file.unlink()
        file.touch()
    with pytest.raises((CommandFailed, Transient)):
        await mirror.fetch()
    assert (await mirror.tip("main"), mirror.git.git_dir.stat().st_ino) == (here, place)


async def test_the_lock_file_of_a_killed_git_does_not_stop_the_next_fetch(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    newest = await commit_to(remote, "main", {"README.md": "new\n"})
    (mirror.git.git_dir / "refs" / "heads").mkdir(exist_ok=True)
    (mirror.git.git_dir / "refs" / "heads" / "main.lock").touch()
    await mirror.fetch()
    assert await mirror.tip("main") == newest


async def test_the_mirror_answers_about_history_and_files(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    base = await remote.sha("main") or ""
    head = await commit_to(remote, "topic", {"src/app.py": "VALUE = 2\n", "-x y.md": "odd\n"}, parent=base)
    later = await commit_to(remote, "main", {"README.md": "# Other\n"})
    await mirror.fetch()
    assert await mirror.is_ancestor(base, head)
    assert not await mirror.is_ancestor(head, later)
    assert await mirror.show(head, "-x y.md") == b"odd\n"
    assert [await mirror.show(base, path) for path in ("-x y.md", "src", "../x", "./x", "a\nb", "/x")] == [None] * 6
    assert await mirror.paths(head) == ("-x y.md", ".gitignore", "README.md", *sorted_rest(await mirror.paths(base)))
    diff = await mirror.diff(later, head)
    assert "+VALUE = 2" in diff
    assert "# Other" not in diff
    newest, first = await mirror.log("refs/heads/main", 5)
    assert (newest.oid, newest.parents, newest.subject, first.oid) == (later, (base,), "Change", base)
    assert await mirror.message(later) == "Change"


def sorted_rest(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(path for path in paths if "/" in path)


async def test_an_output_too_large_to_keep_is_never_taken_for_whole(tmp_path: Path) -> None:
    git = Git(tmp_path / "x.git", ENVIRONMENT)
    await git.init()
    with pytest.raises(TooMuchOutput, match="16 MiB"):
        await git.run("-c", "alias.flood=!head -c 17000000 /dev/zero", "flood")


async def test_a_commit_is_adopted_with_all_it_needs(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    workspace = await workspace_of(mirror)
    base = await mirror.tip("main") or ""
    first = await work(workspace, base, {"a.txt": "a\n"})
    second = await work(workspace, first, {"b.txt": "b\n"})
    assert await mirror.sha(second) is None
    await mirror.adopt(workspace.git, second)
    directories.remove(workspace.root)
    assert await mirror.is_ancestor(base, second)
    assert await mirror.show(second, "a.txt") == b"a\n"


async def test_a_repository_that_is_not_there_is_gone_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(Gone):
        await machine(tmp_path, str(tmp_path / "nowhere"))
    assert not (tmp_path / "mirror.git").exists()


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/acme/app.git",
        "ssh://git@example.org/acme/app.git",
        "git@example.org:acme/app.git",
        "ext::sh -c date",
        "https://token@example.org/acme/app.git",
        "--upload-pack=date",
    ],
)
async def test_no_other_protocol_is_ever_tried(tmp_path: Path, url: str) -> None:
    git = Git(tmp_path / "x.git", ENVIRONMENT)
    with pytest.raises(Misconfigured):
        await git.fetch(url, "+refs/heads/*:refs/heads/*")


async def test_a_cancelled_wait_for_the_lock_lets_the_next_one_in(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    mine, theirs = FileLock(path), FileLock(path)
    async with mine.held():
        with anyio.move_on_after(0.1) as waiting:
            async with theirs.held():
                pytest.fail("two held the lock at once")
        assert waiting.cancelled_caught
    with anyio.fail_after(5):
        async with theirs.held():
            pass


async def test_the_machine_s_own_git_settings_do_not_reach_us(tmp_path: Path) -> None:
    poison = {"GIT_DIR": str(tmp_path / "other"), "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare"}
    secret = {"GITHUB_TOKEN": "ghp_canary", "HOME": str(tmp_path), "GIT_CONFIG_VALUE_0": "perhaps"}
    (tmp_path / ".gitconfig").write_text("[alias]\n\tspy = !env\n")
    git = Git(tmp_path / "x.git", ENVIRONMENT | poison | secret)
    await git.init()
    finished = await git.run("-c", "alias.look=!env", "look")
    assert str(tmp_path / "x.git") in finished.text
    assert "ghp_canary" not in finished.text
    assert str(tmp_path / "other") not in finished.text
    assert (await git.run("config", "--get", "alias.spy", ok=(1,))).code == 1


async def test_without_git_the_sentence_says_so(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="no git on PATH"):
        await Git(tmp_path / "x.git", {"PATH": str(tmp_path)}).init()
