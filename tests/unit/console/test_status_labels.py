"""The board says what a person has to do where labels, checks or the reviewer's word keep every agent away."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from console.status.board import passed_over, rows
from console.status.row import BoardSettings, ItemRow, RepositorySnapshot, Waiting, Whom
from console.status.waiting import CONFIGURED, merging
from reviewer_agent.comments import approved, not_asked
from reviewer_agent.merge.blockers import ON_ORDER, Blocker
from shared.ci.verdict import CiVerdict
from shared.github.status import StatusBoard
from shared.lock.codec import Ack, AckState, ItemKey
from shared.lock.comment import write_ack
from shared.lock.fence import Fence, Wait
from shared.lock.write_permit import Notice, WritePermit
from shared.models import Account, Comment, Issue, PullRequest
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage
from shared.workflow.labels import HOLDING_OF_ISSUE, Flag

AT = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)
HEAD = "1" * 40
NONCE = "a" * 32
ENGINE, MALLORY = Account(5, "reviewer-bot"), Account(6, "mallory")
TERMS = BoardSettings(merge="auto", exclude=("blocked", "do-not-automate"), barring=("do-not-merge",))
FREE, MERGES = Waiting(Whom.WORKER, "an idle worker"), CONFIGURED["auto"]


def person(why: str) -> Waiting:
    return Waiting(Whom.PERSON, why)


def issue(number: int, *labels: str, pull: bool = False) -> Issue:
    return Issue(number, "Search", "", frozenset(labels), ENGINE, AT, AT, is_pull_request=pull)


def fence(kind: Role, number: int, stage: Stage, **more: Any) -> Fence:
    return Fence(ItemKey(kind, number), 900 + number, NONCE, f"{kind}-1", stage, AT, **more)


WORKING = fence(Role.WORKER, 7, Stage.REVIEWING, pr=9)
APPROVED = fence(Role.REVIEWER, 9, Stage.APPROVED, work_head=HEAD)


def ack(of: Fence, state: AckState) -> Comment:
    one = Ack(of.key, of.agent, 1_700_000_000_000, 0, NONCE, 1800, state, id=of.ack_id)
    return Comment(of.ack_id, of.key.number, ENGINE, write_ack(one, Keyring(1, ())), AT, AT)


def board(*issues: Issue, fences: tuple[Fence, ...] = (), terms: BoardSettings = TERMS, **more: Any) -> list[ItemRow]:
    acks = more.pop("acks", ())
    shown = {one.id for one in acks if "state=active" in one.body}
    known = {f.key: f if f.ack_id in shown else replace(f, released=f.nonce) for f in fences}
    return list(rows(RepositorySnapshot(AT, issues, known, {one.id: one for one in acks}, **more), terms))


@pytest.mark.parametrize(
    ("labels", "include", "expected"),
    [
        (["Blocked"], (), person("take the label 'Blocked' off")),
        (["bug"], ("auto",), person("give it the label 'auto'")),
        ([], ("auto", "bot"), person("give it one of the labels 'auto', 'bot'")),
        (["AUTO"], ("auto", "bot"), FREE),
        (["auto", "do-not-automate"], ("auto",), person("take the label 'do-not-automate' off")),
        (["bug"], (), FREE),
    ],
)
def test_what_no_worker_takes_waits_for_a_person(
    labels: list[str], include: tuple[str, ...], expected: Waiting
) -> None:
    terms = replace(TERMS, include=include)
    (row,) = board(issue(7, "status:ready", *labels), terms=terms)
    assert row.waiting == expected
    (row,) = board(issue(7, "story", *labels), terms=terms)
    assert row.waiting == (expected if expected != FREE else Waiting(Whom.PLANNER, "an idle planner"))


def test_an_agent_ends_its_step_before_a_label_counts() -> None:
    working = fence(Role.WORKER, 7, Stage.IMPLEMENTING)
    item, later = issue(7, "status:implementing", "blocked"), Wait("backoff", AT + timedelta(minutes=5))
    (row,) = board(item, fences=(working,), acks=(ack(working, AckState.ACTIVE),))
    assert row.waiting is None
    (row,) = board(item, fences=(replace(working, wait=later),))
    assert row.waiting == person("take the label 'blocked' off")


def test_a_pull_request_needs_no_label_that_asks_for_work_and_its_issues_label_keeps_agents_from_it() -> None:
    terms = replace(TERMS, include=("auto",))
    reviewing = fence(Role.REVIEWER, 9, Stage.REVIEWING, work_head=HEAD)
    items = issue(7, "status:reviewing"), issue(9, "status:reviewing", pull=True)
    spec, pull = board(*items, fences=(WORKING, reviewing), terms=terms)
    assert (spec.waiting, pull.waiting) == (Waiting(Whom.ITEM, "PR #9"), Waiting(Whom.REVIEWER, "an idle reviewer"))
    barred = issue(7, "status:reviewing", "blocked"), items[1]
    spec, pull = board(*barred, fences=(WORKING, reviewing), terms=terms)
    assert spec.waiting == person("take the label 'blocked' off")
    assert pull.waiting == person("take the label 'blocked' off #7")


@pytest.mark.parametrize("merge", ["auto", "approve", "never"])
@pytest.mark.parametrize(
    ("on_issue", "on_pull", "why"),
    [
        ((), ("flag:had-conflict",), "merge it, or take 'flag:had-conflict' off"),
        ((), ("flag:manual-intervention",), "merge it, or take 'flag:manual-intervention' off"),
        ((), ("Do-Not-Merge",), "merge it, or take 'Do-Not-Merge' off"),
        (("do-not-merge",), (), "merge it, or take 'do-not-merge' off #7"),
        ((), ("flag:budget-exceeded",), "merge it, or take 'flag:budget-exceeded' off"),
        ((), ("flag:problematic-test",), "merge it, or take 'flag:problematic-test' off"),
        (("flag:spec-review-needed",), (), "merge it, or take 'flag:spec-review-needed' off #7"),
        (("Flag:Had-Conflict",), (), "merge it, or take 'Flag:Had-Conflict' off #7"),
        (("flag:problematic-test",), (), ""),
    ],
)
def test_what_a_label_keeps_from_being_merged_waits_for_a_person(
    merge: str, on_issue: tuple[str, ...], on_pull: tuple[str, ...], why: str
) -> None:
    items = issue(7, "status:reviewing", *on_issue), issue(9, "status:approved", *on_pull, pull=True)
    pull = next(
        row for row in board(*items, fences=(WORKING, APPROVED), terms=replace(TERMS, merge=merge)) if row.number == 9
    )
    assert pull.waiting == (CONFIGURED[merge] if merge == "never" or not why else person(why))


def test_an_excluded_label_stops_a_merge_by_the_engine_and_none_by_people() -> None:
    items = issue(7, "status:reviewing"), issue(9, "status:approved", "blocked", pull=True)
    pull, _ = board(*items, fences=(WORKING, APPROVED))
    assert pull.waiting == person("take the label 'blocked' off")
    pull, _ = board(*items, fences=(WORKING, APPROVED), terms=replace(TERMS, merge="never"))
    assert pull.waiting == person("merge it")


@pytest.mark.parametrize(
    ("ci", "expected"),
    [
        (CiVerdict.GREEN, MERGES),
        (CiVerdict.NONE, MERGES),
        (None, MERGES),
        (CiVerdict.RUNNING, Waiting(Whom.CI, "its checks")),
        (CiVerdict.RED, Waiting(Whom.CI, "its checks")),
    ],
)
def test_a_merge_waits_for_checks_that_are_not_green(ci: CiVerdict | None, expected: Waiting) -> None:
    assert merging("auto", "", ci, {}) == expected
    assert merging("approve", "", ci, {}) == person("/merge")


def test_a_required_check_that_nobody_reports_is_named() -> None:
    word = {"why": "checks_awaited", "for": ["security", "e2e"]}
    assert merging("auto", "", CiVerdict.RUNNING, word) == person("the required check security and e2e")


@pytest.mark.parametrize("reason", sorted(ON_ORDER - {Blocker.NOT_ORDERED, Blocker.OWN_ORDER}))
def test_what_only_an_order_merges_waits_for_that(reason: Blocker) -> None:
    assert merging("auto", "", CiVerdict.GREEN, {"why": reason.name.casefold()}) == person("/merge")


def test_flags_that_keep_the_reviewer_from_merging_are_all_known() -> None:
    for flag in Flag:
        (row,) = board(issue(9, "status:approved", f"flag:{flag}", pull=True), fences=(APPROVED,))
        assert row.waiting is not None
        assert row.waiting.whom is Whom.PERSON


def test_flags_of_the_issue_that_keep_the_reviewer_from_merging_are_all_known() -> None:
    for flag in Flag:
        items = issue(7, "status:reviewing", f"flag:{flag}"), issue(9, "status:approved", pull=True)
        row = next(one for one in board(*items, fences=(WORKING, APPROVED)) if one.number == 9)
        assert row.waiting is not None
        assert (row.waiting == MERGES) is (flag not in HOLDING_OF_ISSUE)


class Thread:
    """A thread of which nothing is known, and what is posted there."""

    def __init__(self) -> None:
        self.posted: list[Comment] = []

    async def thread(self, number: int, since: datetime | None = None) -> tuple[Comment, ...]:
        return ()

    def known(self, number: int) -> tuple[Comment, ...] | None:
        return None

    async def post(self, number: int, body: str, permit: WritePermit) -> Comment:
        self.posted.append(Comment(50, number, ENGINE, body, AT, AT))
        return self.posted[-1]

    async def edit(self, id: int, body: str, permit: WritePermit) -> Comment | None:
        return None

    async def delete(self, id: int, permit: WritePermit) -> None:
        raise AssertionError("nothing is to be deleted here")


@pytest.mark.parametrize(
    ("change", "kind", "expected"),
    [
        ({}, Role.REVIEWER, person("/merge")),
        ({"author": MALLORY}, Role.REVIEWER, MERGES),
        ({}, Role.WORKER, MERGES),
        ({"number": 8}, Role.REVIEWER, MERGES),
        ({"body": (HEAD, "2" * 40)}, Role.REVIEWER, MERGES),
        ({"body": ('"large"', "large")}, Role.REVIEWER, MERGES),
    ],
    ids=["its own", "of a stranger", "of a worker", "elsewhere", "of another commit", "spoilt"],
)
async def test_the_reviewers_last_word_counts_for_the_commit_that_it_is_about(
    change: dict[str, Any], kind: Role, expected: Waiting
) -> None:
    thread = Thread()
    own = StatusBoard(thread, kind, {ENGINE.id}, Keyring(1, (Key.of(b"k" * 64),)))
    await own.show(9, approved(APPROVED, Blocker.LARGE, TERMS.names), Notice(9, "told"))
    (said,) = thread.posted
    if "body" in change:
        assert change["body"][0] in said.body
        change = {"body": said.body.replace(*change["body"])}
    (pull,) = board(
        issue(9, "status:approved", pull=True),
        fences=(APPROVED,),
        acks=(ack(APPROVED, AckState.RELEASED),),
        comments=(replace(said, **change),),
    )
    assert pull.waiting == expected


PUSHED = PullRequest(
    number=9,
    title="Search",
    body="",
    author=ENGINE,
    labels=frozenset(),
    head_sha="3" * 40,
    head_branch="auto/issue-7",
    head_repository="a/b",
    base_branch="main",
    base_repository="a/b",
)


@pytest.mark.parametrize("stage", [Stage.REVIEWING, Stage.IN_REVIEW, Stage.APPROVED])
@pytest.mark.parametrize("merge", ["never", "approve", "auto"])
async def test_commits_that_nobody_asked_about_wait_for_a_person(stage: Stage, merge: str) -> None:
    of = replace(APPROVED, stage=stage)
    thread = Thread()
    own = StatusBoard(thread, Role.REVIEWER, {ENGINE.id}, Keyring(1, (Key.of(b"k" * 64),)))
    await own.show(9, not_asked(of, PUSHED, TERMS.names), Notice(9, "told"))
    item, acks = issue(9, f"status:{stage}", pull=True), (ack(of, AckState.RELEASED),)
    terms = replace(TERMS, merge=merge)
    (pull,) = board(item, fences=(of,), acks=acks, comments=tuple(thread.posted), terms=terms)
    assert pull.waiting == person("nobody has asked for a review of the newest commits")
    (held,) = board(item, fences=(of,), acks=(ack(of, AckState.ACTIVE),), comments=tuple(thread.posted), terms=terms)
    assert held.waiting != pull.waiting


def test_an_issue_that_is_assigned_to_the_engine_too_is_not_left_to_the_person() -> None:
    at = datetime(2026, 11, 1, tzinfo=UTC)
    people = (Account(1, "ada"), Account(9, "Engine-Bot"))
    item = Issue(7, "Search", "", frozenset({"status:ready"}), people[0], at, at, assignees=people)
    terms = BoardSettings(own=("engine-bot",))
    assert passed_over(item, None, terms, begun=False) == "it is assigned to ada"
    assert passed_over(item, None, replace(terms, invited="engine-bot"), begun=False) == ""
