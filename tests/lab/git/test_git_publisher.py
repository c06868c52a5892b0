"""The publisher: nothing reaches a push that was not judged against the fenced base."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_remote import AT, ENGINE, commit_to, fences_of, machine, put, remote_at, work, workspace_of

from lab.github.repositories.bare import Bare
from shared.git.mirror import Mirror
from shared.git.notes import Notes
from shared.git.patch_policy import PatchPolicy, PatchRefused
from shared.git.publisher import Publisher, keep
from shared.git.workspace import Workspace
from shared.lock.port import RefUpdate

FENCE = "refs/ack/worker/42"
BRANCH = "refs/heads/auto/issue-42"
NOTES = "refs/notes/workflow/issue-42"


async def _start(tmp_path: Path) -> tuple[Bare, Mirror, Workspace, str]:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path, str(remote.path))
    return remote, mirror, await workspace_of(mirror), await mirror.tip("main") or ""


async def test_what_was_judged_and_adopted_moves_with_the_fence(tmp_path: Path) -> None:
    remote, mirror, workspace, base = await _start(tmp_path)
    commit = await work(workspace, base, {"src/new.py": "VALUE = 2\n"})
    note = await Notes(workspace.git, ENGINE).add(NOTES, commit, "{}")
    asked = [RefUpdate(BRANCH, None, commit), RefUpdate(NOTES, None, note)]
    updates = await Publisher(mirror).prepare(workspace, base, commit, asked)
    assert list(updates) == asked
    assert await fences_of(mirror).advance(FENCE, "Nonce: 1", None, [], updates)
    assert await remote.sha("auto/issue-42") == commit
    assert await remote.sha(NOTES) == note


async def test_a_refused_patch_is_not_adopted_and_can_be_kept(tmp_path: Path) -> None:
    _, mirror, workspace, base = await _start(tmp_path)
    commit = await work(workspace, base, {".github/workflows/ci.yml": "on: push\n", "src/new.py": "VALUE = 2\n"})
    with pytest.raises(PatchRefused) as refused:
        await Publisher(mirror).prepare(workspace, base, commit, [RefUpdate(BRANCH, None, commit)])
    assert {refusal.path for refusal in refused.value.refusals} == {".github/workflows/ci.yml"}
    assert await mirror.sha(commit) is None
    kept = tmp_path / "kept" / "issue-42"
    for _ in range(2):
        path = await keep(workspace.git, base, commit, kept)
    assert path is not None
    assert "+VALUE = 2" in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


async def test_the_paths_that_the_specification_lists_are_allowed(tmp_path: Path) -> None:
    _, mirror, workspace, base = await _start(tmp_path)
    commit = await work(workspace, base, {"pyproject.toml": "[project]\n"})
    publisher, asked = Publisher(mirror), [RefUpdate(BRANCH, None, commit)]
    with pytest.raises(PatchRefused, match=r"pyproject\.toml"):
        await publisher.prepare(workspace, base, commit, asked)
    planned = PatchPolicy(planned=frozenset({"pyproject.toml"}))
    assert await publisher.prepare(workspace, base, commit, asked, policy=planned) == tuple(asked)


async def test_a_commit_beside_the_fenced_base_is_refused(tmp_path: Path) -> None:
    remote, mirror, workspace, base = await _start(tmp_path)
    moved = await commit_to(remote, "main", {"README.md": "moved\n"})
    await mirror.fetch()
    await workspace.bring(moved)
    commit = await work(workspace, base, {"src/new.py": "VALUE = 2\n"})
    with pytest.raises(PatchRefused, match=f"not built on {moved[:12]}"):
        await Publisher(mirror).prepare(workspace, moved, commit, [])


@pytest.mark.parametrize("known", [True, False])
async def test_a_person_s_commit_on_the_branch_is_not_overwritten(tmp_path: Path, known: bool) -> None:
    remote, mirror, workspace, base = await _start(tmp_path)
    theirs = await commit_to(remote, "auto/issue-42", {"README.md": "theirs\n"}, parent=base)
    if known:
        await mirror.fetch()
        await workspace.bring(theirs)
    commit = await work(workspace, base, {"src/new.py": "VALUE = 2\n"})
    with pytest.raises(PatchRefused, match=f"not built on {theirs[:12]}"):
        await Publisher(mirror).prepare(workspace, base, commit, [RefUpdate(BRANCH, theirs, commit)])


async def test_no_other_ref_moves(tmp_path: Path) -> None:
    _, mirror, workspace, base = await _start(tmp_path)
    for ref in (
        "refs/heads/main",
        "refs/ack/worker/42",
        "refs/heads/auto/issue-",
        "refs/tags/v1",
        "refs/notes/commits",
    ):
        with pytest.raises(ValueError, match="is not a ref of ours"):
            await Publisher(mirror).prepare(workspace, base, base, [RefUpdate(ref, None, base)])


async def test_a_branch_moves_only_to_the_commit_that_was_judged(tmp_path: Path) -> None:
    _, mirror, workspace, base = await _start(tmp_path)
    tree = await workspace.reset_tree(base)
    put(tree / "src" / "new.py", "VALUE = 2\n")
    judged = await workspace.commit(await workspace.capture(base), [base], "Work", AT)
    other = await workspace.commit(await workspace.tree_of(judged), [base], "Other", AT)
    with pytest.raises(ValueError, match="nobody judged"):
        await Publisher(mirror).prepare(workspace, base, judged, [RefUpdate(BRANCH, None, other)])
