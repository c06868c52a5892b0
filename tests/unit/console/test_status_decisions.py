"""Items that a person has decided on: they leave the list of those that wait, before any agent has looked."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from status_times import AT

from console.status.board import rows
from console.status.decisions import Decision, latest_decision
from console.status.row import BoardSettings, ItemRow, RepositorySnapshot, Waiting, Whom
from shared.commands.command import Verb
from shared.github import status_record
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Account, Comment, Issue
from shared.workflow import Role, Stage, Track

ADA, STRANGER, ENGINE = Account(1, "ada"), Account(2, "mallory"), Account(3, "engine-bot")
ASKED = Fence(
    ItemKey(Role.PLANNER, 7),
    90,
    "a" * 32,
    "planner-1",
    Stage.AWAITING_APPROVAL,
    AT - timedelta(minutes=5),
    released="a" * 32,
)


def comment(body: str, *, number: int = 7, ago: int = 60, edited: int = 0, **more: Any) -> Comment:
    at = AT - timedelta(seconds=ago)
    known: dict[str, Any] = {"author": ADA, "association": "OWNER", "id": 1000 - ago, **more}
    return Comment(number=number, body=body, created_at=at, updated_at=at + timedelta(seconds=edited), **known)


def recorded(id: int) -> Comment:
    data = status_record.machine_readable({"ignored": [{"id": id, "why": "its author has no write access"}]})
    mark = "<!-- engine-status/2 kind=planner n=7 rev=1 sum= mac=none -->"
    return comment(f"{mark}\nIt waits.\n\n{data}", author=ENGINE, association="NONE", id=90)


def story(*said: Comment, **terms: Any) -> ItemRow:
    labels = frozenset({"story", "status:awaiting-approval"})
    issue = Issue(7, "Search", "", labels, ADA, AT - timedelta(hours=1), AT)
    seen = RepositorySnapshot(AT, (issue,), {ASKED.key: ASKED}, comments=said)
    (row,) = rows(seen, BoardSettings(**terms))
    return row


@pytest.mark.parametrize(
    ("body", "told"),
    [("/approve", "approved it"), ("/reject too large", "sent it back"), ("/edit split it", "sent it back")],
)
def test_a_plan_that_was_decided_on_waits_for_a_planner(body: str, told: str) -> None:
    row = story(comment(body))
    assert row.waiting == Waiting(Whom.PLANNER, f"an idle planner: ada has {told}")
    assert not row.needs_a_person
    assert Verb(body[1:].split()[0]) not in row.commands, "it was given"
    assert Verb.STOP in row.commands


@pytest.mark.parametrize(
    "said",
    [
        (),
        (comment("I will read it tomorrow."),),
        (comment("/approve", number=8),),
        (comment("/approve", ago=600),),
        (comment("/approve", edited=30),),
        (comment("/approve", author=STRANGER, association="NONE"),),
        (comment("/approve", author=STRANGER, association="CONTRIBUTOR"),),
        (comment("/approve", id=940), recorded(940)),
        (comment("/merge"),),
    ],
    ids=[
        "nothing",
        "no command",
        "another thread",
        "before it was asked",
        "edited",
        "a stranger",
        "a contributor",
        "recorded without effect",
        "another command",
    ],
)
def test_what_decides_nothing_leaves_it_to_the_person(said: tuple[Comment, ...]) -> None:
    row = story(*said)
    assert row.waiting == Waiting(Whom.PERSON, "the plan")
    assert Verb.APPROVE in row.commands


def test_the_newest_decision_counts_and_a_record_of_another_comment_does_not() -> None:
    said = (comment("/approve", ago=60), comment("/reject no", ago=30), recorded(1))
    assert latest_decision(Track.STORY, Stage.AWAITING_APPROVAL, ASKED, said) == Decision(
        Verb.REJECT, "ada has sent it back"
    )


def test_no_comment_approves_where_plans_are_approved_at_a_terminal() -> None:
    assert story(comment("/approve"), at_terminal=True).waiting == Waiting(Whom.PERSON, "the plan")


@pytest.mark.parametrize(
    ("merge", "waiting"),
    [
        ("approve", Waiting(Whom.REVIEWER, "an idle reviewer: ada has ordered the merge")),
        ("never", Waiting(Whom.PERSON, "merge it")),
        ("auto", Waiting(Whom.REVIEWER, "merges it")),
    ],
)
def test_a_merge_that_was_ordered_waits_for_a_reviewer(merge: str, waiting: Waiting) -> None:
    fence = Fence(ItemKey(Role.REVIEWER, 7), 90, "a" * 32, "reviewer-1", Stage.APPROVED, ASKED.at, released="a" * 32)
    issue = Issue(7, "Search", "", frozenset({"status:approved"}), ADA, AT, AT, is_pull_request=True)
    seen = RepositorySnapshot(AT, (issue,), {fence.key: fence}, comments=(comment("/merge"),))
    (row,) = rows(seen, BoardSettings(merge=merge))
    assert row.waiting == waiting


def test_a_refactoring_that_was_decided_on_waits_for_a_worker() -> None:
    fence = Fence(
        ItemKey(Role.WORKER, 7), 90, "a" * 32, "worker-1", Stage.AWAITING_APPROVAL, ASKED.at, released="a" * 32
    )
    issue = Issue(7, "Search", "", frozenset({"status:awaiting-approval"}), ADA, AT, AT)
    seen = RepositorySnapshot(AT, (issue,), {fence.key: fence}, comments=(comment("/reject slow"),))
    (row,) = rows(seen, BoardSettings())
    assert row.waiting == Waiting(Whom.WORKER, "an idle worker: ada has rejected it")
