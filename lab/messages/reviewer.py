"""Texts of the reviewer on a pull request: its reviews, and its status comment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lab.messages.samples import BASE, HEAD, NAMES, PULL, REVIEW, UNTIL
from lab.messages.text import Message
from reviewer_agent import comments
from reviewer_agent.after_merge import messages as after_merge
from reviewer_agent.after_merge.merge_commit import MergeCommit
from reviewer_agent.after_merge.record import Answer
from reviewer_agent.merge.blockers import WAITS, Blocker
from reviewer_agent.review import text
from reviewer_agent.review.answer import (
    BreakingChange,
    Checked,
    CriterionAnswer,
    EarlierAnswer,
    FindingAnswer,
    ReviewAnswer,
)
from reviewer_agent.review.draft import Draft, Placed
from reviewer_agent.review.patch import Patch
from reviewer_agent.review.questions import Answered, ChangeKind, Question
from shared.ci.triage import Failure
from shared.errors import Blocked
from shared.lock.fence import Wait
from shared.models import Check, CheckOutcome
from shared.text.comment_signatures import Keyring
from shared.workflow import Stage

MODULES = (comments, text, after_merge)
UNPOSTED = frozenset({"inline", "line", "is_about"})

_FACTS = comments.Facts(
    lines=900,
    limit=800,
    barred="it carries `do-not-merge`",
    until=UNTIL,
    base="main",
    missing=("1 approval of a person",),
    github_text="Required status check is expected.",
)
_FINDING = FindingAnswer(
    severity="minor", path="directory/search.py", line=8, why="The order is not described.", suggestion="Name it."
)
_MET = CriterionAnswer(id="AC1", met=True, note="test_finds_a_part_of_the_name")
_UNMET = CriterionAnswer(id="AC2", met=False, note="no test looks at the order")


def _draft(answer: ReviewAnswer, *, paths: tuple[str, ...] = ("directory/search.py",)) -> Draft:
    placed = Placed((_FINDING,), (_FINDING.model_copy(update={"line": None}),))
    patch = Patch("", frozenset(paths), {"directory/search.py": frozenset({8})})
    return Draft(HEAD, 0, answer, placed if answer.verdict != "approved" else Placed((), ()), patch)


def messages() -> Iterator[Message]:
    """All of it, in the order of a pull request's life."""
    yield from _reviews()
    yield from _about_states()
    for blocker in Blocker:
        named = ("grace", "alan") if blocker is Blocker.REMARKED else _FACTS.missing
        yield Message.of(comments.approved, REVIEW, blocker, NAMES, replace(_FACTS, missing=named)).on(
            blocker.name.casefold()
        )
    yield Message.of(comments.merge_title, PULL)
    yield Message.of(comments.merge_message, PULL, ("Signed-off-by: Ada <ada@example.org>",))
    yield Message.of(comments.merged, replace(REVIEW, stage=Stage.DONE))
    yield from _after_merge()


def _after_merge() -> Iterator[Message]:
    merge = MergeCommit(PULL, "9f8e7d6c" * 5, BASE)
    red = (Failure(Check("test", CheckOutcome.FAILED), "FAILED tests/test_search.py::test_order"),)
    voice = after_merge.Voice(NAMES, Keyring(1), "https://github.com/ada/directory")
    yield Message.of(after_merge.issue_title, merge)
    yield Message.of(after_merge.issue_body, merge, red, voice)
    yield Message.of(after_merge.revert_title, merge)
    yield Message.of(after_merge.revert_body, merge, red, voice)
    yield Message.of(after_merge.revert_message, merge, red)
    for answer in Answer:
        yield Message.of(after_merge.comment, merge, red, answer, 16, voice).on(answer)
    yield Message.of(after_merge.comment, merge, red, Answer.ISSUE, 0, voice).on("refused")


def _reviews() -> Iterator[Message]:
    nothing = BreakingChange(breaks=False, why="")
    good = ReviewAnswer(
        verdict="approved",
        summary="It does what the criteria ask for.",
        findings=(),
        criteria=(_MET,),
        breaking_change=nothing,
    )
    bad = ReviewAnswer(
        verdict="changes_requested",
        summary="The order is missing.",
        findings=(_FINDING,),
        criteria=(_MET, _UNMET),
        breaking_change=nothing,
    )
    yield Message.of(text.review_body, replace(_draft(good), checked=Checked(criteria=(_MET,))))
    yield Message.of(text.review_body, _draft(bad)).on("changes")
    yield Message.of(text.finding_body, _FINDING)
    careful = good.model_copy(
        update={
            "breaking_change": BreakingChange(breaks=True, why="search() has another name."),
            "earlier": (EarlierAnswer(id="F1", resolved=True, note="The docstring names the order."),),
        }
    )
    draft = _draft(careful, paths=("pyproject.toml",))
    question = Answered(Question(ChangeKind.CHANGED, "tests/test_search.py::test_order"))
    yield Message.of(text.review_body, replace(draft, removed=("search.py: find",), replies=(question,))).on("careful")
    unseen = replace(
        draft, patch=replace(draft.patch, missing=("big.json",), paths=frozenset()), answer=good, late=(_FINDING,)
    )
    yield Message.of(text.review_body, unseen).on("incomplete")


def _about_states() -> Iterator[Message]:
    yield Message.of(comments.changes_requested, REVIEW, PULL, NAMES)
    yield Message.of(comments.changes_requested, REVIEW, PULL, NAMES, by_person=True).on("by a person")
    yield Message.of(comments.not_asked, REVIEW, replace(PULL, head_sha="c" * 40), NAMES)
    yield Message.of(comments.of_issues, "status:ready", NAMES)
    yield Message.of(comments.read_anew, REVIEW)
    yield Message.of(comments.sent_to_base, REVIEW, "main")
    yield Message.of(comments.sent_back, REVIEW)
    for reason in WAITS.values():
        yield Message.of(comments.put_off, REVIEW, reason, NAMES).on(reason.name.casefold())
    yield Message.of(comments.waiting, replace(REVIEW, wait=Wait("backoff", UNTIL)), "The run failed.")
    yield Message.of(comments.paused, REVIEW)
    yield Message.of(comments.withdrawn, REVIEW, "the pull request was closed")
    yield Message.of(comments.withdrawn, REVIEW, "the label was removed", NAMES).on("open")
    failed = replace(REVIEW, stage=Stage.FAILED)
    yield Message.of(comments.given_up, failed, Blocked(comments.rounds_used_up(3)), NAMES)
    yield Message.of(comments.given_up, failed, Blocked(comments.reviews_used_up(10)), NAMES, ours=False).on(
        "a person's"
    )
    yield Message.of(comments.rounds_used_up, 3)
    yield Message.of(comments.reviews_used_up, 10)
    yield Message.of(comments.too_large, ["big.json"])
