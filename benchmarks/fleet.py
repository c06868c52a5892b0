"""A fleet that GitHub limits: 60 issues in three repositories, 12 workers and 3 reviewers, under three accounts.

Each account works in a repository of its own and reviews its neighbour's. The lab holds every account to a limit that
so few issues reach. Every process has a token of its own, which shows who goes on when told to wait.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import psutil

from benchmarks.fleet_host import PRIORITIES, Fleet, Sizes, fleet_of
from benchmarks.request_counts import Exchange
from benchmarks.table import Row

SIZES = Sizes(repositories=3, issues=60, workers=12, reviewers=3, accounts=3, poll_seconds=2)

SECONDS_PER_ISSUE = 40.0

UNDER_WAY_SECONDS = 0.5
"""Seconds after a refusal in which a request may have been sent before the refusal was read."""

MARGIN_SECONDS = 1.0
"""Seconds at the end of a pause that are not counted: the lab tells whole seconds."""

COUNTED_SECONDS = 59.0
"""Seconds in which no more can be created than in the lab's minute, which it tells in whole seconds."""

CHARGED_PER_HOUR = 5000
"""Requests of one account that GitHub, and the lab, allow in an hour; operations of GraphQL as many, besides."""

POINTS_PER_MINUTE = 900
"""Points of REST requests that GitHub allows one account in a minute: a read is a point, a write five.

GitHub does not say whether an answer 304 counts; here it does. The lab does not enforce this limit.
"""

_POINTS_OF_A_WRITE = 5


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


def limits(
    exchanges: Sequence[Exchange], owners: Mapping[str, str], *, issues: int, creations_per_minute: int
) -> list[Row]:
    """Return rows about the busiest account and about what followed a refusal; `owners`: token -> account."""
    created: defaultdict[str, list[Exchange]] = defaultdict(list)
    charged: defaultdict[str, list[float]] = defaultdict(list)
    graphql: defaultdict[str, list[float]] = defaultdict(list)
    for exchange in exchanges:
        account = owners.get(exchange.token)
        if account is not None and exchange.graphql:
            graphql[account].append(exchange.answered)
        if account is not None and exchange.charged:
            charged[account].append(exchange.answered)
            if exchange.content and exchange.status < 300:
                created[account].append(exchange)
    minute = max((begun_and_ended_within(made, COUNTED_SECONDS) for made in created.values()), default=0)
    hour, operations = (
        max((busiest(times, 3600.0) for times in found.values()), default=0) for found in (charged, graphql)
    )
    refused = Counter(exchange.content for exchange in exchanges if exchange.refused)
    creations = sum(map(len, created.values()))
    return [
        Row("most creations of one account in a minute", minute, "requests", creations_per_minute),
        Row("creations refused", refused[True], "requests", note="the limit was reached"),
        Row("other requests refused", refused[False], "requests"),
        Row("requests of a process that was told to wait", too_early(exchanges), "requests", 0),
        Row("charged requests of the busiest account in an hour", hour, "requests", CHARGED_PER_HOUR),
        Row("operations of GraphQL of the busiest account in an hour", operations, "requests", CHARGED_PER_HOUR),
        Row(
            "charged requests per issue", sum(map(len, charged.values())) / issues, "requests", note="starts and polls"
        ),
        Row("points of the busiest account in a minute", _points(exchanges, owners), "points", POINTS_PER_MINUTE),
        Row("creations per issue", creations / issues, "requests"),
    ]


def _points(exchanges: Iterable[Exchange], owners: Mapping[str, str]) -> int:
    points: defaultdict[str, list[float]] = defaultdict(list)
    for exchange in exchanges:
        if exchange.token in owners and not exchange.git and exchange.path not in {"/rate_limit", "/graphql"}:
            points[owners[exchange.token]] += [exchange.asked] * (_POINTS_OF_A_WRITE if exchange.write else 1)
    return max(map(busiest, points.values()), default=0)


def busiest(times: Iterable[float], seconds: float = 60.0) -> int:
    """Return the most moments within so many seconds, wherever these begin."""
    ordered = sorted(times)
    return max((bisect_left(ordered, start + seconds) - index for index, start in enumerate(ordered)), default=0)


def begun_and_ended_within(exchanges: Sequence[Exchange], seconds: float) -> int:
    """Return the most exchanges that were asked and answered within so many seconds, wherever these begin.

    The server counted each at an unknown moment between the two, which are far apart on a loaded machine.
    """
    return max(
        (
            sum(first.asked <= one.asked and one.answered < first.asked + seconds for one in exchanges)
            for first in exchanges
        ),
        default=0,
    )


def too_early(exchanges: Iterable[Exchange]) -> int:
    """Return the requests, git's aside, that an agent sent between a refusal and the end of the pause it was told."""
    requests = list(exchanges)
    pauses: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for exchange in requests:
        if exchange.refused:
            end = exchange.answered + exchange.wait_seconds - MARGIN_SECONDS
            pauses[exchange.token, exchange.agent].append((exchange.answered + UNDER_WAY_SECONDS, end))
    answered = [one for one in requests if not one.git and one.path != "/rate_limit"]
    return sum(
        any(start < one.asked < end for start, end in pauses.get((one.token, one.agent), ())) for one in answered
    )
