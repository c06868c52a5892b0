"""Labels of issues on pull requests: which they are, and that each thread is told once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fakes.closing import FakeReplies
from fakes.reviewer_world import SPECIFIED

from reviewer_agent.issue_labels import OF_ISSUES, IssueLabels, misplaced
from shared.errors import Blocked, Transient
from shared.models import Issue
from shared.workflow import Stage
from shared.workflow.labels import Labels

NAMES = Labels()
PULL = replace(SPECIFIED, number=7, is_pull_request=True)


def test_the_stages_of_issues_are_those_that_no_pull_request_has() -> None:
    issues = {Stage.PLANNING, Stage.AWAITING_APPROVAL, Stage.SPECIFIED, Stage.READY}
    assert issues == OF_ISSUES


@pytest.mark.parametrize(
    ("item", "label"),
    [
        (replace(PULL, labels=frozenset({"Status:Ready", "bug"})), "Status:Ready"),
        (replace(PULL, labels=frozenset({"story"})), "story"),
        (replace(PULL, labels=frozenset({"status:reviewing", "flag:paused"})), ""),
        (replace(SPECIFIED, labels=frozenset({"status:ready"})), ""),
    ],
)
def test_only_a_pull_request_can_carry_one(item: Issue, label: str) -> None:
    assert misplaced(item, NAMES) == label


async def test_each_thread_is_told_once_and_what_is_excluded_never() -> None:
    replies = FakeReplies()
    answering = IssueLabels(replies, NAMES, {"No-Bots"})
    ready = replace(PULL, labels=frozenset({"status:ready"}))
    excluded = replace(PULL, number=8, labels=frozenset({"status:ready", "no-bots"}))
    for _ in range(2):
        await answering.answer([PULL, ready, excluded])
    ((number, _),) = replies.posted
    assert number == 7
    assert "`status:changes-requested` to have it changed" in replies.posted[7, "issue-label"]


class Locked(FakeReplies):
    """A thread in which nobody may comment."""

    async def once(self, number: int, purpose: str, text: str, mention: object = ()) -> bool:
        self.posted[number, purpose] = text
        raise Blocked("Unable to create comment because issue is locked.")


async def test_a_thread_in_which_nothing_can_be_said_is_not_asked_again() -> None:
    replies = Locked()
    answering = IssueLabels(replies, NAMES, ())
    ready = replace(PULL, labels=frozenset({"status:ready"}))
    await answering.answer([ready])
    replies.posted.clear()
    await answering.answer([ready])
    assert not replies.posted


class Late(FakeReplies):
    """GitHub does not answer the first time."""

    async def once(self, number: int, purpose: str, text: str, mention: object = ()) -> bool:
        self.posted[number, purpose] = text
        if len(self.posted) == 1 and "again" not in self.posted.values():
            self.posted[0, "again"] = "again"
            raise Transient("GitHub answered 502")
        return True


async def test_an_answer_that_fails_is_given_at_the_next_look_and_keeps_nothing_up() -> None:
    replies = Late()
    answering = IssueLabels(replies, NAMES, ())
    ready = replace(PULL, labels=frozenset({"status:ready"}))
    await answering.answer([ready])
    replies.posted.pop((7, "issue-label"))
    await answering.answer([ready])
    assert (7, "issue-label") in replies.posted
