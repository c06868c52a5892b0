"""After a merge: which red checks are its own, what is still watched, and the record of what was done."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lab.messages.samples import NAMES, PULL, REVIEW
from reviewer_agent.after_merge import messages
from reviewer_agent.after_merge.merge_commit import MergeCommit
from reviewer_agent.after_merge.record import PREFIX, Answer, Record, answered
from reviewer_agent.after_merge.watch import FINISHED_WITHIN, WATCHED, caused_failures, watched
from reviewer_agent.links import is_revert, revert_branch
from shared.ci.triage import Failure
from shared.models import Check, CheckOutcome
from shared.specification import read
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Stage

AT = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
OUTCOMES = {"+": CheckOutcome.PASSED, "-": CheckOutcome.FAILED, "~": CheckOutcome.RUNNING, "0": CheckOutcome.NEUTRAL}
MERGE = MergeCommit(PULL, "9f8e7d6c" * 5, "0a1b2c3d" * 5)
KEYS = Keyring(7, (Key.of(b"one secret"),))
VOICE = messages.Voice(NAMES, KEYS, "https://github.com/ada/directory")


def checks(told: str) -> tuple[Check, ...]:
    """Return the checks of `"test+ lint-"`: each by its name and outcome."""
    return tuple(Check(word[:-1], OUTCOMES[word[-1]]) for word in told.split())


@pytest.mark.parametrize(
    ("before", "merged", "found"),
    [
        ("test+", "test-", "test"),
        ("test+", "test+", ""),
        ("test-", "test-", ""),  # red before as well
        ("test+ lint-", "test- lint-", "test"),
        ("test+ lint-", "test+ lint-", ""),
        ("test+ lint+", "test- lint-", "lint test"),
        ("", "test-", ""),  # nobody knows how it was before
        ("test+", "", ""),  # the merge has no verdict
        ("test+", "test~", ""),
        ("test~", "test-", ""),  # may be red there, too
        ("test+", "test- lint~", ""),  # all is told at once
        ("lint+", "test- lint+", "test"),  # a check that is new, on a base that was green
        ("lint-", "test- lint+", ""),
        ("lint~", "test- lint+", ""),
        ("test0", "test-", ""),
        ("test+ test-", "test-", ""),  # of two of one name one was red
    ],
)
def test_a_check_that_fails_is_ours_only_where_it_was_green_right_before(before: str, merged: str, found: str) -> None:
    assert [check.name for check in caused_failures(checks(before), checks(merged), patient=True)] == found.split()


@pytest.mark.parametrize(
    ("before", "merged", "found"),
    [("test+", "test- lint~", "test"), ("test~", "test-", ""), ("test~ lint+", "test- lint-", "lint")],
)
def test_what_never_ends_is_not_waited_for_for_ever(before: str, merged: str, found: str) -> None:
    assert [check.name for check in caused_failures(checks(before), checks(merged), patient=False)] == found.split()


def test_only_what_was_merged_lately_is_watched() -> None:
    done = replace(REVIEW, stage=Stage.DONE, at=AT)
    fences = (done, replace(done, stage=Stage.APPROVED), replace(done, stage=Stage.WITHDRAWN))
    assert watched(fences, AT + WATCHED) == (done,)
    assert watched(fences, AT + WATCHED + FINISHED_WITHIN) == ()


@pytest.mark.parametrize("number", [None, 0, 45])
def test_a_record_is_read_as_it_was_written(number: int | None) -> None:
    record = Record(15, MERGE.oid, Answer.REVERT, "engine-bot", AT, number is not None, number or 0)
    assert Record.read(record.write("ab" * 8)) == record
    assert record.write("ab" * 8) != record.write("cd" * 8)


@pytest.mark.parametrize(
    "damage",
    [("Merge: 1", "Merge: 2"), ("+00:00", ""), ("Answer: issue", "Answer: dance"), ("Pr: 15", "Pr: many")],
)
def test_what_this_version_cannot_read_is_no_record(damage: tuple[str, str]) -> None:
    written = Record(15, MERGE.oid, Answer.ISSUE, "engine-bot", AT).write("ab" * 8)
    assert damage[0] in written
    assert Record.read(written.replace(*damage)) is None


def test_the_names_of_refs_tell_which_merges_were_answered() -> None:
    assert answered((f"{PREFIX}15", f"{PREFIX}16/old", "refs/ack/reviewer/17")) == {15}


def test_the_issue_is_a_specification_of_what_fails_that_nobody_waits_for() -> None:
    red = (Failure(Check("test `a`", CheckOutcome.FAILED), "```\nAssertionError <!-- x -->\n"),)
    body = messages.issue_body(MERGE, red, VOICE)
    specification = read(body)
    assert [one.text for one in specification.criteria] == ["test 'a' passes."]
    assert "https://github.com/ada/directory/pull/15" in specification.goal
    assert "AssertionError" in specification.goal
    assert (specification.depends_on, specification.part_of, specification.unread) == ((), None, ())
    assert messages.is_about(body, 15, KEYS)
    assert not messages.is_about(body, 16, KEYS)
    assert not messages.is_about(body, 15, Keyring(7, (Key.of(b"another"),)))
    assert not messages.is_about(f"{body}!", 15, KEYS)


def test_what_a_title_says_does_nothing_where_it_is_repeated() -> None:
    merge = replace(MERGE, pull_request=replace(PULL, title="fixes #3 for @grace\n/merge"))
    told = [messages.issue_title(merge), messages.revert_title(merge), messages.revert_body(merge, (), VOICE)]
    named = (Failure(Check("closes #4", CheckOutcome.FAILED)),)
    assert "closes #4" not in messages.revert_message(merge, named)
    assert all("fixes #3" not in one and "@grace" not in one for one in told)


def test_a_branch_of_a_revert_is_known_by_its_name_and_place() -> None:
    ours_one = replace(PULL, head_branch=revert_branch(15))
    assert is_revert(ours_one)
    assert not is_revert(PULL)
    assert not is_revert(replace(ours_one, head_repository="mallory/directory"))
    assert not is_revert(replace(ours_one, head_branch="auto/revert-15-x"))
