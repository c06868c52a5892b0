"""The daemon takes a work tree in without running or believing anything that is in it."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from git_remote import AT, ENVIRONMENT, FILES, listing, machine, put, readers, remote_at, workspace_of

from shared import process
from shared.filesystem import directories
from shared.git import capture, patch_policy
from shared.git.patch_policy import PatchPolicy, PatchRefused, judge
from shared.git.workspace import Workspace


@dataclass
class Desk:
    """A workspace whose tree has just been reset to `base`."""

    workspace: Workspace
    base: str

    @property
    def tree(self) -> Path:
        return self.workspace.tree

    async def captured(self) -> dict[str, str]:
        """Return the mode of each path in the captured tree."""
        tree = await self.workspace.capture(self.base)
        rows = (await self.workspace.git.run("ls-tree", "-r", tree)).text.splitlines()
        return {row.partition("\t")[2]: row[:6] for row in rows}


@pytest.fixture(params=[False, True], ids=["by processes", "by readers"])
async def desk(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    remote = await remote_at(tmp_path / "remote")
    async with readers(open_ones=request.param) as found:
        mirror = await machine(tmp_path, str(remote.path), readers=found)
        workspace = await workspace_of(mirror)
        base = await mirror.tip("main") or ""
        await workspace.reset_tree(base)
        yield Desk(workspace, base)


async def git_inside(tree: Path, *args: str) -> None:
    """Run git with settings from where a child could write them, which the daemon never does."""
    env = ENVIRONMENT | {"HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    await process.check(("git", *args), cwd=tree, env=env)


async def test_an_untouched_tree_is_the_base_itself(desk: Desk) -> None:
    assert await desk.workspace.capture(desk.base) == await desk.workspace.tree_of(desk.base)


async def test_changed_new_and_deleted_files_are_taken(desk: Desk) -> None:
    put(desk.tree / "src" / "app.py", "VALUE = 2\n")
    put(desk.tree / "src" / "näw file.py", "NEW = 1\n")
    (desk.tree / "README.md").unlink()
    (desk.tree / "tests" / "test_app.py").chmod(0o755)
    found = await desk.captured()
    assert "README.md" not in found
    assert found["src/näw file.py"] == "100644"
    assert found["tests/test_app.py"] == "100755"
    changes = await desk.workspace.changes(desk.base, await desk.workspace.capture(desk.base))
    assert [(change.path, change.status) for change in changes] == [
        ("README.md", "D"),
        ("src/app.py", "M"),
        ("src/näw file.py", "A"),
        ("tests/test_app.py", "M"),
    ]


@pytest.mark.parametrize("where", [".gitignore", "src/.gitignore", "new/.gitignore", ".git/info/exclude"])
async def test_an_ignore_file_written_by_a_coder_hides_nothing(desk: Desk, where: str) -> None:
    put(desk.tree / where, "*\n!.gitignore\n")
    for path in ("hidden.py", "src/hidden.py", "new/hidden.py"):
        put(desk.tree / path, "EVIL = 1\n")
    await git_inside(desk.tree, "add", "--all")
    found = await desk.captured()
    assert {"hidden.py", "src/hidden.py", "new/hidden.py"} <= found.keys()


async def test_the_ignore_files_of_the_base_count_even_when_they_are_gone(desk: Desk) -> None:
    (desk.tree / ".gitignore").unlink()
    put(desk.tree / "src" / ".gitignore", "")
    for path in ("run.log", "src/deep/run.log", "build/out.o", "src/generated.py", "src/deep/generated.py"):
        put(desk.tree / path, "x")
    for path in ("generated.py", "src/build/kept.py"):
        put(desk.tree / path, "x")
    found = await desk.captured()
    assert found.keys() == (FILES.keys() - {".gitignore"}) | {"generated.py", "src/build/kept.py"}


async def test_environments_caches_secrets_and_reports_are_never_taken(desk: Desk) -> None:
    environments = (".venv/bin/python", "a/node_modules/x/index.js", "app.egg-info/PKG-INFO")
    caches = ("src/__pycache__/app.pyc", ".pytest_cache/x", ".mypy_cache/x", "a/.ruff_cache/x", "src/app.pyc")
    for path in (*environments, *caches, ".env", "src/.env.local", "junit-1.xml", ".coverage"):
        put(desk.tree / path, "x")
    assert (await desk.captured()).keys() == FILES.keys()


def _arm(tree: Path, marker: Path, git_dir: Path) -> None:
    """Write everything into a tree that git could be made to execute; if it runs, it creates `marker`."""
    trap = tree / "trap.sh"
    put(trap, f"#!/bin/sh\ntouch {marker}\ncat\n")
    trap.chmod(0o755)
    with (git_dir / "config").open("a") as config:
        config.write(
            f"[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n\teditor = {trap}\n"
            f'[filter "trap"]\n\tclean = {trap}\n\tsmudge = {trap}\n'
            f'[diff "trap"]\n\ttextconv = {trap}\n\tcommand = {trap}\n[diff]\n\texternal = {trap}\n'
        )
    for hook in ("pre-commit", "post-index-change", "post-checkout", "reference-transaction"):
        put(git_dir / "hooks" / hook, trap.read_text())
        (git_dir / "hooks" / hook).chmod(0o755)
    put(git_dir / "info" / "attributes", "* filter=trap diff=trap\n")
    put(tree / ".gitattributes", "* filter=trap diff=trap\n")


async def test_nothing_in_a_hostile_tree_is_executed(desk: Desk, tmp_path: Path) -> None:
    marker = tmp_path / "fired"
    _arm(desk.tree, marker, desk.tree / ".git")
    put(desk.tree / "src" / "app.py", "VALUE = 3\n")
    embedded = desk.tree / "embedded"
    embedded.mkdir()
    await git_inside(embedded, "init", "--quiet")
    put(embedded / "inner.py", "HIDDEN = 1\n")
    _arm(embedded, marker, embedded / ".git")
    (desk.tree / "link").symlink_to("/etc")
    (desk.tree / "tests" / "test_app.py").unlink()
    (desk.tree / "tests").rmdir()
    (desk.tree / "tests").symlink_to("/etc")
    os.mkfifo(desk.tree / "pipe")
    marker.unlink(missing_ok=True)

    tree = await desk.workspace.capture(desk.base)
    commit = await desk.workspace.commit(tree, [desk.base], "Work", AT)
    changes = await desk.workspace.changes(desk.base, commit)
    await desk.workspace.diff(desk.base, commit)
    assert not marker.exists()

    modes = {change.path: change.new_mode for change in changes}
    assert modes["link"] == modes["tests"] == patch_policy.SYMLINK
    assert modes["embedded"] == patch_policy.GITLINK
    refused = {refusal.path for refusal in judge(changes, policy=PatchPolicy())}
    assert {"link", "tests", "embedded", ".gitattributes", "trap.sh"} <= refused

    evidence = await desk.workspace.checkout(commit, "evidence")
    assert not (evidence / ".git").exists()
    assert not marker.exists()

    await git_inside(desk.tree, "status")  # the control: the trap is armed
    assert marker.exists()


@pytest.mark.parametrize("place", ["README.md", "src", "src/app.py"])
@pytest.mark.parametrize("committed", [False, True], ids=["without a commit", "with a commit"])
async def test_a_repository_in_the_place_of_a_file_or_directory_is_refused(
    desk: Desk, place: str, committed: bool
) -> None:
    there = desk.tree / place
    directories.remove(there) if there.is_dir() else there.unlink()
    there.mkdir()
    await git_inside(there, "init", "--quiet")
    put(there / "inner.py", "HIDDEN = 1\n")
    if committed:
        await git_inside(there, "add", "--all")
        who = ("-c", "user.name=x", "-c", "user.email=x")
        await git_inside(there, *who, "commit", "--quiet", "--message=One")
    await refused_as_a_repository(desk, place)


@pytest.mark.parametrize("place", ["README.md", "src"])
async def test_a_clone_or_a_work_tree_elsewhere_in_the_place_of_a_file_is_refused(
    desk: Desk, place: str, tmp_path: Path
) -> None:
    for options in ((), (f"--separate-git-dir={tmp_path / 'elsewhere'}",)):
        there = desk.tree / place
        directories.remove(there) if there.is_dir() else there.unlink()
        verb = ("clone", "--quiet", "--no-checkout", *options)  # a file that is tracked makes it an ordinary directory
        await git_inside(tmp_path, *verb, str(desk.workspace.git.git_dir), str(there))
        put(there / "inner.py", "HIDDEN = 1\n")
        await refused_as_a_repository(desk, place)


async def refused_as_a_repository(desk: Desk, place: str) -> None:
    """Assert that a repository is captured as a submodule, which the patch policy refuses, without any of its files."""
    changes = await desk.workspace.changes(desk.base, await desk.workspace.capture(desk.base))
    assert [change.new_mode for change in changes if change.path == place] == [patch_policy.GITLINK]
    assert place in {refusal.path for refusal in judge(changes, policy=PatchPolicy())}
    assert not [change for change in changes if change.path.startswith(f"{place}/") and change.status != "D"]


async def test_a_submodule_of_the_base_does_not_run_its_own_settings(desk: Desk, tmp_path: Path) -> None:
    """`git add` looks for changes inside a submodule by a `git status` that obeys the submodule's settings."""
    workspace, marker = desk.workspace, tmp_path / "fired"
    module = tmp_path / "module"
    module.mkdir()
    for command in (("init", "--quiet"), ("config", "user.name", "x"), ("config", "user.email", "x")):
        await git_inside(module, *command)
    put(module / "inner.txt", "one\n")
    await git_inside(module, "add", "--all")
    await git_inside(module, "commit", "--quiet", "--message=One")
    head = (await workspace.git.at(module / ".git").run("rev-parse", "HEAD")).text
    index = tmp_path / "index"
    await workspace.git.run("read-tree", desk.base, index=index)
    await workspace.git.run("update-index", "--add", "--cacheinfo", f"160000,{head},vendor", index=index)
    base_tree = (await workspace.git.run("write-tree", index=index)).text
    base = await workspace.commit(base_tree, [desk.base], "Add a submodule", AT)

    tree = await workspace.reset_tree(base)
    (tree / "vendor").rmdir()
    module.rename(tree / "vendor")
    _arm(tree / "vendor", marker, tree / "vendor" / ".git")
    put(tree / "vendor" / "inner.txt", "two\n")
    put(tree / "src" / "app.py", "VALUE = 2\n")
    marker.unlink(missing_ok=True)
    changes = await workspace.changes(base, await workspace.capture(base))
    assert not marker.exists()
    assert [change.path for change in changes] == ["src/app.py"]

    await workspace.git.run("read-tree", base, index=index)
    await workspace.git.run("add", "--update", work_tree=tree, index=index)  # the control: without the precaution
    assert marker.exists()


