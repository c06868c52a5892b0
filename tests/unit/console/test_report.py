"""The report: chains of fences, the base's history, notes and ledger become figures."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from report_scene import (
    APPROVED,
    ASKED,
    DONE,
    IMPLEMENTING,
    IN_REVIEW,
    REVIEW,
    REVIEWING,
    START,
    TESTING,
    WORK,
    Said,
    item,
)

from console.report.item import Touch, WorkState
from console.report.rework import Landed, Reason, read, rework
from shared.ci.ci_round import SENT_BACK
from shared.workflow import Stage, Track


def test_an_item_that_went_through_by_itself() -> None:
    found = item()
    assert (found.number, found.pull_request, found.outcome, found.tries, found.rounds) == (
        7,
        9,
        WorkState.MERGED,
        1,
        0,
    )
    assert (found.touches, found.reopened_at, found.lead) == (frozenset(), None, timedelta(minutes=40))
    minutes = {track: {stage: span.seconds // 60 for stage, span in of.items()} for track, of in found.stages.items()}
    assert minutes == {
        Track.SPECIFICATION: {IMPLEMENTING: 20, TESTING: 10, REVIEWING: 10},
        Track.PULL_REQUEST: {IN_REVIEW: 6, APPROVED: 4},
    }


def test_a_pull_request_that_people_merged_is_known_by_the_reviewers_fence_alone() -> None:
    found = item(work=WORK)
    assert (found.outcome, found.ended_at) == (WorkState.MERGED, START + timedelta(minutes=40))


@pytest.mark.parametrize(
    ("last", "outcome"),
    [
        (REVIEWING, WorkState.OPEN),
        (Stage.FAILED, WorkState.HALTED),
        (Stage.CI_FAILED, WorkState.HALTED),
        (Stage.WITHDRAWN, WorkState.WITHDRAWN),
    ],
)
def test_what_was_not_merged(last: Stage, outcome: WorkState) -> None:
    found = item(work=(*WORK, (50, last)), review=())
    assert (found.outcome, found.ended_at) == (outcome, START + timedelta(minutes=50))


@pytest.mark.parametrize(
    ("counters", "tries"),
    [((0, 1), 1), ((0, 1, 2, 3), 3), ((0, 1, 2, 3, 2, 3), 4), ((0, 1, 2, 0, 1), 3), ((0, 0), 0)],
    ids=["one", "three", "one more after a retry", "counted anew", "none"],
)
def test_tries_are_steps_up_of_the_counter(counters: tuple[int, ...], tries: int) -> None:
    work = tuple((place, IMPLEMENTING, {"attempt": n}) for place, n in enumerate(counters))
    assert item(work=work, review=()).tries == tries


@pytest.mark.parametrize(
    ("work", "review", "more", "touches"),
    [
        ((*WORK, (40, DONE)), ((30, IN_REVIEW), (34, ASKED), (35, IN_REVIEW), (36, APPROVED), (40, DONE)), {}, set()),
        ((*WORK, (35, TESTING, {"round": 1}), (40, DONE)), ((30, IN_REVIEW), (34, ASKED), (40, DONE)), {}, set()),
        ((*WORK, (35, TESTING, {"round": 1}), (40, DONE)), REVIEW, {}, {Touch.REQUEST}),
        ((*WORK, (40, DONE)), ((30, IN_REVIEW), (34, APPROVED), (35, ASKED), (40, DONE)), {}, {Touch.REQUEST}),
        (
            (*WORK, (35, TESTING, {"round": 1}), (40, DONE)),
            ((30, IN_REVIEW), (34, APPROVED), (35, ASKED, {"phase": SENT_BACK}), (40, DONE)),
            {},
            set(),
        ),
        (
            (*WORK, (35, TESTING, {"round": 1}), (38, TESTING, {"round": 2}), (40, DONE)),
            (
                (30, IN_REVIEW),
                (34, ASKED, {"phase": SENT_BACK}),
                (35, IN_REVIEW),
                (36, ASKED, {"phase": SENT_BACK}),
                (40, DONE),
            ),
            {},
            {Touch.REQUEST},
        ),
        ((*WORK, (40, DONE)), REVIEW, {"foreign": ("f" * 40,)}, {Touch.COMMIT}),
        (
            (*WORK, (35, TESTING, {"approved_by": "ada"}), (40, DONE, {"approved_by": "ada"})),
            REVIEW,
            {},
            {Touch.COMMAND},
        ),
        (
            (*WORK, (40, DONE)),
            (*REVIEW[:-1], (39, APPROVED, {"approved_by": "/retry by ada in comment 9"}), (40, DONE)),
            {},
            {Touch.COMMAND},
        ),
        (
            (*WORK, (40, DONE)),
            (*REVIEW[:-1], (39, APPROVED, {"approved_by": "ada in comment 9"}), (40, DONE)),
            {},
            set(),
        ),
        (((0, IMPLEMENTING), (5, Stage.FAILED), *WORK[1:], (40, DONE)), REVIEW, {}, {Touch.RESUMPTION}),
        (((0, IMPLEMENTING), (5, Stage.WITHDRAWN), *WORK[1:], (40, DONE)), REVIEW, {}, {Touch.RESUMPTION}),
        ((*WORK, (40, DONE), (50, TESTING, {"approved_by": "ada"})), REVIEW, {}, set()),
    ],
    ids=[
        "a round of its own review",
        "a fix round that its review asked for",
        "a round that nobody of ours asked for",
        "a person overruled the approval",
        "its checks turned red after the approval",
        "its checks turned red twice, and a person asked for a round",
        "a commit of somebody else",
        "a consent in the fence",
        "a command in the fence of its review",
        "an order to merge",
        "it had failed",
        "it was stopped",
        "only after the merge",
    ],
)
def test_whose_help_it_needed(
    work: tuple[Said, ...], review: tuple[Said, ...], more: dict[str, Any], touches: set[Touch]
) -> None:
    assert item(work, review, **more).touches == touches


def test_an_item_taken_up_after_its_merge_is_reopened_and_merged_once() -> None:
    found = item(work=(*WORK, (40, DONE), (1000, IMPLEMENTING), (1100, DONE)))
    assert (found.ended_at, found.reopened_at) == (START + timedelta(minutes=40), START + timedelta(minutes=1000))


def landed(days: float, message: str, *files: str, oid: str = "") -> Landed:
    return Landed(oid or f"{days * 1000:040.0f}", START + timedelta(days=days), message, frozenset(files))


OWN = landed(1, "[auto] Search (#9)", "search.py", "test_search.py", oid="c" * 40)


@pytest.mark.parametrize(
    ("later", "reason"),
    [
        (landed(2, "fix: empty search", "search.py"), Reason.FIXED),
        (landed(2, "[auto] Fixes the search (#11)", "search.py"), Reason.FIXED),
        (landed(2, "Hotfix", "search.py"), Reason.FIXED),
        (landed(2, f"Take it back\n\nThis reverts commit {'c' * 40}.", "search.py"), Reason.REVERTED),
        (landed(2, 'Revert "[auto] Search (#9)" (#12)', "search.py"), Reason.REVERTED),
        (landed(2, "fix: something else", "other.py"), None),
        (landed(2, "Add fixtures", "search.py"), None),
        (landed(2, "Fixture for search", "search.py"), None),
        (landed(2, "Fix CI for Sorting", "search.py"), None),
        (landed(8.1, "fix: empty search", "search.py"), None),
        (landed(2, f"This reverts commit {'d' * 40}.", "other.py"), None),
    ],
)
def test_what_counts_as_rework(later: Landed, reason: Reason | None) -> None:
    assert rework([item()], [landed(0, "fix: before it", "search.py"), OWN, later]).get(7) == reason


@pytest.mark.parametrize(
    ("later", "reason"),
    [
        ((), Reason.TURNED_RED),
        ((landed(2, "fix: empty search", "search.py"),), Reason.TURNED_RED),
        ((landed(2, 'Revert "[auto] Search (#9)" (#12)', "search.py"),), Reason.REVERTED),
    ],
)
def test_a_merge_that_turned_its_base_red_counts_whatever_follows(later: tuple[Landed, ...], reason: Reason) -> None:
    assert rework([item()], [OWN, *later], {9}) == {7: reason}
    assert rework([item()], [OWN], {10}) == {}


def test_commits_that_were_rebased_are_known_by_their_trailers() -> None:
    phase = landed(1, "Implement Search\n\nIssue: #7\nAgent: worker-1\nPhase: green\n", "search.py")
    other = landed(1, "Implement Sort\n\nIssue: #70\nAgent: worker-1\n", "sort.py")
    fix = landed(2, "fix: search", "search.py")
    assert rework([item()], [other, phase, fix]) == {7: Reason.FIXED}
    assert rework([item()], [other, landed(2, "fix: sort", "sort.py")]) == {}


@pytest.mark.parametrize(("minutes", "found"), [(41, {7: Reason.REOPENED}), (40 + 7 * 1440 + 1, {})])
def test_taken_up_again_within_the_week(minutes: int, found: dict[int, Reason]) -> None:
    assert rework([item(work=(*WORK, (40, DONE), (minutes, IMPLEMENTING)))], []) == found


def test_a_log_is_read_oldest_first_and_what_cannot_be_read_is_left_out() -> None:
    told = (
        f"\x01{'b' * 40}\x022026-11-02T10:00:00+00:00\x02Second\n\nBody\n\x02\0b.py\0c d.py\0\0"
        f"\x01broken\x01{'a' * 40}\x022026-11-01T10:00:00+00:00\x02First\n\x02\0a.py\0"
    )
    first, second = read(told)
    assert (first.oid, first.subject, first.files) == ("a" * 40, "First", frozenset({"a.py"}))
    assert (second.at, second.files) == (datetime(2026, 11, 2, 10, tzinfo=UTC), frozenset({"b.py", "c d.py"}))
