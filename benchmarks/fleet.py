"""A fleet that GitHub limits: 60 issues in three repositories, 12 workers and 3 reviewers, under three accounts.

Each account works in a repository of its own and reviews its neighbour's. The lab holds every account to a limit that
so few issues reach. Every process has a token of its own, which shows who goes on when told to wait.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import psutil

from benchmarks.account_limits import limits
from benchmarks.fleet_host import PRIORITIES, Fleet, Sizes, fleet_of
from benchmarks.table import Row

SIZES = Sizes(repositories=3, issues=60, workers=12, reviewers=3, accounts=3, poll_seconds=2)

SECONDS_PER_ISSUE = 40.0


async def measure(root: Path) -> tuple[list[Row], dict[str, object]]:
    """Measure with every issue ready at once; the run ends when all are merged."""
    async with fleet_of(SIZES, root) as fleet:
        fleet.write(range(SIZES.issues), lambda issue: len(PRIORITIES) - 1)
        began = fleet.clock.boot()
        async with fleet.running():
            await fleet.closed(SIZES.issues, SECONDS_PER_ISSUE * SIZES.issues)
        seconds = fleet.clock.boot() - began
        rows = [*await merged(fleet), *account_rows(fleet)]
        rows.append(Row("seconds per issue", seconds / SIZES.issues, "s", note="lab included"))
        return rows, details(fleet, seconds)


async def merged(fleet: Fleet) -> list[Row]:
    """Return rows about the commits on the main branches, and the pull requests that brought them there."""
    issues = fleet.sizes.issues
    pulls = [(name, pull) for name in fleet.repositories for pull in fleet.lab.at(name).pulls.records.values()]
    merges = Counter((name, pull.head_branch) for name, pull in pulls if pull.merged_at is not None)
    commits = 0
    for name in fleet.repositories:
        commits += len(await fleet.lab.at(name).bare.log(None, "refs/heads/main", issues * 2)) - 1
    note = f"{fleet.sizes.workers} workers, {issues} issues, {fleet.sizes.repositories} repositories"
    return [
        Row("issues without a merge", issues - len(merges), "issues", 0, note),
        Row("merges beyond one per issue", sum(merges.values()) - len(merges), "merges", 0),
        Row("pull requests beyond one per issue", len(pulls) - issues, "pull requests", 0),
        Row("commits on main beyond one per issue", commits - issues, "commits", 0, "squashed"),
    ]


def account_rows(fleet: Fleet) -> list[Row]:
    """Return rows about each account's use of its limits."""
    sizes = fleet.sizes
    return limits(
        fleet.proxy.exchanges,
        fleet.owners,
        issues=sizes.issues,
        creations_per_minute=sizes.creations_per_minute,
    )


def details(fleet: Fleet, seconds: float) -> dict[str, object]:
    """Return the details behind the rows of a run of `seconds`."""
    sizes = fleet.sizes
    return {
        "repositories": sizes.repositories,
        "issues": sizes.issues,
        "workers": sizes.workers,
        "reviewers": sizes.reviewers,
        "accounts": sizes.accounts,
        "poll_seconds": sizes.poll_seconds,
        "per_minute": sizes.creations_per_minute,
        "seconds": round(seconds),
        "load": round(psutil.getloadavg()[0], 1),
    }
