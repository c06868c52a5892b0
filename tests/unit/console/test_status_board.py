"""The board: what was read of a repository becomes rows that say who holds what, and what waits for whom."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from status_times import AT, UNTIL

from console.status.board import claimed, heads, rows
from console.status.row import BoardSettings, ItemRow, RepositorySnapshot, Waiting, Whom
from console.status.waiting import CONFIGURED, WaitingItem, waiting
from shared.ci.verdict import CiVerdict
from shared.commands.command import Verb
from shared.lock.codec import Ack, AckState, ItemKey
from shared.lock.comment import write_ack
from shared.lock.fence import Fence, Wait
from shared.models import Account, Comment, Issue
from shared.text.comment_signatures import Keyring
from shared.workflow import Role, Stage, Track
from shared.workflow.labels import Flag

NONCE = "a" * 32
HEAD = "1" * 40
ADA = Account(1, "ada")


def issue(number: int, *labels: str, title: str = "Search", body: str = "", pull: bool = False) -> Issue:
    begun = AT - timedelta(hours=2)
    return Issue(number, title, body, frozenset(labels), ADA, begun, begun, is_pull_request=pull)


def fence(kind: Role, number: int, stage: Stage, **more: Any) -> Fence:
    return Fence(ItemKey(kind, number), 900 + number, NONCE, f"{kind}-1", stage, AT - timedelta(minutes=5), **more)


def ack(of: Fence, *, state: AckState = AckState.ACTIVE, age: int = 60, nonce: str = NONCE) -> Comment:
    one = Ack(of.key, of.agent, 1_700_000_000_000, 0, nonce, 1800, state, id=of.ack_id)
    text = write_ack(one, Keyring(1, ()))
    at = AT - timedelta(seconds=age)
    return Comment(of.ack_id, of.key.number, ADA, text, AT - timedelta(minutes=12), at)


def board(*issues: Issue, fences: tuple[Fence, ...] = (), acks: tuple[Comment, ...] = (), **more: Any) -> list[ItemRow]:
    terms = BoardSettings(merge=more.pop("merge", "never"))
    shown = {one.id for one in acks}
    known = {one.key: one if one.ack_id in shown else replace(one, released=one.nonce) for one in fences}
    return list(rows(RepositorySnapshot(AT, issues, known, {one.id: one for one in acks}, **more), terms))


def test_a_new_story_waits_for_a_planner_and_other_issues_are_no_business_of_the_engine() -> None:
    (row,) = board(issue(1, "story"), issue(2, "bug"), issue(3, title="A person's pull request", pull=True))
    assert (row.track, row.number, row.stage) == (Track.STORY, 1, Stage.NEW)
    assert row.waiting == Waiting(Whom.PLANNER, "an idle planner")
    assert (row.holder, row.attempts, row.usd) == ("", None, None)


def test_who_holds_an_item_is_said_by_its_fence_and_shown_while_its_ack_lives() -> None:
    working = fence(Role.WORKER, 7, Stage.IMPLEMENTING, attempt=1)
    (row,) = board(issue(7, "status:implementing"), fences=(working,), acks=(ack(working),))
    assert (row.holder, row.held_since) == ("worker-1", datetime.fromtimestamp(1_700_000_000, UTC))
    assert (row.waiting, row.attempts) == (None, (1, 3))


@pytest.mark.parametrize(
    ("change", "age"),
    [({"released": NONCE}, 60), ({"at": AT - timedelta(seconds=1801)}, 1801), ({"stage": Stage.WITHDRAWN}, 60)],
    ids=["released", "run out", "ended"],
)
def test_nobody_holds_what_is(change: dict[str, Any], age: int) -> None:
    working = replace(fence(Role.WORKER, 7, Stage.IMPLEMENTING), **change)
    (row,) = board(issue(7, "status:implementing"), fences=(working,), acks=(ack(working, age=age),))
    assert (row.holder, row.held_since) == ("", None)


def test_a_holder_is_known_by_its_stamp_where_no_comment_shows_it() -> None:
    working = fence(Role.WORKER, 7, Stage.IMPLEMENTING)
    seen = RepositorySnapshot(AT, (issue(7, "status:implementing"),), {working.key: working})
    (row,) = rows(seen, BoardSettings())
    assert (row.holder, row.held_since) == ("worker-1", working.at)


@pytest.mark.parametrize(
    "change",
    [{"state": AckState.RELEASED}, {"age": 1801}, {"nonce": "b" * 32}],
    ids=["released", "run out", "of an earlier life"],
)
def test_of_an_older_engine_its_ack_tells_who_holds_it(change: dict[str, Any]) -> None:
    working = fence(Role.WORKER, 7, Stage.IMPLEMENTING, format=1)
    (row,) = board(issue(7, "status:implementing"), fences=(working,), acks=(ack(working, **change),))
    assert (row.holder, row.held_since) == ("", None)
    assert row.waiting == Waiting(Whom.WORKER, "an idle worker")
    (held,) = board(issue(7, "status:implementing"), fences=(working,), acks=(ack(working),))
    assert held.holder == "worker-1"


def test_a_pull_request_shows_its_round_and_checks_and_its_issue_waits_for_it() -> None:
    working = fence(Role.WORKER, 7, Stage.TESTING, attempt=2, round=1, pr=9, work_head=HEAD, phase="ci")
    items = (issue(7, "status:reviewing"), issue(9, "status:testing", pull=True))
    spec, pull = board(*items, fences=(working,), acks=(ack(working),), ci={HEAD: CiVerdict.RUNNING})
    assert (spec.stage, spec.pull_request, spec.holder, spec.commands) == (Stage.REVIEWING, 9, "", ())
    assert spec.waiting == Waiting(Whom.ITEM, "PR #9")
    assert (pull.stage, pull.issue, pull.round, pull.ci) == (Stage.TESTING, 7, 1, CiVerdict.RUNNING)
    assert (pull.holder, pull.waiting) == ("worker-1", Waiting(Whom.CI, "its checks"))


@pytest.mark.parametrize("merge", ["never", "auto"])
def test_commands_are_listed_only_where_they_do_something(merge: str) -> None:
    """A person's pull request has no issue of the engine's; where people merge, `/merge` is refused."""
    working = fence(Role.WORKER, 7, Stage.REVIEWING, pr=9, work_head=HEAD)
    reviewed = [fence(Role.REVIEWER, number, Stage.APPROVED, work_head=HEAD) for number in (8, 9)]
    items = (issue(8, "status:approved", pull=True), issue(9, "status:approved", pull=True))
    theirs, ours = board(*items, fences=(working, *reviewed), merge=merge)
    merges = (Verb.MERGE,) if merge == "auto" else ()
    assert theirs.commands == (Verb.STOP, *merges)
    assert ours.commands == (Verb.STOP, Verb.SPEC_REVIEW, Verb.CLOSE_AND_RESET, *merges)


def test_a_plan_that_is_approved_at_a_terminal_lists_no_command_for_that() -> None:
    waits = fence(Role.PLANNER, 1, Stage.AWAITING_APPROVAL)
    seen = RepositorySnapshot(AT, (issue(1, "story", "status:awaiting-approval"),), {waits.key: waits})
    for at_terminal in (False, True):
        (row,) = rows(seen, BoardSettings(at_terminal=at_terminal))
        assert (Verb.APPROVE in row.commands) is not at_terminal


def test_a_pull_request_in_review_goes_by_the_reviewers_fence() -> None:
    working = fence(Role.WORKER, 7, Stage.REVIEWING, pr=9, work_head="2" * 40)
    reviewing = fence(Role.REVIEWER, 9, Stage.APPROVED, work_head=HEAD, released=NONCE)
    seen = RepositorySnapshot(
        AT, (issue(9, "status:approved", pull=True),), {one.key: one for one in (working, reviewing)}
    )
    assert heads(seen, BoardSettings()) == (HEAD,)
    assert claimed(seen, BoardSettings()) == (909,)
    (row,) = rows(seen, BoardSettings(merge="approve"))
    assert (row.stage, row.waiting) == (Stage.APPROVED, Waiting(Whom.PERSON, "/merge"))


def test_an_item_that_was_taken_up_again_by_label_stands_where_the_label_says() -> None:
    (row,) = board(issue(7, "status:ready"), fences=(fence(Role.WORKER, 7, Stage.FAILED),))
    assert (row.stage, row.waiting) == (Stage.READY, Waiting(Whom.WORKER, "an idle worker"))


def test_costs_are_the_items_own_and_nothing_where_there_is_no_ledger() -> None:
    found = board(issue(7, "status:ready"), issue(8, "status:ready"), usd={"#7": 1.25})
    assert [row.usd for row in found] == [1.25, 0.0]


def test_what_waits_for_a_person_stands_first() -> None:
    shown = board(issue(1, "story"), issue(2, "status:ready"), issue(9, "status:failed"), issue(7, "status:failed"))
    assert [row.number for row in shown] == [7, 9, 1, 2]
    assert [row.needs_a_person for row in shown] == [True, True, False, False]


def test_only_open_items_hold_an_item_back() -> None:
    needing = issue(8, "status:ready", body="## Goal\n\nSearch.\n\nDepends on #6, #7\n")
    *_, row = board(issue(7, "status:ready"), needing)
    assert row.waiting == Waiting(Whom.ITEM, "#7")


WAITING = Wait("usage-limit", UNTIL)
EDITED = Waiting(Whom.PERSON, "its issue was edited")


@pytest.mark.parametrize(
    ("track", "stage", "more", "expected"),
    [
        (Track.STORY, Stage.AWAITING_APPROVAL, {}, Waiting(Whom.PERSON, "the plan")),
        (Track.SPECIFICATION, Stage.AWAITING_APPROVAL, {}, Waiting(Whom.PERSON, "the refactoring")),
        (Track.STORY, Stage.SPECIFIED, {}, Waiting(Whom.ITEM, "its specifications")),
        (Track.SPECIFICATION, Stage.FAILED, {}, Waiting(Whom.PERSON, "it has failed")),
        (
            Track.SPECIFICATION,
            Stage.FAILED,
            {"flags": (Flag.BUDGET_EXCEEDED,)},
            Waiting(Whom.PERSON, "its budget is used up"),
        ),
        (
            Track.SPECIFICATION,
            Stage.IMPLEMENTING,
            {"flags": (Flag.PAUSED,), "held": True},
            Waiting(Whom.PERSON, "paused"),
        ),
        (Track.STORY, Stage.PLANNING, {"flags": (Flag.NEEDS_ANSWER,)}, Waiting(Whom.PERSON, "questions to answer")),
        (Track.SPECIFICATION, Stage.WITHDRAWN, {}, Waiting(Whom.PERSON, "it was stopped")),
        (Track.SPECIFICATION, Stage.IMPLEMENTING, {"wait": WAITING}, Waiting(Whom.TIME, "usage-limit", UNTIL)),
        (Track.SPECIFICATION, Stage.IMPLEMENTING, {"wait": Wait("usage-limit", AT), "held": True}, None),
        (Track.SPECIFICATION, Stage.TESTING, {"wait": Wait("red-base", UNTIL)}, Waiting(Whom.CI, "red-base", UNTIL)),
        (Track.PULL_REQUEST, Stage.IN_REVIEW, {"wait": Wait("red-head", AT)}, Waiting(Whom.CI, "its checks are red")),
        (Track.PULL_REQUEST, Stage.IN_REVIEW, {"wait": Wait("edited", UNTIL)}, EDITED),
        (Track.PULL_REQUEST, Stage.IN_REVIEW, {"wait": Wait("edited", AT), "held": True}, None),
        (Track.PULL_REQUEST, Stage.REVIEWING, {"wait": Wait("edited", AT)}, Waiting(Whom.REVIEWER, "an idle reviewer")),
        (Track.SPECIFICATION, Stage.READY, {}, Waiting(Whom.WORKER, "an idle worker")),
        (Track.SPECIFICATION, Stage.READY, {"related": 1}, Waiting(Whom.ITEM, "what blocks it on GitHub")),
        (Track.SPECIFICATION, Stage.NEW, {}, Waiting(Whom.PERSON, "a status label")),
        (Track.STORY, Stage.NEW, {}, Waiting(Whom.PLANNER, "an idle planner")),
        (Track.PULL_REQUEST, Stage.REVIEWING, {}, Waiting(Whom.REVIEWER, "an idle reviewer")),
        (Track.PULL_REQUEST, Stage.APPROVED, {"merging": CONFIGURED["auto"]}, Waiting(Whom.REVIEWER, "merges it")),
        (Track.PULL_REQUEST, Stage.APPROVED, {}, Waiting(Whom.PERSON, "merge it")),
        (Track.PULL_REQUEST, Stage.CHANGES_REQUESTED, {}, Waiting(Whom.WORKER, "an idle worker")),
        (Track.PULL_REQUEST, Stage.CHANGES_REQUESTED, {"ours": False}, Waiting(Whom.PERSON, "its author")),
    ],
)
def test_what_waits_for_whom(track: Track, stage: Stage, more: dict[str, Any], expected: Waiting | None) -> None:
    kind = {Track.STORY: Role.PLANNER, Track.SPECIFICATION: Role.WORKER, Track.PULL_REQUEST: Role.REVIEWER}[track]
    of = fence(kind, 7, stage, wait=more.pop("wait", None))
    assert waiting(WaitingItem(track, stage, AT, of, **more)) == expected


@pytest.mark.parametrize("track", list(Track))
@pytest.mark.parametrize("stage", list(Stage))
def test_every_stage_of_every_track_has_an_answer(track: Track, stage: Stage) -> None:
    found = waiting(WaitingItem(track, stage, AT))
    assert found is not None
    assert found.why
