"""A fleet's lab as the benchmarks set it up: what it has before anything runs, and what is said when nothing does."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fleet_host import PRIORITIES, Sizes, fleet_of
from benchmarks.lab_host import Stuck

SIZES = Sizes(repositories=3, issues=5, workers=3, reviewers=2, accounts=2, poll_seconds=2)


async def test_every_process_has_a_name_every_account_a_token_and_every_issue_a_repository(tmp_path: Path) -> None:
    async with fleet_of(SIZES, tmp_path) as fleet:
        assert fleet.repositories == ["ada/engine-a-000", "ada/engine-a-002", "ada/engine-b-001"]
        names = sorted(name for name in fleet.processes if not fleet.reviews(name))
        assert names == ["engine-a-worker-0", "engine-a-worker-1", "engine-b-worker-0"]
        assert sorted(fleet.owners.values()) == ["engine-a", "engine-b"]
        assert [house.tokens for house in fleet.houses] == [("engine-a", "engine-b"), ("engine-b", "engine-a")]
        fleet.write(range(SIZES.issues), lambda issue: issue)
        labels = [fleet.lab.at(one.repository).issues.records[one.number].labels for one in fleet.written]
        assert labels == [("status:ready", *filter(None, (label,))) for label in PRIORITIES]
        assert fleet.proxy.exchanges == []


async def test_a_fleet_in_which_nothing_happens_says_what_is_missing(tmp_path: Path) -> None:
    async with fleet_of(SIZES, tmp_path) as fleet:
        fleet.write(range(2), lambda issue: 0)
        with pytest.raises(Stuck, match=r"2 issues are open \(ada/engine-a-000#1 status:ready priority:critical, ada"):
            await fleet.closed(2, 0.1)
        with pytest.raises(Stuck, match="0 of 8"):
            await fleet.polled(0.1)
        for one in fleet.written:
            fleet.lab.at(one.repository).issues.close(one.number, "ada")
        await fleet.closed(2, 5.0)
        assert fleet.missing() == []
