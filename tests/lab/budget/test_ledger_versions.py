"""The ledger beside a newer engine: what cannot be read is never counted as nothing, and its items are let go."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from git_remote import fences_of, machine, remote_at
from ledger_scene import START, Times, ledger_on, written
from paid_scene import REQUEST, Priced, Told

from lab.github.repositories.bare import Bare
from runtime.building.budget import RepositoryBudget
from shared.budget import ledger_lines
from shared.budget.budgeted_coder import BudgetedCoder
from shared.budget.budgets import BudgetLimits
from shared.budget.ledger import REF
from shared.budget.ledger_lines import Balance, Reservation
from shared.errors import RunFailed
from shared.git.append_only_log import newer_version
from shared.llm.port import NOT_RUN
from shared.retry.failures import Category, History, Pause, after

pytestmark = pytest.mark.fault(48)

OLD = Reservation("r9", "worker", "#9", 5.0, START + timedelta(hours=1), START)


def newer(**said: object) -> str:
    """Return a reservation as a newer version would write it, which changes or adds these fields."""
    return json.dumps({**json.loads(ledger_lines.write(OLD)), "v": 2, **said})


async def add(remote: Bare, directory: Path, text: str) -> None:
    """Write a line from another machine with a newer engine."""
    fences = fences_of(await machine(directory, str(remote.path)))
    found = await fences.read(REF)
    tip = found[0] if found else None
    assert await fences.advance(REF, text, tip, [tip] if tip else [], ()) is not None


UNREADABLE = {
    "money in another unit": newer(reserve_usd=None, reserve_micros=5_000_000),
    "an end that is no time": newer(until="P1D"),
    "several runs at once": json.dumps({"v": 3, "runs": [["r1", 5.0]]}),
    "a balance of another shape": newer(before=START.isoformat(), items=[["#9", 40.0]]),
}


@pytest.mark.parametrize("line", UNREADABLE.values(), ids=list(UNREADABLE))
def test_a_line_that_cannot_be_read_is_known_by_its_version(line: str) -> None:
    assert ledger_lines.read(line) is None
    assert newer_version(line, ledger_lines.VERSION) == json.loads(line)["v"]
    assert newer_version(ledger_lines.write(OLD), ledger_lines.VERSION) == 0


@pytest.mark.parametrize(
    ("line", "known"),
    [
        pytest.param(UNREADABLE["money in another unit"], False, id="at first sight"),
        pytest.param(UNREADABLE["several runs at once"], True, id="while it runs"),
    ],
)
async def test_beside_a_line_that_only_a_newer_engine_reads_no_run_begins(
    tmp_path: Path, line: str, known: bool
) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    old = await ledger_on(tmp_path / "a", remote, times, BudgetLimits())
    if known:
        assert await old.reserve("before", "#1", 5, 60) is None
    await add(remote, tmp_path / "new", line)
    refused = await old.reserve("r1", "#1", 0.01, 60)
    assert refused is not None
    version = json.loads(line)["v"]
    assert f"has lines of version {version}, and this agent reads version 1" in refused.sentence
    assert refused.sentence.endswith("Upgrade this agent.")
    assert refused.until == START + timedelta(hours=1)
    assert [entry.run for entry in await written(remote)] == (["before"] if known else [])
    assert refused.sentence in old.table("#1")
    times.at += timedelta(days=30)
    assert await old.reserve("r2", "#1", 0.01, 60) is not None, "time does not make it readable"
    if known:
        await old.settle("before", 1.0, "claude")  # what was spent is told all the same


async def test_a_newer_line_that_says_the_same_counts_and_stops_nobody(tmp_path: Path) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    await add(remote, tmp_path / "new", newer(currency="USD"))
    old = await ledger_on(tmp_path / "a", remote, times, BudgetLimits(day=9))
    refused = await old.reserve("r1", "#1", 5, 60)
    assert refused is not None
    assert "leaves $4.00 of $9.00" in refused.sentence


async def test_what_no_version_wrote_stops_nobody(tmp_path: Path) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    await add(remote, tmp_path / "new", "somebody's own words")
    old = await ledger_on(tmp_path / "a", remote, times, BudgetLimits())
    assert await old.reserve("r1", "#1", 5, 60) is None


async def test_what_a_balance_has_added_up_need_not_be_read(tmp_path: Path) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    await add(remote, tmp_path / "new", UNREADABLE["several runs at once"])
    late = ledger_lines.write(
        Reservation("x", "worker", "#9", 1, START + timedelta(days=9), START - timedelta(days=20))
    )
    await add(remote, tmp_path / "new2", late)
    balanced = Balance(START + timedelta(days=2), {"#9": (40.0, 20_000)})
    at = START + timedelta(days=9)
    line = Reservation("r", "worker", "#9", 1.0, at + timedelta(hours=1), at, balanced)
    await add(remote, tmp_path / "new3", ledger_lines.write(line))
    times.at = at + timedelta(minutes=1)
    old = await ledger_on(tmp_path / "a", remote, times, BudgetLimits(issue=50))
    assert await old.reserve("r1", "#9", 5, 60) is None
    refused = await old.reserve("r2", "#9", 5, 60)
    assert refused is not None, "40 + 1 + 5 are spent"


async def test_a_ledger_that_a_person_has_deleted_is_read_anew(tmp_path: Path) -> None:
    remote, times = await remote_at(tmp_path / "remote"), Times()
    old = await ledger_on(tmp_path / "a", remote, times, BudgetLimits())
    await add(remote, tmp_path / "new", UNREADABLE["several runs at once"])
    assert await old.reserve("r1", "#1", 5, 60) is not None
    await remote.git.check("update-ref", "-d", REF)
    assert await old.reserve("r1", "#1", 5, 60) is None


async def test_the_item_is_let_go_for_a_newer_agent_and_counts_no_failure(tmp_path: Path) -> None:
    """The wait, one for budget, only informs: an agent that can read the ledger goes on at once."""
    remote, times, coder = await remote_at(tmp_path / "remote"), Times(), Priced(1.0)
    await add(remote, tmp_path / "new", UNREADABLE["money in another unit"])
    ledger = await ledger_on(tmp_path / "a", remote, times, BudgetLimits())
    with pytest.raises(RunFailed, match="Upgrade this agent") as failed:
        await BudgetedCoder(coder, ledger, Told().unpriced(), NOT_RUN).run(REQUEST)
    assert coder.runs == []
    pause = after(Category(failed.value.category), History(), now=START, reset=failed.value.reset)
    assert isinstance(pause, Pause)
    assert (pause.reason, str(pause.history), pause.keeps_lease(START)) == (Category.PERIOD_BUDGET, "", False)
    short = await RepositoryBudget(ledger, 5).shortage(1)
    assert short is not None
    assert (short.until, "Upgrade this agent." in short.sentence) == (START + timedelta(hours=1), True)
