"""Bounds of memory in a process that lives for months: what it drops is found again by other means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fakes.clock import HandClock
from fakes.closing import FakeReplies
from fakes.reviewer_world import SPECIFIED

from reviewer_agent.issue_labels import IssueLabels
from shared.loop.claim_queue import KEPT, SkipBackoff
from shared.models import Issue
from shared.newest import MOST, Newest
from shared.scheduling.agent_contract import Candidate, Skip
from shared.telemetry.events import Event, EventKind
from shared.telemetry.fold import Tallies
from shared.workflow import Role
from shared.workflow.labels import Labels

AT = datetime(2026, 1, 5, tzinfo=UTC)


def test_the_entries_that_were_set_last_stay() -> None:
    known: Newest[str, int] = Newest(2)
    known["a"], known["b"] = 1, 2
    known["a"] = 3
    known["c"] = 4
    assert dict(known) == {"a": 3, "c": 4}
    known |= {"d": 5}
    assert known.setdefault("e", 6) == 6
    assert list(known) == ["d", "e"]


def test_candidates_of_long_ago_are_forgotten_unless_they_are_left_alone() -> None:
    clock = HandClock()
    skipped = SkipBackoff(clock)
    for number in range(KEPT + 1):
        skipped.add(Candidate(number, "1"), Skip("it is not ready", 60))
        assert skipped.refuse(Candidate(number, "1"))
    skipped.leave(7000, "an error of its own", 10_000)
    clock.seconds += 600
    listed = [Candidate(number, "1") for number in range(5)]
    assert skipped.due(listed, ()) == tuple(listed)
    assert sorted(skipped.reasons) == [0, 1, 2, 3, 4, 7000]
    assert Candidate(7000, "1") in skipped
    assert not skipped.refuse(listed[0])
    assert skipped.refuse(Candidate(KEPT, "1")), "it is new again"


async def test_a_thread_that_was_answered_long_ago_is_read_again_and_not_answered_twice() -> None:
    replies = FakeReplies()
    answering = IssueLabels(replies, Labels(), ())

    def pull(number: int) -> Issue:
        ready = {"status:ready"}
        return Issue(number, "", "", frozenset(ready), SPECIFIED.author, AT, AT, is_pull_request=True)

    await answering.answer([pull(number) for number in range(MOST)])
    assert len(replies.posted) == MOST
    replies.posted.clear()
    await answering.answer([pull(MOST), pull(0), pull(MOST - 1)])
    assert [number for number, _ in replies.posted] == [MOST, 0], "`once` finds its own reply in the thread of #0"


def test_a_request_that_nobody_answers_is_dropped_when_many_came_after_it() -> None:
    tallies = Tallies()

    def approval(number: int, state: str, at: datetime) -> Event:
        data = {"what": "plan", "state": state}
        return Event(at, "worker-1", Role.WORKER, "ada/x", EventKind.APPROVAL, number, data=data)

    for number in range(MOST + 1):
        tallies.record(approval(number, "requested", AT))
    for number in (0, MOST):
        tallies.record(approval(number, "granted", AT + timedelta(minutes=5)))
    (durations,) = tallies.durations["approval_response_time_seconds"].values()
    assert durations.total == 300
