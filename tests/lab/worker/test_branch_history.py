"""Git's answers about a work branch: how a head relates to our commit, and which of its commits are the engine's."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from git_remote import ENGINE, commit_to, machine, remote_at

from lab.github.repositories.bare import Bare
from shared.git.disk import Disk
from shared.git.publisher import Publisher
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.loop.real_clock import RealClock
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage
from worker_agent.branch.history import History
from worker_agent.decide import Head
from worker_agent.phase_commits import PhaseCommits, Places

AT = datetime(2026, 1, 5, tzinfo=UTC)
BRANCH = "auto/issue-42"


def fence(base: str, work_head: str) -> Fence:
    key = ItemKey(Role.WORKER, 42)
    return Fence(key, 7, "a" * 32, "worker-1", Stage.TESTING, AT, base=base, work_head=work_head, pr=57)


async def engines(remote: Bare, on: str, phase: str, files: dict[str, str]) -> str:
    """Make a commit as the engine does."""
    said = f"Change\n\nIssue: #42\nPhase: {phase}\n"
    lines = [f"commit refs/heads/{BRANCH}\ncommitter Engine <e@example.org> now\ndata {len(said)}\n{said}\nfrom {on}\n"]
    lines += [f"M 100644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in files.items()]
    await remote.git.check("fast-import", "--quiet", "--force", "--date-format=now", stdin="".join(lines).encode())
    return await remote.sha(f"refs/heads/{BRANCH}") or ""


@pytest.mark.fault(31)
async def test_git_decides_what_a_head_is_that_is_not_ours(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    base = await remote.sha("main") or ""
    red = await engines(remote, base, "red", {"tests/test_new.py": "x"})
    ours = await engines(remote, red, "green", {"new.py": "x"})
    theirs = await commit_to(remote, "theirs", {"NOTES.md": "x"}, parent=ours)
    other = await commit_to(remote, "other", {"NOTES.md": "x"}, parent=base)
    history = History(await machine(tmp_path, str(remote.path)))
    held = fence(base, ours)
    heads = {ours: Head.OURS, theirs: Head.AHEAD, red: Head.REWOUND, other: Head.FOREIGN, base: Head.FOREIGN}
    assert {tip: await history.standing(held, tip) for tip in heads} == heads
    assert await history.standing(held, None) is Head.BEHIND
    assert await history.standing(fence(base, "d" * 40), other) is Head.FOREIGN, "ours is on no branch any more"
    assert await history.relation(held, theirs) is Head.BEHIND, "GitHub shows what git does not have any more"
    await remote.update_ref(f"refs/heads/{BRANCH}", red)
    assert await history.relation(held, theirs) is Head.BEHIND
    assert await history.relation(held, red) is Head.REWOUND


async def test_what_a_person_wrote_is_not_the_engines_to_answer_for(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    base = await remote.sha("main") or ""
    green = await engines(remote, base, "green", {"new.py": "x"})
    theirs = await commit_to(remote, BRANCH, {".github/workflows/ci.yml": "x"}, parent=green)
    fix = await engines(remote, theirs, "fix", {"new.py": "y"})
    merge = await engines(remote, fix, "sync", {"README.md": "merged"})
    last = await engines(remote, merge, "fix", {"new.py": "z"})
    history = History(await machine(tmp_path, str(remote.path)))
    expected = {green: base, theirs: theirs, fix: theirs, merge: merge, last: merge}
    assert {head: await history.judged_from(fence(base, head), base) for head in expected} == expected
    assert await history.is_synced(fence(base, merge))
    assert not await history.is_synced(fence(base, last))


async def test_a_base_that_collides_is_found_by_git(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    base = await remote.sha("main") or ""
    ours = await engines(remote, base, "green", {"README.md": "ours\n"})
    history = History(await machine(tmp_path, str(remote.path)))
    assert not await history.collides(fence(base, ours), "main")
    await commit_to(remote, "main", {"OTHER.md": "x"}, parent=base)
    assert not await history.collides(fence(base, ours), "main")
    await commit_to(remote, "main", {"README.md": "theirs\n"}, parent=base)
    assert await history.collides(fence(base, ours), "main")
    assert not await history.collides(fence(base, ours), "gone")


@pytest.mark.fault(31)
async def test_what_others_fetch_is_not_what_a_lease_expects_of_its_branch(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    base = await remote.sha("main") or ""
    ours = await engines(remote, base, "green", {"new.py": "x"})
    mirror = await machine(tmp_path, str(remote.path))
    places = Places("o/r", tmp_path / "workspaces", tmp_path / "kept")
    keys, disk = Keyring(99, (Key.of(b"w" * 32),)), Disk(mirror, places.workspaces, RealClock())
    site, held = PhaseCommits(mirror, ENGINE, Publisher(mirror), places, keys, disk), fence(base, ours)
    await site.renew(held)
    theirs = await commit_to(remote, BRANCH, {"NOTES.md": "x"}, parent=ours)
    await mirror.fetch()  # for another item
    assert await mirror.tip(BRANCH) == theirs
    assert await site.tip(held) == ours, "a push that expects theirs would not be refused"
    assert await site.tip(replace(held, nonce="b" * 32)) == theirs, "another lease asks anew"
    await site.renew(held)
    assert await site.tip(held) == theirs
    await site.tidy([])
    last = await commit_to(remote, BRANCH, {"NOTES.md": "y"}, parent=theirs)
    assert await site.tip(held) == last
