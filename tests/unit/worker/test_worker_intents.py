"""The intent of a worker's claim: its step, the text it works on, and the person whose label asks for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.github.base_branch import BaseBranch
from shared.lock.claim import Intent
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, Wait
from shared.models import Account, Issue, PullRequest
from shared.specification import Specification, body_sha256, write
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels
from worker_agent.decide import RED_BASE, UNCHECKED, Action, NextStep, Snapshot, decide
from worker_agent.intake.intents import UNAPPROVED, Cause, cause, find_intent, urged
from worker_agent.policy import Policy

AT = datetime(2026, 1, 5, tzinfo=UTC)
NAMES = Labels()
KEYS = Keyring(99, (Key.of(b"w" * 32),))
POLICY = Policy("o/r", base=BaseBranch("", default="main"))
BOT = Account(99, "engine-bot")
TEXT = body_sha256("Title", "")
READY, IMPLEMENTING, TESTING, REVIEWING = Stage.READY, Stage.IMPLEMENTING, Stage.TESTING, Stage.REVIEWING
CHANGES, FAILED, CI_FAILED, WITHDRAWN = Stage.CHANGES_REQUESTED, Stage.FAILED, Stage.CI_FAILED, Stage.WITHDRAWN


def issue(*labels: Stage | str, open: bool = True, locked: bool = False, body: str = "") -> Issue:
    names = frozenset(NAMES.of(one) if isinstance(one, Stage) else one for one in labels)
    return Issue(42, "Title", body, names, BOT, AT, AT, open, locked)


def pull(*labels: Stage, open: bool = True, merged: bool = False, base: str = "main") -> PullRequest:
    names = frozenset(map(NAMES.of, labels))
    return PullRequest(57, "Title", "", BOT, names, "auto/issue-42", "b" * 40, base, open, merged)


def fence(stage: Stage, phase: str = "", *, attempt: int = 0, round: int = 0, pr: int = 0) -> Fence:
    return Fence(
        ItemKey(Role.WORKER, 42), 7, "a" * 32, "worker-1", stage, AT, phase=phase, attempt=attempt, round=round, pr=pr
    )


def intent_for(issue: Issue, pull_request: PullRequest | None, fence: Fence | None) -> Intent | str:
    return find_intent(issue, pull_request, fence, POLICY, KEYS)


FRESH = Intent(IMPLEMENTING, NextStep.RED, attempt=0, round=0, pr=0, base="", work_head="", body_sha256=TEXT)


@pytest.mark.parametrize(
    "old", [None, *(fence(stage, "x", attempt=3) for stage in (FAILED, CI_FAILED, WITHDRAWN, Stage.DONE))]
)
def test_ready_begins_anew(old: Fence | None) -> None:
    assert intent_for(issue(READY), None, old) == FRESH


def test_after_a_command_it_goes_on_where_it_stopped_and_without_anybody_s_label() -> None:
    green, begun = fence(READY, NextStep.GREEN, attempt=2), fence(READY, "")
    assert intent_for(issue(READY), None, green) == Intent(IMPLEMENTING, NextStep.GREEN, body_sha256=TEXT)
    assert intent_for(issue(READY), None, begun) == Intent(IMPLEMENTING, NextStep.RED, body_sha256=TEXT)
    assert cause(Intent(IMPLEMENTING, NextStep.GREEN), issue(READY), None, green, Labels()) is None


@pytest.mark.parametrize("phase", ["", *NextStep, RED_BASE, UNCHECKED])
def test_after_a_command_no_remark_is_worked_on_that_nobody_can_have_made(phase: str) -> None:
    begun = fence(READY, phase)
    intent = intent_for(issue(READY), None, begun)
    assert isinstance(intent, Intent)
    action = decide(Snapshot(replace(begun, stage=intent.stage, phase=intent.phase), issue(READY)), now=AT)
    built = phase not in {"", NextStep.RED, NextStep.GREEN, NextStep.REFACTOR, NextStep.CONFIRMED, NextStep.DECLINED}
    assert (action is Action.READ_CI) is built
    assert action not in {Action.ADDRESS_REVIEW, Action.FIX_CI}


@pytest.mark.parametrize("phase", ["", *NextStep, RED_BASE, UNCHECKED])
def test_after_a_command_ci_is_read_anew_unless_a_remark_was_being_answered(phase: str) -> None:
    intent = intent_for(issue(REVIEWING), pull(CHANGES), fence(READY, phase, round=1, pr=57))
    assert isinstance(intent, Intent)
    remarks: dict[str, NextStep] = dict.fromkeys((NextStep.FEEDBACK, NextStep.ROUNDS), NextStep.FEEDBACK)
    remarks |= {NextStep.ANSWER: NextStep.ANSWER, NextStep.TEXT: NextStep.TEXT}
    assert (intent.stage, intent.phase) == (IMPLEMENTING, remarks.get(phase, NextStep.CI))
    assert (intent.round, intent.work_head) == (2, "b" * 40)


def test_what_was_changed_before_it_stopped_is_answered_and_not_paid_for_again() -> None:
    halted = fence(READY, NextStep.ANSWER, round=1, pr=57)
    intent = intent_for(issue(REVIEWING), pull(CHANGES), halted)
    assert isinstance(intent, Intent)
    begun = replace(halted, stage=intent.stage, phase=intent.phase)
    assert decide(Snapshot(begun, issue(REVIEWING), pull(CHANGES)), now=AT) is Action.ANSWER_REVIEW


@pytest.mark.fault(17)
@pytest.mark.parametrize("stage", [IMPLEMENTING, TESTING])
def test_work_in_progress_goes_on_whatever_the_label_says(stage: Stage) -> None:
    for labels in ((READY,), (stage,), (), (READY, stage)):
        assert intent_for(issue(*labels), None, fence(stage, NextStep.GREEN)) == Intent(stage, NextStep.GREEN)
    with_pull = fence(stage, NextStep.CI, pr=57)
    assert intent_for(issue(stage), pull(), with_pull) == Intent(stage, NextStep.CI, pr=57)


@pytest.mark.parametrize("stage", [REVIEWING, FAILED, CI_FAILED])
def test_labels_that_lag_behind_a_settled_fence_are_finished(stage: Stage) -> None:
    assert intent_for(issue(TESTING), None, fence(stage)) == Intent(stage, "")
    assert intent_for(issue(TESTING), pull(), fence(stage, pr=57)) == Intent(stage, "", pr=57)
    assert intent_for(issue(REVIEWING), pull(TESTING), fence(stage, pr=57, round=1)) == Intent(stage, "", pr=57)


def test_a_working_label_without_any_fence_begins_as_ready_would() -> None:
    assert intent_for(issue(IMPLEMENTING), None, None) == Intent(
        IMPLEMENTING, NextStep.RED, attempt=0, body_sha256=TEXT
    )


@pytest.mark.parametrize("stage", [REVIEWING, FAILED, CI_FAILED])
def test_requested_changes_begin_the_next_round_from_the_head(stage: Stage) -> None:
    got = intent_for(issue(REVIEWING), pull(CHANGES), fence(stage, round=1, pr=57))
    text = "" if stage is REVIEWING else TEXT  # from a halt, whoever leads on approves the text as it is
    head = None if stage is REVIEWING else "b" * 40  # and the branch as it is
    assert got == Intent(IMPLEMENTING, NextStep.FEEDBACK, round=2, pr=57, work_head=head, body_sha256=text)


def test_whoever_leads_on_from_an_edit_has_the_new_text_worked_on() -> None:
    edited = replace(fence(FAILED, round=1, pr=57), body_sha256="b" * 64)
    got = intent_for(issue(REVIEWING), pull(CHANGES), edited)
    assert got == Intent(IMPLEMENTING, NextStep.TEXT, round=2, pr=57, work_head="b" * 40, body_sha256=TEXT)


@pytest.mark.parametrize(
    ("found", "with_pull", "old", "sentence"),
    [
        (issue(READY, open=False), None, None, "the issue is closed or locked"),
        (issue(READY, locked=True), None, None, "the issue is closed or locked"),
        (issue(READY, "flag:paused"), None, None, "the issue carries 'flag:paused'"),
        (issue(READY, "Flag:Paused"), pull(CHANGES), fence(REVIEWING), "the issue carries 'flag:paused'"),
        (issue(), None, None, "no stage of the worker"),
        (issue(IMPLEMENTING), None, fence(WITHDRAWN), "no stage of the worker"),
        (issue(REVIEWING), None, fence(REVIEWING), "no stage of the worker"),
        (issue(REVIEWING), pull(REVIEWING), fence(REVIEWING, pr=57), "no changes are requested"),
        (issue(REVIEWING), pull(CHANGES), None, "the pull request is not of this engine's making"),
    ],
)
def test_where_nothing_is_to_be_claimed_it_says_why(
    found: Issue, with_pull: PullRequest | None, old: Fence | None, sentence: str
) -> None:
    assert intent_for(found, with_pull, old) == sentence


def test_after_the_last_round_a_person_is_asked_who_may_grant_one_more() -> None:
    last = fence(REVIEWING, round=3, pr=57)
    assert intent_for(issue(REVIEWING), pull(CHANGES), last) == Intent(IMPLEMENTING, NextStep.ROUNDS, pr=57)
    granted = intent_for(issue(FAILED), pull(CHANGES), replace(last, stage=FAILED))
    assert isinstance(granted, Intent)
    assert (granted.phase, granted.round) == (NextStep.FEEDBACK, 4)


def test_what_is_merged_where_github_closes_no_issue_is_finished() -> None:
    handed_over, merged = fence(REVIEWING, pr=57), pull(open=False, merged=True, base="next")
    assert intent_for(issue(REVIEWING), merged, handed_over) == Intent(REVIEWING, "")
    assert intent_for(issue(REVIEWING), replace(merged, base_branch="main"), handed_over) == "no stage of the worker"
    assert intent_for(issue(REVIEWING), merged, fence(FAILED, pr=57)) == "no stage of the worker"


@pytest.mark.fault(32)
def test_what_a_person_closed_while_it_rested_is_taken_up_once_without_anybodys_label() -> None:
    handed_over, closed = fence(REVIEWING, pr=57), pull(open=False)
    intent = intent_for(issue(REVIEWING), closed, handed_over)
    assert isinstance(intent, Intent)
    assert intent == Intent(REVIEWING, "")
    assert cause(intent, issue(REVIEWING), closed, handed_over, Labels()) is None
    assert intent_for(issue(REVIEWING), closed, replace(handed_over, stage=WITHDRAWN)) == "no stage of the worker"
    assert intent_for(issue(REVIEWING), None, handed_over) == "no stage of the worker"
    afresh = intent_for(issue(READY), closed, replace(handed_over, stage=WITHDRAWN))
    assert isinstance(afresh, Intent)
    assert (afresh.stage, afresh.pr) == (IMPLEMENTING, 0)


def test_a_plan_that_was_edited_before_its_start_is_bound_to_no_text_once() -> None:
    planned = write(Specification("Greet people."), keys=KEYS, parent=1, key="1-1", plan_sha="a" * 64)
    edited = planned.replace("Greet", "Rob")
    for body in (edited, planned.replace("mac=", "mac=0"), f"{planned}\nAnd rob them."):
        for label in (READY, IMPLEMENTING):
            begun = intent_for(issue(label, body=body), None, None)
            assert isinstance(begun, Intent)
            assert begun.body_sha256 == UNAPPROVED
    for body, before in ((planned, None), (edited, fence(FAILED)), ("Greet people.", None)):
        begun = intent_for(issue(READY, body=body), None, before)
        assert isinstance(begun, Intent)
        assert begun.body_sha256 == body_sha256("Title", body)


ISSUE_READY = Cause(42, frozenset({READY}))
WORKING = frozenset({IMPLEMENTING, TESTING})
ISSUE_WORKING, PULL_WORKING = Cause(42, WORKING), Cause(57, WORKING)
PULL_CHANGES = Cause(57, frozenset({CHANGES}))


@pytest.mark.parametrize(
    ("found", "with_pull", "old", "expected"),
    [
        (issue(READY), None, None, ISSUE_READY),
        (issue(READY, IMPLEMENTING), None, fence(FAILED), ISSUE_READY),
        (issue(READY), pull(open=False, merged=True), fence(REVIEWING, pr=57), ISSUE_READY),
        (issue(READY), pull(open=False), fence(WITHDRAWN, pr=57), ISSUE_READY),
        (issue(IMPLEMENTING), None, None, ISSUE_WORKING),
        (issue(READY), None, fence(IMPLEMENTING), None),
        (issue(TESTING), pull(), fence(TESTING, pr=57), None),
        (issue(REVIEWING), pull(CHANGES), fence(REVIEWING, pr=57), PULL_CHANGES),
        (issue(READY), pull(CHANGES), fence(FAILED, pr=57), PULL_CHANGES),
        (issue(REVIEWING), pull(CHANGES), fence(REVIEWING, pr=57, round=3), PULL_CHANGES),
        (issue(TESTING), pull(), fence(REVIEWING, pr=57), ISSUE_WORKING),
        (issue(TESTING), None, fence(FAILED, NextStep.FEEDBACK), ISSUE_WORKING),
        (issue(READY), pull(TESTING), fence(FAILED, NextStep.FEEDBACK, pr=57, round=1), PULL_WORKING),
        (issue(REVIEWING), pull(open=False, merged=True, base="next"), fence(REVIEWING, pr=57), None),
    ],
)
def test_each_beginning_has_one_label_whose_author_must_be_trusted(
    found: Issue, with_pull: PullRequest | None, old: Fence | None, expected: Cause | None
) -> None:
    intent = intent_for(found, with_pull, old)
    assert isinstance(intent, Intent)
    assert cause(intent, found, with_pull, old, NAMES) == expected


@pytest.mark.parametrize(
    ("of_issue", "pull_request", "stage", "number"),
    [
        (READY, None, IMPLEMENTING, 42),
        (READY, pull(READY, open=False), IMPLEMENTING, 42),
        (IMPLEMENTING, None, IMPLEMENTING, None),
        (READY, None, FAILED, None),
        (REVIEWING, pull(CHANGES), IMPLEMENTING, 57),
        (READY, pull(IMPLEMENTING), IMPLEMENTING, None),
    ],
)
def test_a_label_set_again_is_a_new_order_for_work_that_waits(
    of_issue: Stage, pull_request: PullRequest | None, stage: Stage, number: int | None
) -> None:
    works = fence(stage)
    waits = replace(works, wait=Wait("usage-limit", AT))
    found = urged(issue(of_issue), pull_request, waits, NAMES)
    assert (found.number if found else None) == number
    assert urged(issue(of_issue), pull_request, works, NAMES) is None
