"""Texts of the worker: on an issue, on its pull request, and in the threads of its remarks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from lab.messages.samples import BASE, FAILED, HEAD, ISSUE, LATER, NAMES, OPENED, PULL, ROUND, WORK
from lab.messages.text import Message
from shared.ci.ci_round import CiObservation
from shared.errors import Misconfigured
from shared.git.notes import ProofNote, RemarkAnswer
from shared.models import Check, CheckOutcome
from shared.retry.failures import Category
from shared.retry.run_errors import RunEnded
from shared.text.comment_signatures import Keyring
from worker_agent import comments, errors, pull_request_body
from worker_agent.branch import comments as branch
from worker_agent.ci import ci_comments
from worker_agent.decide import NextStep
from worker_agent.feedback import answers, status_text
from worker_agent.intake import intake_comments
from worker_agent.intake.blockers import Link
from worker_agent.intake.same_files import Sharing
from worker_agent.tdd.evidence import Evidence, Proof, markdown
from worker_agent.tdd.judging.verdict import ErrorType

MODULES = (comments, branch, ci_comments, status_text, pull_request_body, intake_comments)
"""Modules with the worker's sentences."""

UNPOSTED = frozenset({"branch", "progress", "shown_head", "renewed"})
"""Functions of these modules that make no text of their own."""

_RED = CiObservation((Check("unit tests", CheckOutcome.FAILED), Check("lint", CheckOutcome.PASSED)))
_RUNNING = CiObservation((Check("unit tests", CheckOutcome.RUNNING),))
_TEST = "tests/test_search.py::test_finds_a_part_of_the_name"
_ANSWERS = (RemarkAnswer(("c1@1-a",), 1, "ada: Please name the order.", True, "the docstring names the order now."),)
_EVIDENCE = Evidence(
    base=BASE,
    head=HEAD,
    proofs=(
        Proof(_TEST, "not collected", "ModuleNotFoundError: No module named 'directory.search'", "passed", "AC1"),
        Proof("tests/test_search.py::test_keeps_the_order", "failed", "assert [] == ['ada']", "passed", "AC2"),
    ),
    baseline="4 passed",
    result="7 passed",
    attempts=2,
    cost_usd=0.42,
    cost_source="claude",
    green_exit=0,
    refused=("Implementation 1 was refused and rolled back",),
    criteria={"AC1": "A part of the name is enough.", "AC2": "The order is the directory's.", "AC3": "No network."},
    quality={"ruff check .": "clean"},
    later=((HEAD, "The docstring names the order now."),),
    tried=ProofNote(damages=6, noticed=5, unnoticed=("`limit + 1` became `limit + 2` in `search.py:31`",)),
)
_CHANGE = pull_request_body.ChangeSummary(
    ISSUE,
    OPENED,
    "People can be found.",
    markdown(_EVIDENCE),
    summary="People can be found by a part of their name. The store keeps no index, which every write would maintain.",
    part_of=11,
    flagged=("pyproject.toml",),
    test_commands="pytest -q",
    claim="<!-- engine-claim/2 data=... mac=... -->",
    merges="approve",
    documentation="https://example.org/docs/commands",
)


def messages() -> Iterator[Message]:
    """All of it, in the order of an issue's life."""
    yield from _on_the_issue()
    yield from _about_ci()
    yield from _on_the_pull_request()
    yield from _about_stops()
    yield from _about_failures()


def _on_the_issue() -> Iterator[Message]:
    for phase in NextStep:  # the end of the sentence "worker-1 is working on this since 02:50 UTC: ..."
        began = Message.of(comments.beginning, replace(WORK, phase=phase), most=3)
        yield began.on(f'after "... is working on this since 02:50 UTC: ", phase `{phase}`')
    yield Message.of(comments.tests_written, WORK, [_TEST], ["AC3: no test proves it"], "", 1)
    yield Message.of(comments.activated, WORK, _TEST, passes=False)
    yield Message.of(comments.activated, WORK, _TEST, passes=True).on("no code needed")
    yield Message.of(comments.attempt_failed, WORK, 3, [f"{_TEST}: assert [] == ['ada']"])
    yield Message.of(comments.refactoring_waits, WORK, "-old\n+new")
    yield Message.of(comments.waiting_for_ci, OPENED)
    yield Message.of(comments.edited, WORK)
    yield Message.of(comments.handed_over, OPENED)
    yield Message.of(comments.nothing_left, WORK, "main")
    yield Message.of(comments.passed_on, replace(WORK, next_role="developer"))
    yield Message.of(comments.waiting, LATER, "The run 'implement' ended as usage-limit.")
    yield Message.of(comments.unusable, WORK, Misconfigured("test_command: pytest is not installed"))
    yield Message.of(intake_comments.doubtful, "status:ready", ISSUE, ISSUE.number)
    yield Message.of(intake_comments.doubtful, "status:changes-requested", ISSUE, PULL.number).on("pull request")
    yield Message.of(intake_comments.waiting_status, Sharing(9, ("directory/search.py",)))
    yield Message.of(intake_comments.cycle_status, (Link(12, 13), Link(13, 12, written=False)))
    yield Message("branch.started_anew", branch.started_anew(WORK, "auto/issue-12-old-1"))
    yield Message("branch.adopted", branch.adopted(OPENED, BASE, [_TEST]))
    yield Message("branch.in_step", branch.in_step(OPENED, "main", ["directory/search.py: both changed it"]))


