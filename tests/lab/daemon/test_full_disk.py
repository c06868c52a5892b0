"""A disk that is really full: a file system of a few megabytes, which only root can mount."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from fakes.clock import HandClock
from git_remote import ENGINE, ENVIRONMENT, commit_to, machine, remote_at, work, workspace_of

from config.state import StateDirectory
from shared import process
from shared.filesystem.disk_space import DiskFull, free_bytes, mount_of
from shared.git.command import Git, Signature
from shared.git.publisher import keep
from shared.llm.kept_sessions import FoundSession, KeptSession, ResumeLimits, SessionStore, session_file
from shared.workflow import Role

pytestmark = pytest.mark.fault(29)
SIZE = 4 * 2**20


async def _system(*argv: str) -> int:
    return (await process.run(argv, cwd=Path("/"), env=ENVIRONMENT)).code


@pytest.fixture
async def small(tmp_path: Path) -> AsyncIterator[Path]:
    """Yield a mounted file system of 4 MiB."""
    place = tmp_path / "small"
    place.mkdir()
    if os.geteuid() != 0 or await _system("mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)) != 0:
        pytest.skip("only root may mount a small file system, and not everywhere")
    yield place
    assert await _system("umount", "--lazy", str(place)) == 0


def fill(place: Path) -> Path:
    """Leave nothing."""
    ballast = place / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return ballast


def names(place: Path) -> set[str]:
    return {path.name for path in place.rglob("*")}


async def test_every_write_names_the_mount_and_works_again_when_there_is_room(small: Path, tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path / "far", str(remote.path))
    space, base = await workspace_of(mirror), await mirror.tip("main") or ""
    commit = await work(space, base, {"src/new.py": "x = 1\n" * 2000})
    with StateDirectory(small / "state").open().claim_identity(Role.WORKER) as identity:
        ballast = fill(small)
        assert free_bytes(small) == 0
        assert mount_of(small / "a" / "b") == small
        with pytest.raises(DiskFull, match=f"No space is left on {small} "):
            identity.remember("a" * 32)
        with pytest.raises(DiskFull, match=f"No space is left on {small} "):
            await keep(space.git, base, commit, small / "state" / "kept")
        assert "patch.diff" not in names(small)
        ballast.unlink()
        identity.remember("a" * 32)
        kept = await keep(space.git, base, commit, small / "state" / "kept")
    assert kept is not None
    assert "+x = 1" in kept.read_text()
    assert [name for name in names(small) if name.startswith(".") or name.endswith(".new")] == []


async def test_a_commit_that_finds_no_room(small: Path) -> None:
    git = Git(small / "x.git", ENVIRONMENT)
    await git.init()
    ballast = fill(small)
    for _ in range(2):
        with pytest.raises(DiskFull, match=f"No space is left on {small} "):
            await git.commit(await git.store("tree", b""), [], "m\n", Signature(ENGINE))
    assert [name for name in names(small / "x.git" / "objects") if name.startswith("tmp_")] == []
    ballast.unlink()
    made = await git.commit(await git.store("tree", b""), [], "m\n", Signature(ENGINE))
    assert (await git.run("log", "-1", "--format=%B", made)).text == "m"


async def test_a_clone_and_a_fetch_that_find_no_room(small: Path, tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    near = small / "near"
    near.mkdir()
    mirror = await machine(near, str(remote.path))
    await commit_to(remote, "main", {"big.txt": os.urandom(200_000).hex()})
    ballast = fill(small)
    with pytest.raises(DiskFull, match=f"No space is left on {small} "):
        await mirror.fetch()
    with pytest.raises((DiskFull, OSError), match="No space"):
        await workspace_of(mirror)
    ballast.unlink()
    await mirror.fetch()
    assert await mirror.tip("main") == await remote.sha("main")
    assert (await workspace_of(mirror)).git.git_dir.is_dir()


async def test_a_session_for_which_there_is_no_room_is_not_kept_and_leaves_nothing(small: Path) -> None:
    store = SessionStore(small / "sessions", HandClock(), ResumeLimits())
    file = session_file(store.root / "ada__directory" / "issue-1" / "worker-1", "implement")
    found = FoundSession("a-1", (".claude", "a-1.jsonl"), b"{}\n" * 10_000, 1, {})
    kept = KeptSession(found, "as then", "its text", "t1", ended_at=1000.0)
    store.write(file, kept)
    assert store.read(file) == kept
    ballast = fill(small)
    store.write(file, replace(kept, found=replace(found, content=found.content * 10)))
    assert store.read(file) in (None, kept), "the one before, or none, but no part of one"
    assert [path.name for path in store.root.rglob("*.partial")] == []
    assert store.claim(file)
    ballast.unlink()
    store.write(file, kept)
    assert store.read(file) == kept
