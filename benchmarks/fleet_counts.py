"""Counts of a fleet's work: claims and their order, claims that were lost, and how costs grow (pure)."""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.request_counts import Exchange, Tally
from benchmarks.table import Row
from lab.chaos.evidence import FenceMove
from shared.loop.claim_queue import NO_SLOT
from shared.loop.claims import LOST, OVERTAKEN

FLAT_PERCENT = 15.0
"""Percent by which a cost for each issue may differ between few and many issues."""

_SWEEP = "GET /issues"
"""The shape of a list of issues that is no poll."""


@dataclass(frozen=True, slots=True)
class Written:
    """An issue as it was given to the fleet, at `at` by the lab's clock; a smaller `rank` is more urgent."""

    repository: str
    number: int
    rank: int
    at: float


@dataclass(frozen=True, slots=True)
class Claim:
    """A fence that began a new epoch, at `at` by the lab's clock."""

    agent: str
    repository: str
    number: int
    at: float


@dataclass(frozen=True, slots=True)
class LogFacts:
    """Facts from the log of one process: claims that it lost, claims that it gave up right before the push because
    another agent had begun, looks at what another one held, and issues that it found not to be claimable.
    """

    lost: int
    overtaken: int
    held: int
    left_alone: frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class Overtaken:
    """A claim, and a more urgent issue that nobody had claimed then although the claimer had seen it."""

    claim: Claim
    urgent: Written


Polls = Mapping[tuple[str, str], Sequence[tuple[float, float]]]
"""Process and repository -> when the answer to each poll came and when it had been asked, in order."""


def claims_in(repository: str, moves: Mapping[str, Sequence[FenceMove]]) -> list[Claim]:
    """Return the claims of workers, by the fences of one repository."""
    found = []
    for ref, history in moves.items():
        kind, number = ref.removeprefix("refs/ack/").split("/")
        epoch = 0
        for move in history if kind == "worker" else ():
            if move.number > epoch:
                found.append(Claim(move.agent, repository, int(number), move.at))
            epoch = max(epoch, move.number)
    return sorted(found, key=lambda claim: claim.at)


def polls_of(exchanges: Iterable[Exchange], ahead: float) -> Polls:
    """Return the answered polls; `ahead`: seconds of the lab's clock before theirs."""
    found: defaultdict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for exchange in exchanges:
        if exchange.change_list and exchange.agent and exchange.status in {200, 304}:
            repository = exchange.path.removeprefix("/repos/").removesuffix("/issues")
            found[exchange.agent, repository].append((exchange.answered + ahead, exchange.asked + ahead))
    return {key: sorted(times) for key, times in found.items()}


def overtaken(claims: Iterable[Claim], written: Iterable[Written], polls: Polls, *, across: bool) -> list[Overtaken]:
    """Return claims that came before a more urgent issue, seen by the claimer, in the same repository or in another.

    An issue counts until its first claim by anybody, and once it was there before the claimer asked for its last poll.
    """
    issues = {(one.repository, one.number): one for one in written}
    ordered = sorted(claims, key=lambda claim: claim.at)
    first = {(one.repository, one.number): one.at for one in reversed(ordered)}

    def overtakes(claim: Claim, issue: Written) -> bool:
        rank = issues[claim.repository, claim.number].rank
        free = issue.rank < rank and first.get((issue.repository, issue.number), math.inf) > claim.at
        if not free or (issue.repository != claim.repository) is not across:
            return False
        return issue.at < _time_of_last_poll(polls.get((claim.agent, issue.repository), ()), claim.at)

    return [Overtaken(claim, one) for claim in ordered for one in issues.values() if overtakes(claim, one)]


def log_facts(lines: Iterable[str]) -> LogFacts:
    """Read a verbose log, whose lines are JSON but for what libraries print."""
    lost = overtaken = held = 0
    left_alone = set()
    for line in lines:
        if '"claim_lost"' in line:
            lost += 1
        elif '"item_skipped"' in line:
            event = json.loads(line)
            reason = str(event.get("reason", ""))
            if reason.endswith(" holds it"):
                held += 1
            elif reason == OVERTAKEN:
                overtaken += 1
            elif reason not in {LOST, NO_SLOT}:
                left_alone.add((str(event["repo"]), int(event["issue"])))
    return LogFacts(lost, overtaken, held, frozenset(left_alone))


def growth(few: Tally, few_issues: int, many: Tally, many_issues: int) -> list[Row]:
    """Return rows about the cost of an issue among few and among many, with the reads of lists and without.

    Without them it is to be the same. Lists are charged to each process that reads what has changed, and again at each
    sweep: they may be fewer for each issue, where one list tells of several, but not more.
    """
    before, after = _costs(few, few_issues), _costs(many, many_issues)
    apart = 100 * abs(after[0] / before[0] - 1)
    total = 100 * (sum(after) / sum(before) - 1)
    note = f"{few_issues} issues, then {many_issues}"
    return [
        Row("charged per issue without lists, among few", before[0], "requests"),
        Row("charged per issue without lists, among many", after[0], "requests"),
        Row("how far these are apart", apart, "%", FLAT_PERCENT, note),
        Row("charged lists per issue, among few", before[1], "requests", note="polls and sweeps"),
        Row("charged lists per issue, among many", after[1], "requests"),
        Row("growth with lists", total, "%", FLAT_PERCENT, note),
    ]


def _costs(requests: Tally, issues: int) -> tuple[float, float]:
    """Return charged requests for each issue: without the reads of lists of issues, and these reads."""
    lists = requests.charged_change_lists + requests.shapes.get(_SWEEP, 0)
    return (requests.charged - lists) / issues, lists / issues


def _time_of_last_poll(polls: Sequence[tuple[float, float]], before: float) -> float:
    """Return the time at which the last poll that was answered before a moment was asked."""
    index = bisect_left(polls, (before, -math.inf))
    return polls[index - 1][1] if index else -math.inf
