"""A fleet with all repositories, issues and processes that a machine holds: the end, time and cost of each issue.

A few issues come first, in the same fleet, so that their costs can be compared; the others come in two parts, the
second while the first is in work.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import psutil

from benchmarks.fleet import account_rows, details, merged
from benchmarks.fleet_counts import Claim, LogFacts, claims_in, growth, log_facts, overtaken, polls_of
from benchmarks.fleet_host import PRIORITIES, Fleet, Sizes, fleet_of
from benchmarks.request_counts import Tally, tally
from benchmarks.table import Row
from lab.chaos.evidence import fence_moves

SIZES = Sizes(repositories=200, issues=500, workers=30, reviewers=6, accounts=5, poll_seconds=30)
"""The sizes; the interval of polls is the engine's own: how often two workers reach for one issue depends on it."""

FEW = 10
"""Number of issues that come first, or half of all if there are few."""

SECONDS_PER_ISSUE = 40.0
SECONDS_PER_START = 3.0
"""Seconds that a process may take for one of its repositories at its start; all of them start at once."""

QUIET_POLLS = 2
"""Number of intervals after which everything that follows from the last change was read."""

LOST = 0.2
"""Number of claims that may be lost for each issue."""


@dataclass(frozen=True, slots=True)
class Spans:
    """The places in the exchanges where the parts of a run begin, and the seconds that the issues took."""

    few: int
    many: int
    end: int
    few_issues: int
    seconds: float


async def measure(root: Path, sizes: Sizes = SIZES) -> tuple[list[Row], dict[str, object]]:
    """Measure a start, a few issues, all others; the run ends when all are merged."""
    async with fleet_of(sizes, root) as fleet:
        async with fleet.running():
            began = fleet.clock.boot()
            await fleet.polled(60 + SECONDS_PER_START * sizes.loops)
            started = fleet.clock.boot() - began
            spans = await _work_off(fleet)
            memory = sum(one.memory_info().rss for one in psutil.Process().children())
        few, many, facts = await anyio.to_thread.run_sync(_read_counts, fleet, spans)
        costs = growth(few, spans.few_issues, many, sizes.issues - spans.few_issues)
        start = tally(fleet.proxy.exchanges[: spans.few])
        rows = [*await merged(fleet), *await _claim_rows(fleet, facts), *_lost_rows(fleet, facts), *account_rows(fleet)]
        rows += [*costs, *_start_rows(fleet, started, start)]
        rows.append(Row("seconds per issue", spans.seconds / sizes.issues, "s", note="lab included"))
        rows.append(Row("memory of all processes", memory / 2**20, "MiB RSS", note="shared pages counted for each"))
        shapes = {"start": start.shapes, "few": few.shapes, "many": many.shapes}
        return rows, details(fleet, spans.seconds) | {"charged": shapes}


async def _work_off(fleet: Fleet) -> Spans:
    """Let the fleet merge everything: a few issues, then the others in two parts."""
    issues, bound = fleet.sizes.issues, SECONDS_PER_ISSUE
    few = min(FEW, issues // 2)
    half = (issues - few + 1) // 2
    await _await_quiet(fleet)
    began, start = fleet.clock.boot(), len(fleet.proxy.exchanges)
    fleet.write(range(few), _rank)
    await fleet.closed(few, bound * (few + fleet.sizes.poll_seconds))
    await _await_quiet(fleet)
    middle = len(fleet.proxy.exchanges)
    fleet.write(range(few, few + half), _rank)
    await fleet.closed(few + half // 2, bound * issues)
    fleet.write(range(few + half, issues), _rank)
    await fleet.closed(issues, bound * issues)
    seconds = fleet.clock.boot() - began
    await _await_quiet(fleet)
    return Spans(start, middle, len(fleet.proxy.exchanges), few, seconds)


async def _await_quiet(fleet: Fleet) -> None:
    await fleet.clock.sleep(QUIET_POLLS * fleet.sizes.poll_seconds)


def _rank(issue: int) -> int:
    """Return a priority by chance, the same in each run."""
    return random.Random(issue).randrange(len(PRIORITIES))


def _read_counts(fleet: Fleet, spans: Spans) -> tuple[Tally, Tally, dict[str, LogFacts]]:
    """Return the requests among few and among many issues, and the facts from each process's log."""
    exchanges = fleet.proxy.exchanges
    facts = {}
    for name in fleet.processes:
        with fleet.houses[0].log(name).open(encoding="utf-8", errors="replace") as lines:
            facts[name] = log_facts(lines)
    return tally(exchanges[spans.few : spans.many]), tally(exchanges[spans.many : spans.end]), facts


async def _claim_rows(fleet: Fleet, facts: dict[str, LogFacts]) -> list[Row]:
    """Return rows about the order of claims: the more urgent goes first."""
    claims: list[Claim] = []
    for name in fleet.repositories:
        bare = fleet.lab.at(name).bare
        changes = bare.log_of_refs.read() if bare.log_of_refs else []
        claims += claims_in(name, await fence_moves(bare, changes))
    ahead = fleet.clock.now() - anyio.current_time()
    polls = polls_of(fleet.proxy.exchanges, ahead)
    near = overtaken(claims, fleet.written, polls, across=False)
    vain = [one for one in near if (one.urgent.repository, one.urgent.number) in facts[one.claim.agent].left_alone]
    far = {one.claim for one in overtaken(claims, fleet.written, polls, across=True)}
    return [
        Row("claims before a more urgent issue that was seen", len(near) - len(vain), "claims", 0, f"of {len(claims)}"),
        Row("claims before one at which an error was met", len(vain), "claims"),
        Row("claims while another repository had a more urgent one", len(far), "claims", note="not promised"),
        Row("claims beyond one per issue", len(claims) - fleet.sizes.issues, "claims", note="lost in part, or resumed"),
    ]


def _lost_rows(fleet: Fleet, facts: dict[str, LogFacts]) -> list[Row]:
    lost, held = sum(one.lost for one in facts.values()), sum(one.held for one in facts.values())
    reviews = sum(one.lost for name, one in facts.items() if fleet.reviews(name))
    overtaken = sum(one.overtaken for one in facts.values())
    note = f"{lost - reviews} by workers, {reviews} by reviewers"
    return [
        Row("claims lost per issue", lost / fleet.sizes.issues, "claims", LOST, note),
        Row("claims given up before the push per issue", overtaken / fleet.sizes.issues, "claims", note="a slow look"),
        Row("looks at what another holds per issue", held / fleet.sizes.issues, "looks", note="no claim is tried"),
    ]


def _start_rows(fleet: Fleet, seconds: float, start: Tally) -> Sequence[Row]:
    loops = fleet.sizes.loops
    return [
        Row("start of all: every repository was polled by all its processes", seconds, "s", note=f"{loops} pairs"),
        Row("start: charged requests per process and repository", start.charged / loops, "requests"),
        Row("start: git exchanges per process and repository", start.git / loops, "requests"),
    ]
