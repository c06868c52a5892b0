"""Workers with many repositories, in virtual time: few claims are lost, and none takes what it has no slot for."""

from __future__ import annotations

import pytest
from rival_scene import Sizes, race

QUICK, SLOW = (0.1, 0.5), (5.0, 15.0)
"""Seconds that an answer of GitHub takes: usually, and while a machine or a network has too much to do."""


@pytest.mark.parametrize(
    ("sizes", "lost", "charged"),
    [
        (Sizes(6, 10, 36, QUICK), 0.1, 10.0),
        (Sizes(6, 10, 36, SLOW), 0.2, 10.0),
        (Sizes(4, 4, 24, SLOW, work=600.0), 0.2, 12.0),
        (Sizes(3, 6, 24, SLOW, concurrent=2), 0.2, 10.0),
    ],
    ids=["usual", "slow", "slow, with long work", "slow, with two items each"],
)
def test_few_claims_are_lost_and_each_issue_is_claimed_once(sizes: Sizes, lost: float, charged: float) -> None:
    counts, _ = race(sizes)
    assert sorted(number for *_, number in counts.won) == list(range(1, sizes.issues + 1))
    assert counts.most_at_once <= sizes.concurrent, "in all repositories of one process together"
    assert counts.passed_over == 0, "nothing is claimed before what is more urgent"
    assert counts.refused / sizes.issues <= lost
    assert counts.charged / sizes.issues <= charged, "what is read in vain costs as well"


def test_who_meets_in_one_repository_while_answers_are_slow_parts() -> None:
    sizes = Sizes(6, 1, 30, SLOW)
    counts, _ = race(sizes)
    assert len(counts.won) == sizes.issues
    assert counts.passed_over == 0
    assert counts.refused / sizes.issues <= 0.4, "1.4 without a second look at the fence"
    assert counts.overtaken > counts.refused
