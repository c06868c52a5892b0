"""Labels of the engine's other accounts: they count only if that agent's fence confirms them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.lock.port import ReadFence, Reply
from shared.models import Account, Issue
from shared.specification import Specification, write
from shared.text.comment_signatures import Keyring
from shared.workflow import Role, Stage
from worker_agent.intake.intents import Cause
from worker_agent.intake.trusted_accounts import OtherAccounts

REVIEWER, STRANGER = Account(7, "engine-reviewer[bot]"), Account(8, "helpful[bot]")
KEYS = Keyring(1)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
CHANGES, READY = Cause(5, frozenset({Stage.CHANGES_REQUESTED})), Cause(2, frozenset({Stage.READY}))
PLANNED = write(Specification("Greet people."), keys=KEYS, parent=1, key="1-1", plan_sha="a" * 64)


class Fences:
    """Answers with what it was given; nothing else is asked."""

    def __init__(self, fences: Mapping[ItemKey, Fence]) -> None:
        self._fences = fences

    async def request(self, operation: Any) -> Any:
        assert isinstance(operation, ReadFence)
        return Reply(self._fences.get(operation.item), NOW)


def resting(role: Role, number: int, stage: Stage, approved_by: str = "") -> Fences:
    """Return a fence that rests at a stage."""
    key = ItemKey(role, number)
    return Fences({key: Fence(key, 1, "n" * 32, "an-agent", stage, NOW, approved_by=approved_by)})


def issue(body: str = "", author: Account = REVIEWER) -> Issue:
    return Issue(2, "Greet people", body, frozenset(), author, NOW, NOW)


@pytest.mark.parametrize(
    ("fences", "actor", "asks"),
    [
        (resting(Role.REVIEWER, 5, Stage.CHANGES_REQUESTED), REVIEWER, True),
        (resting(Role.REVIEWER, 5, Stage.CHANGES_REQUESTED), STRANGER, False),
        (resting(Role.REVIEWER, 5, Stage.APPROVED), REVIEWER, False),
        (resting(Role.REVIEWER, 6, Stage.CHANGES_REQUESTED), REVIEWER, False),
        (resting(Role.WORKER, 5, Stage.CHANGES_REQUESTED), REVIEWER, False),
        (Fences({}), REVIEWER, False),
    ],
)
async def test_changes_are_asked_for_where_the_reviewers_fence_says_so(
    fences: Fences, actor: Account, asks: bool
) -> None:
    assert await OtherAccounts(fences.request, {REVIEWER.id}, KEYS).asks(actor, CHANGES, issue()) is asks


APPROVED = resting(Role.PLANNER, 1, Stage.SPECIFIED, "ada")


@pytest.mark.parametrize(
    ("fences", "asked", "asks"),
    [
        (APPROVED, issue(PLANNED), True),
        (resting(Role.PLANNER, 1, Stage.AWAITING_APPROVAL), issue(PLANNED), False),
        (resting(Role.PLANNER, 1, Stage.PLANNING, "/retry by ada"), issue(PLANNED), False),
        (resting(Role.PLANNER, 9, Stage.SPECIFIED, "ada"), issue(PLANNED), False),
        (APPROVED, issue(PLANNED.replace("Greet", "Rob")), False),
        (APPROVED, issue(PLANNED, author=STRANGER), False),
        (APPROVED, issue("Greet people."), False),
    ],
)
async def test_a_specification_is_begun_where_the_planners_fence_shows_its_approval(
    fences: Fences, asked: Issue, asks: bool
) -> None:
    assert await OtherAccounts(fences.request, {REVIEWER.id}, KEYS).asks(REVIEWER, READY, asked) is asks


async def test_nothing_else_is_asked_by_one_agent_of_another() -> None:
    working = replace(CHANGES, stages=frozenset({Stage.IMPLEMENTING, Stage.TESTING}))
    for role in (Role.WORKER, Role.REVIEWER):
        fences = resting(role, 5, Stage.IMPLEMENTING)
        assert not await OtherAccounts(fences.request, {REVIEWER.id}, KEYS).asks(REVIEWER, working, issue(PLANNED))
