"""The record of the work in a mirror: chains of fences, the commits that they carried, and the ledger's lines."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from git_remote import commit_to, fences_of, machine, remote_at

from console.history import fences
from shared.budget.budgets import BudgetLimits
from shared.budget.ledger import REF, Ledger
from shared.budget.ledger_lines import Reservation, RunDetails, Settlement
from shared.git.mirror import Mirror
from shared.lock.codec import FENCE_NAMESPACE, ItemKey
from shared.lock.fence import Fence, write_fence
from shared.workflow import Role, Stage

AT = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
WORKER, REVIEWER = ItemKey(Role.WORKER, 7), ItemKey(Role.REVIEWER, 9)


async def moved(mirror: Mirror, key: ItemKey, stage: Stage, before: str | None, carries: str = "", n: int = 0) -> str:
    """Move the fence of an item, and return its commit."""
    fence = Fence(key, 1, f"{n:032x}", "worker-1", stage, AT + timedelta(minutes=n))
    parents = [one for one in (before, carries) if one]
    oid = await fences_of(mirror).advance(key.ref, write_fence(fence), before, parents, ())
    assert oid is not None
    return oid


async def committed(mirror: Mirror, base: str, message: str) -> str:
    """Make a commit that is on no branch."""
    git = mirror.git
    tree = (await git.run("rev-parse", f"{base}^{{tree}}")).text
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    return (await git.run(*identity, "commit-tree", tree, "-p", base, "-m", message)).text


async def test_a_chain_is_read_back_to_its_first_fence_with_the_commits_that_no_agent_made(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    base = await remote.sha("refs/heads/main") or ""
    mirror = await machine(tmp_path / "a", str(remote.path))
    own = await committed(mirror, base, "Add tests\n\nIssue: #7\nAgent: worker-1\n")
    theirs = await committed(mirror, own, "A person's\n\nSigned-off-by: Ada <ada@example.org>\n")
    first = await moved(mirror, WORKER, Stage.IMPLEMENTING, None)
    second = await moved(mirror, WORKER, Stage.IMPLEMENTING, first, own, n=1)
    await moved(mirror, WORKER, Stage.TESTING, second, theirs, n=2)
    await moved(mirror, REVIEWER, Stage.IN_REVIEW, None, theirs)
    await commit_to(remote, "main", {"a.txt": "a"})
    elsewhere = await machine(tmp_path / "b", str(remote.path))
    await elsewhere.fetch(f"+{FENCE_NAMESPACE}/*:{FENCE_NAMESPACE}/*")
    found = await fences.chains(elsewhere)
    assert found.keys() == {WORKER, REVIEWER}
    assert [(one.stage, one.at) for one in found[WORKER].fences] == [
        (Stage.IMPLEMENTING, AT),
        (Stage.IMPLEMENTING, AT + timedelta(minutes=1)),
        (Stage.TESTING, AT + timedelta(minutes=2)),
    ]
    assert found[WORKER].foreign == found[REVIEWER].foreign == (theirs,)
    assert [one.stage for one in found[REVIEWER].fences] == [Stage.IN_REVIEW]


async def test_where_no_agent_was_there_are_neither_chains_nor_lines(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path / "a", str(remote.path))
    assert await fences.chains(mirror) == {}
    assert await fences.ledger(mirror, whole=True) == []


async def test_the_ledger_is_read_oldest_first(tmp_path: Path) -> None:
    remote = await remote_at(tmp_path / "remote")
    mirror = await machine(tmp_path / "a", str(remote.path))
    details = RunDetails("developer", "codex", "completed")
    ledger = Ledger(fences_of(mirror), mirror, lambda: AT, BudgetLimits(), "worker")
    await ledger.reserve("r1", "#7", 5, 60)
    await ledger.settle("r1", 0.5, "codex", details)
    await mirror.refresh(REF)
    reserved, settled = await fences.ledger(mirror, whole=False)
    assert isinstance(reserved, Reservation)
    assert settled == Settlement("r1", 0.5, "codex", AT, details)
