"""Decisions on a waiting refactoring: whose word counts, and its effect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from fakes.unasked import UnaskedComments

from shared.lock.claim import Intent
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Account, Comment, Issue, Permission
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels
from worker_agent.decide import NextStep
from worker_agent.intake.eligibility import WAITS, approval_intent
from worker_agent.intake.trusted_accounts import TrustedWriters

AT = datetime(2026, 1, 2, tzinfo=UTC)
ADA, MALLORY = Account(1, "ada"), Account(2, "mallory")
ISSUE = Issue(7, "Title", "", frozenset({"status:awaiting-approval"}), ADA, AT, AT)
FENCE = Fence(ItemKey(Role.WORKER, 7), 1, "n" * 32, "worker-a", Stage.AWAITING_APPROVAL, AT, phase=NextStep.REFACTOR)


@dataclass
class Thread(UnaskedComments):
    """A thread that counts how often it is read."""

    said: tuple[Comment, ...]
    read: int = 0

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        self.read += 1
        return self.said


class People:
    """Ada may write, nobody else."""

    async def permission(self, login: str) -> Permission:
        return Permission.WRITE if login == "ada" else Permission.READ


def said(*lines: tuple[Account, str, int]) -> Thread:
    comments = [
        Comment(index, 7, author, body, AT + timedelta(seconds=seconds), AT)
        for index, (author, body, seconds) in enumerate(lines, 1)
    ]
    return Thread(tuple(comments))


async def answered(thread: Thread, issue: Issue, fence: Fence | None) -> Intent | str | None:
    return await approval_intent(issue, fence, thread, TrustedWriters(People(), frozenset()), Labels())


@pytest.mark.parametrize(
    ("thread", "phase"),
    [
        (said((ADA, "/approve", 5)), NextStep.CONFIRMED),
        (said((ADA, "/reject reads worse", 5)), NextStep.DECLINED),
        (said((ADA, "/approve", 5), (ADA, "/reject", 9)), NextStep.DECLINED),
        (said((ADA, "/approve", 5), (MALLORY, "/reject", 9)), NextStep.CONFIRMED),
        (said((MALLORY, "/approve", 5)), None),
        (said((ADA, "/approve", -5)), None),
        (said((ADA, "> /approve", 5)), None),
        (said((ADA, "/retry", 5), (ADA, "looks good", 6)), None),
        (said(), None),
    ],
)
async def test_the_newest_command_of_somebody_with_write_access_since_the_question_decides(
    thread: Thread, phase: NextStep | None
) -> None:
    wanted = WAITS if phase is None else Intent(Stage.AWAITING_APPROVAL, phase, approved_by="ada")
    assert await answered(thread, ISSUE, FENCE) == wanted


@pytest.mark.parametrize(
    ("issue", "fence"),
    [
        (ISSUE, None),
        (ISSUE, replace(FENCE, stage=Stage.TESTING)),
        (replace(ISSUE, labels=frozenset({"status:ready"})), FENCE),
        (replace(ISSUE, labels=ISSUE.labels | {"flag:paused"}), FENCE),
        (replace(ISSUE, open=False), FENCE),
    ],
)
async def test_nothing_is_read_where_no_refactoring_waits(issue: Issue, fence: Fence | None) -> None:
    thread = said((ADA, "/approve", 5))
    assert await answered(thread, issue, fence) is None
    assert thread.read == 0


async def test_what_was_said_before_a_crash_is_carried_out_without_another_reading() -> None:
    thread = said()
    intent = await answered(thread, ISSUE, replace(FENCE, phase=NextStep.DECLINED))
    assert intent == Intent(Stage.AWAITING_APPROVAL, NextStep.DECLINED)
    assert thread.read == 0
