"""Fences: one winner, everything or nothing, and work that another machine can take up."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from git_remote import AT, ENGINE, fences_of, machine, remote_at, work, workspace_of

from lab.github.repositories.bare import Bare
from shared.errors import NotAllowed, UnknownOutcome
from shared.git.failures import PushRefused
from shared.git.notes import Notes
from shared.lock.port import RefUpdate
from shared.lock.write_permit import OperatorPermit

FENCE = "refs/ack/worker/42"
ORDER = OperatorPermit("test")
BRANCH = "refs/heads/auto/issue-42"
NOTES = "refs/notes/workflow/issue-42"


async def test_a_fence_is_created_read_advanced_and_removed(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    here = fences_of(await machine(tmp_path / "a", str(remote.path)))
    there = fences_of(await machine(tmp_path / "b", str(remote.path)))
    assert await here.read(FENCE) is None
    first = await here.advance(FENCE, "worker #42 implementing\n\nNonce: 1\n", None, [], [])
    assert first is not None
    assert await there.read(FENCE) == (first, "worker #42 implementing\n\nNonce: 1")
    second = await there.advance(FENCE, "Nonce: 2", first, [first], [])
    assert second is not None
    assert await here.read(FENCE) == (second, "Nonce: 2")
    facts = (await remote.git.check("cat-file", "-p", second)).text
    assert f"parent {first}" in facts
    assert f"committer {ENGINE.name} <{ENGINE.email}>" in facts
    assert not await here.remove(FENCE, first, ORDER)
    assert await here.remove(FENCE, second, ORDER)
    assert await there.read(FENCE) is None
    assert await remote.refs("refs/ack/") == {}


async def test_all_fences_are_read_at_once_and_removed_ones_are_forgotten(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    fences = fences_of(await machine(tmp_path, str(remote.path)))
    assert await fences.read_all() == {}
    refs = [FENCE, "refs/ack/reviewer/7", "refs/ack/ledger"]
    oids = {ref: await fences.advance(ref, f"Fence\n\nAt: {ref}", None, [], []) or "" for ref in refs}
    expected = {ref: (oid, f"Fence\n\nAt: {ref}") for ref, oid in oids.items()}
    assert await fences.read_all() == expected
    assert await fences.remove(FENCE, oids[FENCE], ORDER)
    del expected[FENCE]
    assert await fences.read_all() == expected


async def _prepared(directory: Path, remote: Bare, nonce: str) -> tuple[RefUpdate, RefUpdate]:
    """Return the moves of an agent's push: its branch with one commit, and the note on that commit."""
    mirror = await machine(directory, str(remote.path))
    workspace = await workspace_of(mirror)
    base = await mirror.tip("main") or ""
    commit = await work(workspace, base, {"src/new.py": f"BY = '{nonce}'\n"}, f"Work of {nonce}")
    note = await Notes(workspace.git, ENGINE).add(NOTES, commit, f'{{"by":"{nonce}"}}')
    await mirror.adopt(workspace.git, commit, note)
    return RefUpdate(BRANCH, None, commit), RefUpdate(NOTES, None, note)


