"""The order of candidates: urgency decides, and inside the first window each agent has its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.models import Account, Issue
from shared.order import excluded, ordered

START = datetime(2026, 1, 5, tzinfo=UTC)
PRIORITIES = ("priority:critical", "Priority:High")


def issue(number: int, *labels: str, age_days: int = 0) -> Issue:
    at = START - timedelta(days=age_days)
    return Issue(number, f"#{number}", "", frozenset(labels), Account(1, "ada"), at, at)


def numbers(issues: list[Issue], agent: str = "worker-1", slots: int = 1) -> list[int]:
    return [found.number for found in ordered(issues, agent=agent, priorities=PRIORITIES, slots=slots)]


labels = st.sampled_from(["", "priority:critical", "PRIORITY:HIGH", "bug"])
issues = st.lists(
    st.builds(lambda n, label, age: issue(n, label, age_days=age), st.integers(1, 500), labels, st.integers(0, 9)),
    max_size=60,
    unique_by=lambda found: found.number,
)


def urgency(found: Issue) -> tuple[int, datetime, int]:
    names = [name.casefold() for name in found.labels]
    rank = next((i for i, priority in enumerate(PRIORITIES) if priority.casefold() in names), 2)
    return rank, found.created_at, found.number


@given(issues, st.text(max_size=8), st.integers(1, 5))
def test_it_is_a_permutation_whose_window_holds_the_most_urgent(found: list[Issue], agent: str, slots: int) -> None:
    got = ordered(found, agent=agent, priorities=PRIORITIES, slots=slots)
    queue = sorted(found, key=urgency)
    window = 2 * slots + 8
    assert set(got[:window]) == set(queue[:window])
    assert list(got[window:]) == queue[window:]


@given(issues)
def test_the_order_of_the_list_does_not_matter(found: list[Issue]) -> None:
    shuffled = sorted(found, key=lambda one: -one.number)
    assert numbers(found) == numbers(shuffled)


def test_agents_do_not_race_for_the_same_item() -> None:
    found = [issue(n) for n in range(1, 11)]
    firsts = {numbers(found, agent=f"worker-{n}")[0] for n in range(40)}
    assert len(firsts) > 5


def test_behind_the_window_priority_then_age_then_number_decide() -> None:
    urgent = [issue(n, "priority:critical") for n in range(1, 11)]
    rest = [issue(30), issue(20, age_days=1), issue(21, age_days=1), issue(40, "priority:high")]
    assert numbers([*rest, *urgent])[10:] == [40, 20, 21, 30]


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
    assert excluded(labels, ("blocked", "Do-Not-Automate")) == said