async def test_paths_that_no_tree_can_hold_are_refused_and_not_left_out(desk: Desk) -> None:
    paths = ["git~1/config", "src/.GIT/config", "src/.git /config"]
    for path in paths:
        put(desk.tree / path, "x")
    with pytest.raises(PatchRefused, match="git refuses to record") as refused:
        await desk.workspace.capture(desk.base)
    assert sorted(refusal.path for refusal in refused.value.refusals) == paths


async def test_a_flood_is_refused_before_it_is_stored(desk: Desk) -> None:
    with (desk.tree / "flood.bin").open("wb") as file:
        file.truncate(65 * 2**20)
    with pytest.raises(PatchRefused, match="New files of"):
        await desk.workspace.capture(desk.base)


async def test_an_old_file_grown_to_a_flood_is_refused_before_git_reads_it(desk: Desk) -> None:
    os.truncate(desk.tree / "README.md", 2**43)
    os.truncate(desk.tree / "src" / "app.py", 0)  # what shrinks makes no room for it
    with anyio.fail_after(20):
        with pytest.raises(PatchRefused, match="Files grown by 8796"):
            await desk.workspace.capture(desk.base)
    objects = await desk.workspace.git.run("count-objects", "-v")
    assert "garbage: 0" in objects.text


async def test_an_old_file_may_grow_within_the_limit(desk: Desk) -> None:
    os.truncate(desk.tree / "README.md", 2**20)
    assert "README.md" in await desk.captured()


