"""Repositories of any shape: a task reads the person's commits and adds one branch, and nothing else changes."""

from __future__ import annotations

import shlex
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from local_project import CODE, TESTS, Project

from console.tdd import preflight, task_run
from console.tdd.checkout import Checkout, GitRefused
from console.tdd.inputs import Unready
from console.tdd.lab_host import TaskDiskFull, check_disk_space
from console.tdd.own_github import reviews
from console.tdd.task import Records, Task, TddOptions
from lab.github.repositories.bare import Bare
from lab.github.repositories.git_command import signed
from lab.github.server import Lab

AUTHOR = ("Engine", "engine@example.org")


@pytest.fixture
async def project(tmp_path: Path) -> Project:
    made = await Project.made(tmp_path)
    made.configured(TESTS + CODE)
    return made


async def plain(project: Project) -> Project:
    return project


async def subdirectory(project: Project) -> Project:
    project.write("src/deep/one.txt", "One.\n")
    await project.commit("Two")
    return project


async def linked_tree(project: Project) -> Project:
    tree = project.outside / "another tree"
    await project.git("worktree", "add", "--quiet", str(tree), "-b", "linked")
    return replace(project, top=tree)


async def submodule(project: Project) -> Project:
    outer = await Project.made(project.outside / "outer")
    await outer.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(project.top), "inner")
    await outer.commit("With a submodule")
    return replace(project, top=outer.top / "inner")


async def strange_name(project: Project) -> Project:
    top = project.outside / " Größe 'n\u202e \" $HOME; #1 "
    project.top.rename(top)
    return replace(project, top=top)


async def dirty(project: Project) -> Project:
    project.write("README.md", "Stashed.\n")
    await project.git("stash")
    project.write("README.md", "Not committed.\n")
    project.write("staged.txt", "Staged.\n")
    await project.git("add", "staged.txt")
    project.write("new.txt", "Not tracked.\n")
    return project


async def during_a_merge(project: Project) -> Project:
    await project.git("checkout", "--quiet", "-b", "side")
    project.write("README.md", "Theirs.\n")
    await project.commit("Theirs")
    await project.git("checkout", "--quiet", "trunk")
    project.write("README.md", "Ours.\n")
    await project.commit("Ours")
    with pytest.raises(Exception, match="merge"):
        await project.git("merge", "side")
    return project


async def detached(project: Project) -> Project:
    await project.git("checkout", "--quiet", "--detach")
    return project


async def hostile_configuration(project: Project) -> Project:
    """Configure hooks, a helper and rewritten addresses that a fetch would follow."""
    for key, value in {
        "core.fsmonitor": str(project.outside / "hooks/monitor"),
        "core.hooksPath": str(project.outside / "hooks"),
        "fetch.prune": "true",
        "fetch.writeCommitGraph": "true",
        "gc.auto": "1",
        "submodule.recurse": "true",
        "remote.origin.tagOpt": "--tags",
    }.items():
        await project.git("config", key, value)
    (project.outside / "hooks").mkdir()
    for name in ("reference-transaction", "monitor"):
        hook = project.outside / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(project.outside / 'ran'))}\n")
        hook.chmod(0o755)
    await project.git("-c", "core.hooksPath=/dev/null", "tag", "mine")
    return project


PLACES = (
    plain,
    subdirectory,
    linked_tree,
    submodule,
    strange_name,
    dirty,
    during_a_merge,
    detached,
    hostile_configuration,
)


