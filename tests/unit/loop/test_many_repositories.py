"""Many repositories of one process, in virtual time: nobody starves, and no slot stays free while work is ready."""

from __future__ import annotations

from itertools import pairwise

import pytest
from fakes.agent import DONE
from slot_scene import BLOCKED, Plan, Seconds, shift

from shared.scheduling.agent_contract import Rest
from shared.scheduling.slots import LOOK_SECONDS

HOUR = 3600.0


@pytest.mark.parametrize(("limit", "repositories"), [(1, 50), (3, 200)])
def test_three_repositories_with_endless_work_do_not_keep_the_others_from_theirs(limit: int, repositories: int) -> None:
    plans = [Plan([1], endless=place < 3, takes=Seconds(work=10)) for place in range(repositories)]
    seen = shift(plans, 18 * repositories / limit, limit=limit)
    assert seen.most_at_once == limit
    assert all(len(plan.begun) == 1 for plan in plans[3:])
    assert all(len(plan.begun) > 1 for plan in plans[:3])


@pytest.mark.parametrize("limit", [1, 3])
def test_while_github_is_slow_each_repository_has_its_turn(limit: int) -> None:
    plans = [Plan([1], endless=True, takes=Seconds(listing=10, reading=50, work=120)) for _ in range(40)]
    seen = shift(plans, 2.2 * HOUR / limit, limit=limit)
    assert seen.most_at_once == limit
    assert all(len(plan.begun) in {1, 2} for plan in plans)
    assert sum(plan.in_vain for plan in plans) <= 20


def test_a_repository_full_of_blocked_items_that_are_slow_to_read_does_not_hold_up_the_rest() -> None:
    blocked = Plan(list(range(1, 31)), claims=dict.fromkeys(range(1, 31), BLOCKED), takes=Seconds(reading=60))
    ready = Plan([1], takes=Seconds(listing=5))
    shift([blocked, ready], 300)
    assert len(ready.begun) == 1


def test_an_item_that_looks_whether_its_wait_is_over_does_not_keep_the_next_one_from_its_slot() -> None:
    """Wakes it at each poll, as ever; here its look always ends after the next one's claim."""
    plan = Plan([1, 2], {1: [Rest("ci")]}, takes=Seconds(reading=1, look=5))
    shift([plan], 120)
    assert len(plan.begun) == 2
    assert plan.in_vain == 0


def test_what_goes_on_after_a_wait_waits_for_its_slot_if_others_have_taken_it() -> None:
    waits = [Rest("ci"), Rest("ci"), None, None, Rest("review"), None, DONE]
    back = [Plan([1], {1: list(waits)}, takes=Seconds(look=40)) for _ in range(6)]
    others = [Plan([1], endless=True, takes=Seconds(work=100)) for _ in range(4)]
    seen = shift([*back, *others], HOUR, limit=2)
    assert seen.most_at_once == 2
    assert not any(plan.held for plan in back), "and all come to their end"
    assert all(len(plan.begun) > 2 for plan in others)


def test_work_after_a_wait_takes_a_slot_again() -> None:
    back = Plan([1], {1: [Rest("ci"), None, DONE]}, takes=Seconds(look=200))
    plans = [back, *(Plan([1], endless=True, takes=Seconds(work=30)) for _ in range(2))]
    shift(plans, 1800)
    others = sorted(at for plan in plans[1:] for at in plan.begun)
    assert max(later - earlier for earlier, later in pairwise(others)) > 400 - LOOK_SECONDS - 30
