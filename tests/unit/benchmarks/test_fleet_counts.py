"""Measures of a fleet's run: the order of claims, the figures from its logs, and the growth of its costs."""

from __future__ import annotations

import json

import pytest

from benchmarks.fleet_counts import Claim, Overtaken, Written, claims_in, growth, log_facts, overtaken, polls_of
from benchmarks.request_counts import Exchange, tally
from lab.chaos.evidence import FenceMove
from shared.loop.claim_queue import NO_SLOT
from shared.loop.claims import OVERTAKEN

HERE, THERE = "a/here", "a/there"
URGENT, USUAL = Written(HERE, 1, 0, 50.0), Written(HERE, 2, 3, 10.0)
POLL = "/repos/{}/issues?state=open&sort=updated&direction=desc&per_page=100"
SEEN = {("one", HERE): [(20.0, 19.0), (60.0, 59.0)], ("two", HERE): [(70.0, 49.0)]}


def move(at: float, epoch: int, agent: str) -> FenceMove:
    """Return a fence's move as git has it."""
    return FenceMove(at, "", None, "new", None, {"Epoch": str(epoch), "Agent": agent})


@pytest.mark.parametrize(
    ("claims", "found"),
    [
        ([Claim("one", HERE, 2, 61.0)], 1),  # nobody ever claims the urgent one
        ([Claim("one", HERE, 2, 61.0), Claim("two", HERE, 1, 62.0)], 1),
        ([Claim("one", HERE, 2, 61.0), Claim("two", HERE, 1, 60.5)], 0),
        ([Claim("one", HERE, 2, 61.0), Claim("two", HERE, 1, 55.0), Claim("two", HERE, 1, 80.0)], 0),  # claimed again
        ([Claim("one", HERE, 2, 58.0)], 0),  # its last poll was before the urgent one was written
        ([Claim("two", HERE, 2, 71.0)], 0),  # asked before, answered after
        ([Claim("three", HERE, 2, 71.0)], 0),  # it has never polled
        ([Claim("one", HERE, 1, 61.0)], 0),  # the usual one may wait
    ],
)
def test_a_claim_before_a_more_urgent_issue_counts_once_that_was_seen(claims: list[Claim], found: int) -> None:
    assert len(overtaken(claims, [URGENT, USUAL], SEEN, across=False)) == found
    assert overtaken(claims, [URGENT, USUAL], SEEN, across=True) == []


def test_what_waits_in_another_repository_is_told_apart() -> None:
    claim, far = Claim("one", HERE, 2, 61.0), Written(THERE, 1, 0, 10.0)
    seen = {**SEEN, ("one", THERE): [(30.0, 29.0)]}
    assert overtaken([claim], [USUAL, far], seen, across=True) == [Overtaken(claim, far)]
    assert overtaken([claim], [USUAL, far], seen, across=False) == []
    assert overtaken([claim], [USUAL, far], SEEN, across=True) == []  # a repository that it does not serve


def test_a_claim_begins_an_epoch_of_a_workers_fence() -> None:
    history = [move(1.0, 1, "one"), move(2.0, 1, "one"), move(9.0, 2, "two")]
    moves = {"refs/ack/worker/4": history, "refs/ack/reviewer/5": [move(3.0, 1, "three")]}
    assert claims_in(HERE, moves) == [Claim("one", HERE, 4, 1.0), Claim("two", HERE, 4, 9.0)]


def test_only_polls_that_were_answered_show_anything() -> None:
    asked = [
        Exchange("GET", POLL.format(HERE), 200, "aaa", 1.0, 2.0, agent="one"),
        Exchange("GET", POLL.format(HERE), 304, "aaa", 3.0, 4.0, agent="one"),
        Exchange("GET", POLL.format(HERE), 502, "aaa", 5.0, 6.0, agent="one"),
        Exchange("GET", POLL.format(HERE), 200, "of a person", 7.0, 8.0),
        Exchange("GET", f"/repos/{HERE}/issues/1", 200, "aaa", 9.0, 10.0, agent="one"),
    ]
    assert polls_of(asked, 100.0) == {("one", HERE): [(102.0, 101.0), (104.0, 103.0)]}


def test_a_log_tells_which_claims_were_lost_and_what_was_left_alone() -> None:
    events = [
        {"event": "claim_lost", "repo": HERE, "issue": 1},
        {"event": "item_skipped", "repo": HERE, "issue": 1, "reason": "another agent won the claim"},
        {"event": "item_skipped", "repo": HERE, "issue": 2, "reason": "engine-a-worker-0 holds it"},
        {"event": "item_skipped", "repo": HERE, "issue": 3, "reason": "GitHub is away"},
        {"event": "item_skipped", "repo": HERE, "issue": 5, "reason": OVERTAKEN},
        {"event": "item_skipped", "repo": HERE, "issue": 6, "reason": NO_SLOT},
        {"event": "claim_won", "repo": HERE, "issue": 4},
    ]
    seen = log_facts(["a library prints this\n", *(f"{json.dumps(event)}\n" for event in events)])
    assert (seen.lost, seen.overtaken, seen.held, seen.left_alone) == (1, 1, 1, frozenset({(HERE, 3)}))


def costs(reads: int, polls: int, sweeps: int = 0) -> list[Exchange]:
    """Return so many charged requests of each kind."""
    usual, poll = Exchange("GET", f"/repos/{HERE}/issues/1", 200), Exchange("GET", POLL.format(HERE), 200)
    sweep = Exchange("GET", f"/repos/{HERE}/issues?labels=status%3Aready", 200)
    return [*[usual] * reads, *[poll] * polls, *[sweep] * sweeps]


@pytest.mark.parametrize(
    ("many", "apart", "grown"),
    [
        (costs(400, 200), "held", "held"),
        (costs(500, 100), "missed", "held"),  # more of what is not polls, and no more in all
        (costs(300, 200), "missed", "held"),
        (costs(400, 300), "held", "missed"),
        (costs(400, 100, 100), "held", "held"),
        (costs(400, 200, 100), "held", "missed"),
    ],
)
def test_an_issue_among_many_costs_what_it_costs_among_few(many: list[Exchange], apart: str, grown: str) -> None:
    rows = growth(tally(costs(40, 20)), 1, tally(many), 10)
    verdicts = {row.what: row.verdict for row in rows}
    assert (verdicts["how far these are apart"], verdicts["growth with lists"]) == (apart, grown)