@pytest.mark.parametrize("prepared", PLACES, ids=lambda one: one.__name__)
async def test_one_branch_comes_in(project: Project, prepared: Callable[[Project], Awaitable[Project]]) -> None:
    here = await prepared(project)
    before = await here.photograph()
    (project.outside / "ran").unlink(missing_ok=True)
    inside = here.top / "src/deep"
    checkout = await Checkout.around(inside if inside.exists() else here.top, project.variables())
    assert checkout.top == here.top
    base = await checkout.branch() or "trunk"
    options = TddOptions(project.outside / "SPEC.md", config=project.outside / "config.yml", base=base, local=True)
    ready = await preflight.ready(options, checkout, project.variables())
    await checkout.exclude()
    Records(checkout.top).write(Task(ready.task_id, "2026-11-22T10:00:00+00:00", str(project.outside), ready.order))
    await brought(checkout, ready.order.commit, ready.order.branch, project.outside / "copy.git")
    assert not (project.outside / "ran").exists()
    assert await here.git("rev-parse", f"{ready.order.branch}~") == ready.order.commit
    assert await here.photograph(without=[ready.order.branch]) == before


async def brought(checkout: Checkout, commit: str, branch: str, place: Path) -> None:
    """Copy the person's commit, and bring one built on it back as a branch."""
    bare = await Bare.create(place, "a/b", "main", {})
    await checkout.copy(commit, bare.path, "main")
    made = ("commit-tree", f"{commit}^{{tree}}", "-p", commit, "-m", "Two")
    new = (await bare.git.check(*made, env=signed(AUTHOR, AUTHOR))).text
    await bare.update_ref(task_run.RESULT, new)
    await checkout.receive(bare.path, task_run.RESULT, branch)


@pytest.mark.parametrize("kind", ["link", "dangling link", "file"])
async def test_records_go_into_a_directory_of_their_own_alone(project: Project, kind: str) -> None:
    place, elsewhere = project.top / ".workflow", project.outside / "elsewhere"
    if kind == "file":
        place.write_text("Mine.\n")
    else:
        place.symlink_to(elsewhere)
    if kind == "link":
        elsewhere.mkdir()
    options = TddOptions(project.outside / "SPEC.md", config=project.outside / "config.yml")
    before = await project.photograph()
    with pytest.raises(Unready, match="no directory of its own"):
        await preflight.ready(options, await Checkout.around(project.top, project.variables()), project.variables())
    assert await project.photograph() == before
    assert list(elsewhere.glob("*")) == []


async def test_a_repository_that_takes_nothing_is_left_as_it_was(project: Project) -> None:
    await project.git("pack-refs", "--all")
    lock = project.top / ".git/packed-refs.lock"  # what somebody else's git, or a full disk, looks like
    checkout = await Checkout.around(project.top, project.variables())
    bare = await Bare.create(project.outside / "copy.git", "a/b", "main", {})
    with pytest.raises(GitRefused, match="git fetch did not work"):
        await checkout.copy("f" * 40, bare.path, "main")
    (project.top / ".git/refs/heads/tdd").write_text("in the way\n")
    lock.touch()
    before = await project.photograph()
    with pytest.raises(Exception, match=r"left as it is.*git fetch"):
        await brought(checkout, await project.git("rev-parse", "HEAD"), "tdd/x", project.outside / "other.git")
    assert await project.photograph() == before


def test_a_full_disk_ends_it_with_a_sentence(tmp_path: Path) -> None:
    check_disk_space(tmp_path)
    with pytest.raises(TaskDiskFull, match="is full: make room"):
        check_disk_space(tmp_path, least=2**80)


async def test_answers_to_remarks_are_no_reviews(tmp_path: Path) -> None:
    async with Lab(tmp_path / "github") as lab:
        repository = await lab.repository("local/x", {"a": "1\n"})
        thread = repository.issues.open("engine-bot", "Pull", "", is_pull=True)
        repository.pulls.open(thread, ("work", "c" * 40), ("main", "b" * 40), draft=False)
        for author, state in (("reviewer-bot", "CHANGES_REQUESTED"), ("engine-bot", "COMMENTED")):
            repository.pulls.review(thread.number, author, state, "", "c" * 40)
        assert [one.state for one in reviews(repository)] == ["CHANGES_REQUESTED"]