async def test_of_two_pushers_one_wins_and_the_other_wrote_nothing(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    sides = [tmp_path / "a", tmp_path / "b"]
    prepared = [await _prepared(side, remote, side.name) for side in sides]
    fences = [fences_of(await machine(side, str(remote.path))) for side in sides]
    first, second = await asyncio.gather(
        fences[0].advance(FENCE, "Nonce: 1", None, [], prepared[0]),
        fences[1].advance(FENCE, "Nonce: 2", None, [], prepared[1]),
    )
    assert (first is None) != (second is None)
    branch, note = prepared[0] if first else prepared[1]
    expected = {
        FENCE: first or second,
        BRANCH: branch.new,
        NOTES: note.new,
        "refs/heads/main": await remote.sha("main"),
    }
    assert await remote.refs("refs/") == expected


@pytest.mark.parametrize("ref", [FENCE, BRANCH, NOTES])
async def test_a_change_between_advertisement_and_push_stops_everything(tmp_path: Path, ref: str) -> None:
    """The rival moves one of the refs in the window where only the server can notice."""
    remote = await remote_at(tmp_path / "remote")
    updates = await _prepared(tmp_path / "a", remote, "a")
    fences = fences_of(await machine(tmp_path / "a", str(remote.path)))
    main = await remote.sha("main")
    hook = remote.path / "hooks" / "pre-receive"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\nunset GIT_QUARANTINE_PATH\nexec git update-ref {ref} {main}\n")
    hook.chmod(0o755)
    assert await fences.advance(FENCE, "Nonce: 1", None, [], updates) is None
    assert await remote.refs("refs/") == {"refs/heads/main": main, ref: main}


@pytest.mark.fault(33)
@pytest.mark.parametrize(
    "words",
    [
        "error: GH006: Protected branch update failed for refs/heads/main.",
        "error: GH006: Commits must have verified signatures.",
        "error: GH013: Repository rule violations found for refs/heads/auto/issue-1.",
        "error: GH013: Push cannot contain secrets",
        "error: GH001: Large files detected: data.bin is 120.00 MB; this exceeds the file size limit of 100.00 MB",
        "refusing to allow a GitHub App to create or update workflow x.yml without workflows permission",
        "The hook of this company declines.",
    ],
)
async def test_a_refusal_of_the_server_is_not_a_lost_race(tmp_path: Path, words: str) -> None:
    remote = await remote_at(tmp_path / "remote")
    fences = fences_of(await machine(tmp_path / "a", str(remote.path)))
    hook = remote.path / "hooks" / "update"
    hook.parent.mkdir()
    hook.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(PushRefused) as refused:
        await fences.advance(FENCE, "Nonce: 1", None, [], [])
    assert words in str(refused.value)
    assert await remote.refs("refs/ack/") == {}


async def test_a_branch_name_that_cannot_exist_beside_another_is_told_to_a_person(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    updates = await _prepared(tmp_path / "a", remote, "a")
    await remote.update_ref("refs/heads/auto", await remote.sha("main"))
    fences = fences_of(await machine(tmp_path / "a", str(remote.path)))
    with pytest.raises(NotAllowed, match="exists; cannot create"):
        await fences.advance(FENCE, "Nonce: 1", None, [], updates)
    assert await remote.refs("refs/ack/") == {}


async def test_a_lost_reply_is_an_unknown_outcome_and_the_fence_tells(tmp_path: Path) -> None:
    """The server dies after it has written and before it has answered."""
    remote = await remote_at(tmp_path / "remote")
    fences = fences_of(await machine(tmp_path / "a", str(remote.path)))
    hook = remote.path / "hooks" / "reference-transaction"
    hook.parent.mkdir()
    hook.write_text('#!/bin/sh\n[ "$1" = committed ] && kill -9 $PPID\nexit 0\n')
    hook.chmod(0o755)
    with pytest.raises(UnknownOutcome):
        await fences.advance(FENCE, "Nonce: 1", None, [], [])
    hook.unlink()
    found = await fences.read(FENCE)
    assert found is not None
    assert found[1] == "Nonce: 1"


async def test_another_machine_resumes_before_any_branch_exists(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path / "a", str(remote.path))
    workspace = await workspace_of(mirror)
    base = await mirror.tip("main") or ""
    red = await work(workspace, base, {"tests/test_new.py": "def test_new() -> None:\n    assert False\n"}, "Red")
    note = await Notes(workspace.git, ENGINE).add(NOTES, red, '{"phase":"red"}')
    await mirror.adopt(workspace.git, red, note)
    fence = await fences_of(mirror).advance(FENCE, "Phase: red", None, [red], [RefUpdate(NOTES, None, note)])
    assert await remote.refs("refs/heads/") == {"refs/heads/main": base}

    other = await machine(tmp_path / "b", str(remote.path))
    assert await fences_of(other).read(FENCE) == (fence, "Phase: red")
    await other.refresh(NOTES)
    resumed = await workspace_of(other, commit=red, ref=NOTES)
    assert (await resumed.git.run("rev-parse", NOTES)).text == note
    assert (await Notes(resumed.git, ENGINE).all(NOTES))[red] == '{"phase":"red"}'
    evidence = await resumed.checkout(red, "evidence")
    assert "assert False" in (evidence / "tests" / "test_new.py").read_text()

    tree = await resumed.reset_tree(red)
    (tree / "src" / "new.py").write_text("VALUE = 2\n")
    green = await resumed.commit(await resumed.capture(red), [red], "Green", AT)
    later = await Notes(resumed.git, ENGINE).add(NOTES, green, '{"phase":"green"}')
    await other.adopt(resumed.git, green, later)
    updates = [RefUpdate(NOTES, note, later), RefUpdate(BRANCH, None, green)]
    assert await fences_of(other).advance(FENCE, "Phase: green", fence, [fence or ""], updates)
    assert await remote.sha("auto/issue-42") == green
    await mirror.refresh(NOTES)
    workspace = await workspace_of(mirror, ref=NOTES)
    assert list((await Notes(workspace.git, ENGINE).all(NOTES)).values()).count('{"phase":"green"}') == 1
