"""Care of the disk: mirrors stay packed while others fetch, unused workspaces go, nothing that is needed is lost."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import anyio
from git_remote import ENGINE, commit_to, machine, remote_at, workspace_of

from lab.github.clock import LabClock
from shared.git.disk import IDLE_SECONDS, SWEEP_SECONDS, Disk, survey
from shared.git.mirror import LOOSE_OBJECTS, Mirror
from shared.git.workspace import Workspace


async def loose(mirror: Mirror) -> int:
    """Return the number of loose objects."""
    return int((await mirror.git.run("count-objects")).text.split()[0])


async def scatter(mirror: Mirror, count: int) -> list[str]:
    """Make loose objects that a ref leads to; return their ids."""
    names = mirror.git.git_dir.parent / "blobs"
    names.mkdir(exist_ok=True)
    for n in range(count):
        (names / str(n)).write_text(str(n))
    paths = "\n".join(str(names / str(n)) for n in range(count)).encode()
    blobs = (await mirror.git.run("hash-object", "-w", "--stdin-paths", stdin=paths)).text.split()
    entries = "".join(f"100644 blob {oid}\tf{n}\n" for n, oid in enumerate(blobs)).encode()
    tree = (await mirror.git.run("mktree", stdin=entries)).text
    await mirror.git.run("update-ref", "refs/scattered", tree)
    return blobs


async def test_a_mirror_with_many_loose_objects_is_packed_while_others_fetch(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    again = Mirror(mirror.git, mirror.url)  # another process
    blobs = await scatter(mirror, LOOSE_OBJECTS + 1)
    newest = await commit_to(remote, "main", {"README.md": "new\n"})
    packed, *_ = await asyncio.gather(mirror.pack(), *(which.fetch() for which in (again, mirror) * 5))
    assert packed
    assert await loose(mirror) < 20
    assert await mirror.tip("main") == newest
    for oid in (blobs[0], blobs[-1]):
        assert (await mirror.git.run("cat-file", "-t", oid)).text == "blob"
    assert not await mirror.pack()


async def test_what_is_about_to_be_pushed_survives_packing(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    await scatter(mirror, LOOSE_OBJECTS + 1)
    adopted = (await mirror.git.run("hash-object", "-w", "--stdin", stdin=b"no ref leads here yet")).text
    assert await mirror.pack()
    assert (await mirror.git.run("cat-file", "-t", adopted)).text == "blob"


async def test_a_workspace_survives_the_packing_of_its_mirror(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    space = await workspace_of(mirror)
    await scatter(mirror, LOOSE_OBJECTS + 1)
    assert await mirror.pack()
    tip = await mirror.tip("main")
    assert tip is not None
    assert (await space.checkout(tip, "evidence") / "README.md").exists()
    await space.git.run("fsck", "--strict")


async def test_idle_workspaces_go_once_per_sweep_and_held_ones_stay(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    places = tmp_path / "workspaces"
    old, held, fresh = (places / "acme__app" / f"issue-{n}" for n in (1, 2, 3))
    for place in (old, held, fresh):
        (place / "tree").mkdir(parents=True)
        (place / "tree" / "file").write_bytes(b"x" * 10_000)
    for place in (old, held):
        used = place.stat().st_mtime - IDLE_SECONDS - 60
        os.utime(place, (used, used))
    clock = LabClock()
    left: list[tuple[Path, bool]] = []

    async def leave(place: Path) -> None:
        left.append((place, await anyio.Path(place).exists()))

    keeper = Disk(mirror, places, clock, leave)
    assert await keeper.sweep({held}) == (old,)
    assert left == [(old, True)], "before it went, and nothing that stays"
    assert (old.exists(), held.exists(), fresh.exists()) == (False, True, True)
    assert await keeper.sweep(()) == ()
    clock.advance(SWEEP_SECONDS)
    assert await keeper.sweep(()) == (held,)


async def test_opening_a_workspace_makes_it_used(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    space = await workspace_of(mirror)
    os.utime(space.root, (0, 0))
    await Workspace.open(space.root, mirror, ENGINE)
    assert space.root.stat().st_mtime > 1_000_000


def test_a_survey_counts_only_what_removing_frees(tmp_path: Path) -> None:
    place = tmp_path / "workspaces" / "acme__app" / "issue-7"
    place.mkdir(parents=True)
    (place / "own").write_bytes(b"x" * 100_000)
    (tmp_path / "pack").write_bytes(b"x" * 1_000_000)
    (place / "pack").hardlink_to(tmp_path / "pack")
    (place / "link").symlink_to(tmp_path / "pack")
    (found,) = survey(tmp_path / "workspaces")
    assert found.path == place
    assert 100_000 <= found.bytes < 200_000
    assert survey(tmp_path / "absent") == ()


async def test_a_mirror_that_cannot_be_packed_keeps_nobody_from_working(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    broken = Mirror(mirror.git.at(tmp_path / "absent.git"), mirror.url)
    assert await Disk(broken, tmp_path / "workspaces", LabClock()).sweep(()) == ()


async def test_what_an_interrupted_removal_left_goes_too(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    place = tmp_path / "workspaces" / "acme__app" / "issue-1.removed"
    place.mkdir(parents=True)
    os.utime(place, (0, 0))
    assert await Disk(mirror, tmp_path / "workspaces", LabClock()).sweep(()) == (place,)
    assert not place.exists()
