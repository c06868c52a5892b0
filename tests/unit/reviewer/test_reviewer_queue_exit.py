"""The next step after GitHub's merge queue has removed a pull request."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.lock_server import EPOCH

from reviewer_agent.merge.queue_exit import (
    ENTRIES,
    QUEUED,
    UNQUEUED,
    Cause,
    Next,
    Outside,
    QueueEntry,
    cause,
    following,
)
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import QueueExit
from shared.workflow import Role, Stage

HEAD, BASE, NEWER = "a" * 40, "b" * 40, "c" * 40
FENCE = Fence(ItemKey(Role.REVIEWER, 7), 1, "r", "n", Stage.APPROVED, EPOCH, work_head=HEAD)


def left(reason: str, *, by_person: bool = False) -> QueueExit:
    return QueueExit(reason, "ada", by_person, EPOCH)


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (None, Cause.OTHER),
        (left("manual", by_person=True), Cause.PERSON),
        (left("", by_person=True), Cause.PERSON),
        (left("manual"), Cause.OTHER),
        (left("failed_checks"), Cause.CHECKS),
        (left("CI_TIMEOUT"), Cause.CHECKS),
        (left("failed_checks", by_person=True), Cause.CHECKS),
        (left("MERGE_CONFLICT"), Cause.CONFLICT),
        (left("roll_back"), Cause.OTHER),
    ],
)
def test_the_reason_is_read_from_githubs_word_and_from_who_did_it(seen: QueueExit | None, why: Cause) -> None:
    assert cause(seen) is why


@pytest.mark.parametrize(
    ("why", "times", "base", "repairable", "action"),
    [
        (Cause.PERSON, 1, NEWER, True, Next.HOLD),
        (Cause.CHECKS, 1, NEWER, True, Next.TO_BASE),
        (Cause.CHECKS, 1, NEWER, False, Next.ENTER),
        (Cause.CHECKS, 1, BASE, True, Next.LATER),
        (Cause.OTHER, ENTRIES - 1, BASE, False, Next.LATER),
        (Cause.CONFLICT, ENTRIES, NEWER, True, Next.HOLD),
    ],
)
def test_it_goes_on_by_itself_unless_a_person_decided_or_it_came_to_nothing_too_often(
    why: Cause, times: int, base: str, repairable: bool, action: Next
) -> None:
    assert following(why, QueueEntry(HEAD, times, BASE), base, repairable=repairable) is action


def test_what_the_fence_says_of_an_entry_is_read_again() -> None:
    entry = QueueEntry(HEAD, 2, BASE)
    assert QueueEntry.of(replace(FENCE, more=((QUEUED, f"{HEAD} {entry.state()}"),))) == entry
    assert QueueEntry.of(replace(FENCE, more=((QUEUED, HEAD),))) == QueueEntry(HEAD, 1, ""), "of an older engine"
    assert QueueEntry.of(FENCE) == QueueEntry()


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("exit_", [left("manual", by_person=True), left("failed_checks"), None])
def test_what_the_fence_says_of_an_exit_is_read_again(exit_: QueueExit | None, held: bool) -> None:
    outside = Outside.seen(FENCE, exit_, held=held, now=EPOCH)
    told = replace(FENCE, more=((UNQUEUED, f"{HEAD} {outside.state()}"),))
    assert Outside.of(told) == outside
    assert Outside.of(replace(told, work_head=NEWER)) is None, "of another commit it says nothing"


def test_who_took_it_out_is_named_and_how_often_it_came_to_nothing() -> None:
    by_person = Outside.seen(FENCE, left("manual", by_person=True), held=True, now=EPOCH)
    assert by_person.sentence(1) == "ada removed it from GitHub's merge queue."
    failed = Outside.seen(FENCE, left("failed_checks"), held=True, now=EPOCH)
    assert "removed it 3 times, the last time because checks failed there" in failed.sentence(3)
    assert replace(failed, held=False).sentence(1) == "GitHub's merge queue removed it because checks failed there."