def _about_ci() -> Iterator[Message]:
    yield Message.of(ci_comments.red, OPENED, _RED)
    yield Message.of(ci_comments.rerun, OPENED, _RED, "")
    yield Message.of(ci_comments.rerun, OPENED, _RED, "Resource not accessible by integration").on("refused")
    yield Message.of(ci_comments.base_red, OPENED, _RED)
    yield Message.of(ci_comments.overdue, OPENED, _RUNNING)
    yield Message.of(ci_comments.overdue, OPENED, CiObservation(no_ci=True)).on("no CI")
    yield Message.of(ci_comments.overdue, OPENED, replace(_RUNNING, required=frozenset({"build"}))).on("required")
    yield Message("ci_comments.unrepaired", str(errors.CiGivenUp(3, ci_comments.unrepaired(_RED))))


def _on_the_pull_request() -> Iterator[Message]:
    keys = Keyring(1)
    yield Message.of(pull_request_body.title, "{title}", ISSUE)
    yield Message.of(pull_request_body.body, _CHANGE)
    yield Message.of(
        pull_request_body.proof, replace(_CHANGE, evidence=markdown(replace(_EVIDENCE, proofs=())), flagged=())
    ).on("without a new test")
    yield Message.of(comments.commit_message, "Implement Search users", fence=WORK, phase="green")
    yield Message.of(answers.reply, 15, _ANSWERS[0], HEAD, keys)
    yield Message.of(answers.reply, 15, replace(_ANSWERS[0], done=False, said="the API is public."), HEAD, keys).on(
        "not changed"
    )
    yield Message.of(answers.reply, 15, replace(_ANSWERS[0], said=""), HEAD, keys).on("nothing said")
    yield Message.of(answers.conversation, 15, _ANSWERS, HEAD, keys)
    yield Message.of(status_text.answered, ROUND, _ANSWERS, 0, again=False)
    yield Message.of(status_text.answered, ROUND, _ANSWERS, 2, again=True).on("more came")
    yield Message.of(status_text.with_ignored, comments.handed_over(OPENED), [("c1", "no write access")])
    yield Message.of(comments.opened_again, NAMES)


def _about_stops() -> Iterator[Message]:
    yield Message.of(comments.paused, WORK)
    ended = replace(ISSUE, open=False)
    yield Message.of(comments.withdrawn, WORK, "the issue was closed", NAMES, issue=ended, remains=True)
    yield Message.of(comments.withdrawn, OPENED, "the label was removed", NAMES, pull_request=PULL).on("open PR")
    yield Message.of(comments.ready_in_vain, OPENED, NAMES, PULL)
    yield Message.of(comments.pull_request_closed, OPENED, NAMES, remains=False)


def _about_failures() -> Iterator[Message]:
    reasons = {
        "tests prove nothing": errors.CycleAborted(ErrorType.TEST_UNEXPECTED_PASS, "Every new test passes already."),
        "CI": errors.CiGivenUp(3),
        "rounds": errors.RoundsUsedUp(3),
        "edited": errors.SpecificationEdited("`status:ready`"),
        "branch moved": errors.BranchTaken("auto/issue-12", HEAD, BASE),
        "conflict": errors.ConflictUnresolved(("main", "auto/issue-12"), ["search.py"], ["a marker is left"]),
        "budget": RunEnded("The run 'implement' used up its budget.", Category.RUN_BUDGET, "Raise `budgets.run`."),
    }
    for name, error in reasons.items():
        fence = replace(FAILED, pr=15) if name in {"CI", "rounds", "branch moved", "conflict"} else FAILED
        yield Message.of(comments.given_up, fence, error, "branch `auto/issue-12`", NAMES).on(name)
