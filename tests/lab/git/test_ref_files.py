"""Refs read and moved by their files: what git says of them, and nothing where git would refuse or knows better."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_remote import AT, ENGINE, ENVIRONMENT

from shared.git import ref_files
from shared.git.command import Git, Signature

REF = "refs/notes/workflow/issue-1"


@pytest.fixture
async def git(tmp_path: Path) -> Git:
    git = Git(tmp_path / "x.git", ENVIRONMENT)
    await git.init()
    return git


async def commits(git: Git, count: int) -> list[str]:
    tree = await git.store("tree", b"")
    return [await git.commit(tree, [], f"{number}\n", Signature(ENGINE, AT)) for number in range(count)]


async def told(git: Git, prefix: str) -> dict[str, str]:
    """Return the refs below a prefix, as git lists them."""
    listed = (await git.run("for-each-ref", "--format=%(refname) %(objectname)", prefix)).text
    return dict(line.split(" ") for line in listed.splitlines())


async def test_refs_are_read_as_by_git_loose_or_packed(git: Git) -> None:
    one, two, three = await commits(git, 3)
    assert ref_files.below(git.git_dir, "refs/heads/") == {}
    for ref, oid in (("a", one), ("b/c", one), ("ü", two), ("x\u00a0\u2003y", two), ("gone", one)):
        await git.run("update-ref", f"refs/heads/{ref}", oid)
    await git.run("update-ref", REF, three)
    assert ref_files.below(git.git_dir, "refs/heads/") == await told(git, "refs/heads/")
    await git.run("pack-refs", "--all")
    assert ref_files.below(git.git_dir, "refs/heads/") == await told(git, "refs/heads/")
    await git.run("update-ref", "refs/heads/a", two)
    await git.run("update-ref", "-d", "refs/heads/gone")
    (git.git_dir / "refs" / "heads" / "a.lock").touch()
    found = ref_files.below(git.git_dir, "refs/heads/")
    assert found == await told(git, "refs/heads/")
    left = {"a": two, "b/c": one, "ü": two, "x\u00a0\u2003y": two}
    assert found == {f"refs/heads/{name}": oid for name, oid in left.items()}
    assert ref_files.below(git.git_dir, "refs/notes/") == {REF: three}


async def test_what_is_unusual_is_left_to_git(git: Git) -> None:
    (one,) = await commits(git, 1)
    await git.run("symbolic-ref", "refs/heads/other", "refs/heads/main")
    assert ref_files.below(git.git_dir, "refs/heads/") is None
    assert not ref_files.move(git.git_dir, "refs/heads/other", one)
    assert await told(git, "refs/heads/") == {}
    assert ref_files.below(git.git_dir / "nothing", "refs/heads/") is None
    assert not ref_files.move(git.git_dir / "nothing", "refs/heads/main", one)
    (git.git_dir / "reftable").mkdir()
    assert ref_files.below(git.git_dir, "refs/notes/") is None
    assert not ref_files.move(git.git_dir, REF, one)
    assert not (git.git_dir / REF).exists()


async def test_a_ref_moves_only_from_where_it_is_expected(git: Git) -> None:
    one, two, three = await commits(git, 3)
    assert not ref_files.move(git.git_dir, REF, one, two)
    assert await told(git, "refs/") == {}
    assert ref_files.move(git.git_dir, REF, one, "")
    assert await told(git, "refs/") == {REF: one}
    assert not ref_files.move(git.git_dir, REF, two, "")
    assert not ref_files.move(git.git_dir, REF, two, three)
    assert ref_files.move(git.git_dir, REF, two, one)
    await git.run("pack-refs", "--all")
    assert not ref_files.move(git.git_dir, REF, three, one)
    assert ref_files.move(git.git_dir, REF, three, two)
    assert ref_files.move(git.git_dir, REF, one)
    assert await told(git, "refs/") == {REF: one}
    await git.run("fsck", "--strict")
    assert not list(git.git_dir.rglob("*.lock"))


async def test_a_ref_that_is_not_packed_is_deleted(git: Git) -> None:
    one, two = await commits(git, 2)
    assert ref_files.move(git.git_dir, REF, "")
    assert ref_files.move(git.git_dir, REF, one)
    assert not ref_files.move(git.git_dir, REF, "", two)
    assert ref_files.move(git.git_dir, REF, "", one)
    assert await told(git, "refs/") == {}
    assert ref_files.move(git.git_dir, REF, one)
    await git.run("pack-refs", "--all")
    assert ref_files.move(git.git_dir, REF, two)
    assert not ref_files.move(git.git_dir, REF, "")
    assert await told(git, "refs/") == {REF: two}
    assert not list(git.git_dir.rglob("*.lock"))


@pytest.mark.parametrize("packed", [False, True])
async def test_no_ref_comes_where_git_would_refuse_it(git: Git, packed: bool) -> None:
    one, two = await commits(git, 2)
    await git.run("update-ref", "refs/heads/a/b", one)
    if packed:
        await git.run("pack-refs", "--all")
    for ref in ("refs/heads/a", "refs/heads/a/b/c"):
        assert (await git.run("update-ref", ref, two, ok=(128,))).code
        assert not ref_files.move(git.git_dir, ref, two)
    assert await told(git, "refs/") == {"refs/heads/a/b": one}


async def test_a_lock_that_somebody_holds_stays(git: Git) -> None:
    one, two = await commits(git, 2)
    assert ref_files.move(git.git_dir, REF, one)
    lock = git.git_dir / f"{REF}.lock"
    lock.touch()
    assert not ref_files.move(git.git_dir, REF, two)
    assert lock.exists()
    assert await told(git, "refs/") == {REF: one}


class Busy(type(Path())):  # type: ignore[misc]
    """A path that another process locks as soon as it has been let go."""

    def replace(self, target: Path) -> Path:
        made = super().replace(target)
        self.touch(exist_ok=False)
        return Path(made)


async def test_a_lock_that_somebody_takes_right_after_stays(git: Git) -> None:
    one, two = await commits(git, 2)
    assert ref_files.move(Busy(git.git_dir), REF, one)
    assert (git.git_dir / f"{REF}.lock").exists()
    assert not ref_files.move(git.git_dir, REF, two)
    assert await told(git, "refs/") == {REF: one}


async def test_nothing_is_deleted_while_refs_are_packed(git: Git) -> None:
    (one,) = await commits(git, 1)
    assert ref_files.move(git.git_dir, REF, one)
    packing = git.git_dir / "packed-refs.lock"
    packing.touch()
    assert not ref_files.move(git.git_dir, REF, "", one)
    assert packing.exists()
    assert await told(git, "refs/") == {REF: one}
    packing.unlink()
    assert ref_files.move(git.git_dir, REF, "", one)
    assert await told(git, "refs/") == {}
    assert not list(git.git_dir.rglob("*.lock"))


@pytest.mark.parametrize("ref", ["refs/../config", "HEAD", "refs/heads/x.lock", "refs/heads/../../config"])
async def test_no_other_file_is_a_ref(git: Git, ref: str) -> None:
    (one,) = await commits(git, 1)
    before = (git.git_dir / "config").read_bytes()
    with pytest.raises(ValueError, match="is not a full ref name"):
        ref_files.move(git.git_dir, ref, one)
    assert (git.git_dir / "config").read_bytes() == before


async def test_one_ref_is_read_as_by_git_loose_or_packed(git: Git) -> None:
    one, two = await commits(git, 2)
    await git.run("update-ref", "refs/heads/a", one)
    await git.run("update-ref", "refs/heads/b/c", one)
    await git.run("pack-refs", "--all")
    await git.run("update-ref", "refs/heads/a", two)
    await git.run("symbolic-ref", "refs/heads/other", "refs/heads/a")
    read = {name: ref_files.tip(git.git_dir, f"refs/heads/{name}") for name in ("a", "b/c", "b", "a/x", "no")}
    assert read == {"a": two, "b/c": one, "b": "", "a/x": "", "no": ""}
    unusual = ("refs/heads/other", "refs/heads/../a", "refs/heads/a^{commit}")
    assert [ref_files.tip(git.git_dir, ref) for ref in unusual] == [None] * 3
    assert ref_files.tip(git.git_dir / "nothing", "refs/heads/a") is None
