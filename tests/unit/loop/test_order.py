"""The order of candidates: urgency decides, and agents spread only as far as they meet."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.models import Account, Issue
from shared.scheduling.agent_contract import Candidate
from shared.scheduling.order import WIDEST, Spread, assigned, exclusion_reason, urgency

START = datetime(2026, 1, 5, tzinfo=UTC)
PRIORITIES = ("priority:critical", "Priority:High")


def issue(number: int, *labels: str, age_days: int = 0) -> Issue:
    at = START - timedelta(days=age_days)
    return Issue(number, f"#{number}", "", frozenset(labels), Account(1, "ada"), at, at)


def numbers(*issues: Issue) -> list[int]:
    return [number for *_, number in sorted(urgency(one, PRIORITIES) for one in issues)]


def test_priority_decides_then_age_then_number() -> None:
    rest = [issue(30), issue(20, age_days=1), issue(21, age_days=1), issue(40, "priority:high")]
    assert numbers(*rest, issue(50, "bug", "PRIORITY:CRITICAL")) == [50, 40, 20, 21, 30]


def test_of_two_priorities_the_more_urgent_counts() -> None:
    assert numbers(issue(1, "priority:high"), issue(2, "priority:high", "priority:critical")) == [2, 1]


def queue(*ranks: int) -> list[Candidate]:
    return [Candidate(number, "", rank) for number, rank in enumerate(ranks, start=1)]


def order(spread: Spread, candidates: list[Candidate]) -> list[int]:
    left, found = list(candidates), []
    while left:
        one = spread.next(left)
        left.remove(one)
        found.append(one.number)
    return found


def after(*claims: str, pick: int = -1) -> Spread:
    """Return an agent with this history; of several candidates it picks the one at `pick`."""
    spread = Spread(lambda below: pick % below)
    for claim in claims:
        (spread.won if claim == "won" else spread.lost)()
    return spread


@given(st.lists(st.integers(0, 3), max_size=40))
def test_who_meets_nobody_works_strictly_in_order(ranks: list[int]) -> None:
    candidates = queue(*sorted(ranks))
    assert order(Spread(), candidates) == [one.number for one in candidates]


@given(st.lists(st.integers(0, 3), max_size=40), st.lists(st.sampled_from(["won", "lost"]), max_size=20), st.integers())
def test_however_wide_it_spreads_nothing_is_tried_before_what_is_more_urgent(
    ranks: list[int], claims: list[str], pick: int
) -> None:
    candidates = queue(*sorted(ranks))
    ranked = {one.number: one.rank for one in candidates}
    tried = order(after(*claims, pick=pick), candidates)
    assert sorted(tried) == sorted(ranked), "each once"
    assert [ranked[number] for number in tried] == sorted(ranks)


@pytest.mark.parametrize(
    ("claims", "width"),
    [
        ((), 1),
        (("won", "won"), 1),
        (("lost",), 2),
        (("lost", "lost", "lost"), 8),
        (("lost", "lost", "won"), 3),
        (("lost", "lost", "won", "won", "won"), 1),
        (("lost", "won", "won"), 1),
        (("lost",) * 20, WIDEST),
    ],
)
def test_lost_claims_widen_the_spread_and_won_ones_narrow_it(claims: tuple[str, ...], width: int) -> None:
    spread = after(*claims)
    assert spread.width == width
    assert spread.next(queue(*[0] * 100)).number == width, "the last of those it picks among"


def test_agents_that_meet_part_within_a_few_claims() -> None:
    """Ten agents claim at once, each a random candidate; of those that try the same one, one wins."""
    chance = random.Random(7)
    agents, left, rounds = [Spread(chance.randrange) for _ in range(10)], queue(*[0] * 100), 0
    idle = list(agents)
    while idle:
        rounds += 1
        tried = {agent: agent.next(left) for agent in idle}
        for candidate in set(tried.values()):
            winner, *losers = [agent for agent in idle if tried[agent] is candidate]
            winner.won()
            for one in losers:
                one.lost()
            left.remove(candidate)
            idle.remove(winner)
    assert rounds <= 6
    assert max(one.number for one in queue(*[0] * 100) if one not in left) <= 40, "and the oldest are taken"


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ((), ""),
        (("bug", "unblocked"), ""),
        (("bug", "Blocked"), "it carries the excluded label 'Blocked'"),
        (("do-not-automate", "blocked"), "it carries the excluded label 'blocked'"),
    ],
)
def test_an_excluded_label_is_named_whatever_its_case(labels: tuple[str, ...], said: str) -> None:
    assert exclusion_reason(labels, ("blocked", "Do-Not-Automate")) == said


def test_an_issue_that_is_assigned_to_people_is_theirs() -> None:
    grace, engine, alan = Account(1, "grace"), Account(2, "engine-bot"), Account(3, "alan")
    told = [
        assigned(replace(issue(1), assignees=assignees), lambda account: account.id == 2)
        for assignees in ((), (engine,), (grace,), (grace, engine, alan))
    ]
    assert told == ["", "", "it is assigned to grace", "it is assigned to alan, grace"]