async def test_files_may_take_the_place_of_directories_and_back(desk: Desk) -> None:
    (desk.tree / "tests" / "test_app.py").unlink()
    (desk.tree / "tests").rmdir()
    put(desk.tree / "tests", "now a file\n")
    (desk.tree / "README.md").unlink()
    put(desk.tree / "README.md" / "part.md", "now a directory\n")
    found = await desk.captured()
    assert found.keys() == {"tests", "README.md/part.md", ".gitignore", "src/.gitignore", "src/app.py"}


async def test_what_is_no_file_in_the_place_of_a_file_is_refused(desk: Desk) -> None:
    (desk.tree / "src" / "app.py").unlink()
    os.mkfifo(desk.tree / "src" / "app.py")
    with pytest.raises(PatchRefused, match=r"src/app\.py: unsupported file type"):
        await desk.workspace.capture(desk.base)


async def test_evidence_holds_what_is_committed_and_nothing_else(desk: Desk) -> None:
    put(desk.tree / "src" / "app.py", "from generated import X\n")
    put(desk.tree / "src" / "generated.py", "X = 1\n")  # ignored by the base: green would depend on it
    commit = await desk.workspace.commit(await desk.workspace.capture(desk.base), [desk.base], "Work", AT)
    evidence = await desk.workspace.checkout(commit, "evidence")
    assert listing(evidence) == FILES | {"src/app.py": "from generated import X\n"}
    put(evidence / "left-over.py", "x")
    put(desk.tree / "src" / "app.py", "VALUE = 9\n")
    assert listing(await desk.workspace.checkout(commit, "evidence")) == FILES | {
        "src/app.py": "from generated import X\n"
    }


async def test_files_of_a_large_tree_may_not_grow_to_holes_either(desk: Desk) -> None:
    git, index = desk.workspace.git, desk.workspace.root / "many.index"
    blob = await git.store("blob", b"x\n")
    names = [f"d{number % 30}/f{number}" for number in range(capture.ASKED_ONE_BY_ONE + 1)]
    stdin = "".join(f"100644 {blob} 0\t{name}\n" for name in names).encode()
    await git.run("update-index", "--index-info", stdin=stdin, index=index)
    tree = (await git.run("write-tree", index=index)).text
    commit = await desk.workspace.commit(tree, [desk.base], "Many", AT)
    await desk.workspace.reset_tree(commit)
    put(desk.tree / names[-1], "changed\n")
    captured = await desk.workspace.capture(commit)
    assert [change.path for change in await desk.workspace.changes(commit, captured)] == names[-1:]
    with (desk.tree / names[0]).open("wb") as file:
        file.truncate(capture.MAX_NEW_BYTES + 100)
    with pytest.raises(PatchRefused, match="Files grown by"):
        await desk.workspace.capture(commit)
