"""Ten thousand issues at once: nobody is passed over, and what is kept of them has a limit."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from fakes.clock import PassingClock
from fakes.unasked import UnaskedIssues

from shared.github.cache import ITEM_BYTES, MAX_BYTES, Cache, CachedAnswer
from shared.github.inbox import Inbox
from shared.github.listing import BRIEF, brief
from shared.loop.claim_queue import LOOKS, SkipBackoff
from shared.models import Account, Issue
from shared.scheduling.agent_contract import Candidate, Skip
from shared.scheduling.order import urgency

MANY = 10_000
FIRST = datetime(2024, 1, 1, tzinfo=UTC)
PRIORITIES = ("priority:critical", "priority:high")


def issue(number: int) -> Issue:
    """Return an issue: every thousandth is critical; the higher the number, the younger."""
    labels = {"status:ready"} | ({"priority:critical"} if number % 1000 == 0 else set())
    at = FIRST + timedelta(minutes=number)
    return Issue(number, f"Issue {number}", f"{number} " * 20, frozenset(labels), Account(1, "ada"), at, at, True)


class Lists(UnaskedIssues):
    """A repository with many open issues, in which nothing changes."""

    def __init__(self) -> None:
        self.looks: Counter[str] = Counter()

    async def recent(self) -> tuple[Issue, ...] | None:
        self.looks["recent"] += 1
        return None if self.looks["recent"] > 1 else tuple(issue(MANY - n) for n in range(100))

    async def labelled(self, label: str) -> tuple[Issue, ...]:
        self.looks["labelled"] += 1
        return tuple(issue(number) for number in range(1, MANY + 1))

    async def issue(self, number: int) -> Issue:
        self.looks["single"] += 1
        return issue(number)


@pytest.mark.fault(50)
async def test_a_quiet_week_costs_one_question_a_poll_and_one_sweep_in_ten_minutes() -> None:
    lists, clock = Lists(), PassingClock(0.0)
    inbox = Inbox(lists, ["status:ready"], clock)
    for _ in range(120):  # an hour, one poll in 30 s
        assert len(await inbox.look()) == MANY
        clock.seconds += 30
    assert lists.looks == {"recent": 120, "labelled": 6}, "no issue is asked for singly"


@pytest.mark.fault(50)
async def test_looking_again_and_again_keeps_nothing_more() -> None:
    clock = PassingClock(0.0)
    inbox = Inbox(Lists(), ["status:ready"], clock)
    await inbox.look()
    tracemalloc.start()
    try:
        for _ in range(3):
            clock.seconds += 601
            await inbox.look()
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 2 * MANY * 1024, "one generation of small issues, not three"


@pytest.mark.fault(50)
def test_answers_kept_have_a_limit_in_bytes() -> None:
    cache, dice = Cache(), Random(1)
    for number in range(100):
        cache.keep(f"/issues?page={number}", "json", CachedAnswer(f'"{number}"', dice.randbytes(400_000)))
    assert cache.size <= MAX_BYTES
    assert cache.find("/issues?page=99", "json") is not None


@pytest.mark.fault(50)
def test_lists_that_are_kept_as_values_have_a_limit_too() -> None:
    cache = Cache()
    for number in range(1000):
        cache.keep(f"/issues?page={number}", "issues", CachedAnswer(f'"{number}"', b"", items=(issue(number),) * 100))
    assert cache.size <= MAX_BYTES
    assert cache.size > 100 * 100 * ITEM_BYTES, "the pages of 10,000 issues find room"


@pytest.mark.fault(50)
def test_of_long_bodies_only_what_names_other_items_is_kept() -> None:
    body = f"{'x' * 60_000}\nDepends on #4\n{'y' * 4000}\nCloses #7\n"
    kept = brief(replace(issue(1), body=body))
    *lines, _ = kept.body.split("\n")
    assert (lines, kept.number, kept.labels) == (["Depends on #4", "Closes #7"], 1, issue(1).labels)
    assert len(brief(replace(issue(1), body="see #1\n" * 9000)).body) < BRIEF + 20
    assert brief(issue(2)).author is brief(issue(3)).author


def test_an_edit_of_what_is_not_kept_is_seen() -> None:
    before, after = (brief(replace(issue(1), body=f"Greet {who}.\nDepends on #4")) for who in ("people", "bots"))
    assert before.body != after.body
    assert brief(replace(issue(1), body="")).body == ""


@pytest.mark.fault(50)
def test_thousands_that_cannot_be_claimed_are_all_looked_at_in_turn() -> None:
    clock = PassingClock(0.0)
    skipped, candidates = SkipBackoff(clock), [Candidate(number, "1") for number in range(2000)]
    looks: Counter[int] = Counter()
    for _ in range(140):
        due = skipped.due(candidates, held={5})
        assert len(due) <= LOOKS
        for candidate in due:
            looks[candidate.number] += 1
            skipped.add(candidate, Skip("blocked", 60.0))
        clock.seconds += 30
    assert len(looks) == 1999, "all but the held one, although the first ones come due every minute"


@pytest.mark.fault(50)
def test_a_few_candidates_keep_their_order() -> None:
    clock = PassingClock(0.0)
    skipped, candidates = SkipBackoff(clock), [Candidate(number, "1") for number in range(3)]
    skipped.add(candidates[0], Skip("another agent won the claim"))
    assert list(skipped.due(candidates, held=())) == candidates


@pytest.mark.fault(50)
def test_the_first_ones_are_looked_at_in_every_tick_however_many_there_are() -> None:
    clock = PassingClock(0.0)
    skipped, candidates = SkipBackoff(clock), [Candidate(number, "1") for number in range(2000)]
    for tick in range(20):
        due = [one.number for one in skipped.due(candidates, held=())]
        assert due[: LOOKS // 2] == list(range(LOOKS // 2)), f"what is urgent waits for nobody, in tick {tick}"
        assert due == sorted(due)
        for number in due:
            skipped.add(candidates[number], Skip("backoff", 20.0))
        clock.seconds += 30


@pytest.mark.fault(50)
def test_of_ten_thousand_the_urgent_ones_come_first_and_then_the_old_ones() -> None:
    issues = [issue(number) for number in range(MANY, 0, -1)]
    order = [number for *_, number in sorted(urgency(one, PRIORITIES) for one in issues)]
    assert order == [*range(1000, MANY + 1, 1000), *(n for n in range(1, MANY) if n % 1000)]
