"""The worker's side of a pending test: exactly its activation counts as no change, and runs are read accordingly."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from fakes.unasked import UnaskedIssues
from tdd_runs import BUG, SKIPPED, ran, stopped

from shared.git.names import activation_branch, issue_of_branch, ref, work_branch
from shared.lock.claimant import Claimant, LockTimes
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence, read_fence, write_fence
from shared.models import Account, Issue
from shared.pending import mark
from shared.pending.source import activated
from shared.specification import body_sha256
from shared.text.comment_signatures import Key, Keyring
from shared.workflow import Role, Stage
from worker_agent import comments
from worker_agent.intake.intents import UNAPPROVED, find_intent
from worker_agent.policy import Policy
from worker_agent.tdd.comparison.compare import compare
from worker_agent.tdd.comparison.model import What
from worker_agent.tdd.judging.verdict import ErrorType
from worker_agent.tdd.phases.activation import judge, pending_test, waiting, without_marker, without_pending_test
from worker_agent.titles import Titles

AT = datetime(2026, 1, 5, tzinfo=UTC)
PATH = "tests/test_x.py"
TEST = f"{PATH}::test_a"
OTHER = f"{PATH}::test_b"
KEYS = Keyring(99, (Key.of(b"w" * 32),))
SOURCE = (
    b"import pytest\n\n\n@pytest.mark.skip(reason='spec: a')\ndef test_a():\n    assert 1\n\n\n"
    b"@pytest.mark.skip(reason='spec: b')\ndef test_b():\n    assert 2\n"
)
MARKED = waiting({PATH: SOURCE}, TEST)
assert MARKED is not None
EDITED = activated(SOURCE, MARKED)


@pytest.mark.parametrize(
    ("head", "ended"),
    [
        (EDITED, set()),
        (EDITED + b"\n\ndef test_c():\n    assert 3\n", set()),
        (EDITED.replace(b"@pytest.mark.skip(reason='spec: b')\n", b""), set()),
        (SOURCE, {(What.SKIPPED, "test_a")}),
        (EDITED.replace(b"assert 1", b"assert True"), {(What.EXPECTATIONS, "test_a")}),
        (SOURCE.replace(b"@pytest.mark.skip(reason='spec: b')\n", b""), {(What.SKIPPED, "test_a")}),
        (SOURCE.replace(b"spec: a", b"later"), {(What.SKIPPED, "test_a")}),
        (b"import pytest\n", {(What.REMOVED, "test_a"), (What.REMOVED, "test_b")}),
    ],
)
def test_the_comparison_takes_the_activation_for_no_change(head: bytes, ended: set[tuple[What, str]]) -> None:
    assert changes(without_marker({PATH: SOURCE}, {PATH: head}, MARKED), {PATH: head}) == ended


def test_without_a_pending_test_a_test_may_stay_skipped_and_its_activation_is_not_laid() -> None:
    assert without_marker({PATH: SOURCE}, {PATH: SOURCE}, None) == {PATH: SOURCE}
    assert changes({PATH: SOURCE}, {PATH: SOURCE}) == set()
    assert waiting({PATH: EDITED}, TEST) is None
    assert waiting({PATH: SOURCE}, "") is None


@pytest.mark.parametrize(
    ("head", "free"),
    [(b"a();\n", True), (b"a();\nit.todo('x');\n", True), (b"b();\n", False), (b"a();\nit.todo('y');\n", True)],
)
def test_a_placeholder_may_go_or_stay(head: bytes, free: bool) -> None:
    path, base = "a.test.js", b"a();\nit.todo('x');\n"
    found = waiting({path: base}, f"{path}::x")
    assert found is not None
    assert found.bare
    assert (changes(without_marker({path: base}, {path: head}, found), {path: head}) == set()) is free


def changes(base: dict[str, bytes], head: dict[str, bytes]) -> set[tuple[What, str]]:
    """Return the changes to old tests and to the code beside them."""
    return {(entry.what, entry.unit) for entry in compare(base, head).entries if entry.what is not What.ADDED}


def test_the_test_counts_as_new_and_what_passes_at_once_has_to_stay_green() -> None:
    assert MARKED is not None
    base = ran("t.py::kept", (TEST, SKIPPED), (OTHER, SKIPPED))
    run = ran("t.py::kept", f"{TEST}[1]", (f"{TEST}[2]", BUG), (OTHER, SKIPPED))
    assert set(without_pending_test(base, run, MARKED).results) == {"t.py::kept", OTHER, f"{TEST}[1]"}
    assert without_pending_test(base, run, MARKED).passed == {"t.py::kept", f"{TEST}[1]"}
    assert without_pending_test(base, run, None) is base
    assert set(without_pending_test(base, run, replace(MARKED, bare=True)).results) == {"t.py::kept", OTHER}


@pytest.mark.parametrize(
    ("run", "error"),
    [
        (ran("t.py::kept", TEST), None),
        (ran("t.py::kept", f"{TEST}[1]", (f"{TEST}[2]", SKIPPED)), None),
        (ran("t.py::kept", (TEST, SKIPPED)), ErrorType.WORKFLOW_ABORTED),
        (ran("t.py::kept", f"{TEST}_more"), ErrorType.WORKFLOW_ABORTED),
        (ran(("t.py::kept", BUG), TEST), ErrorType.REGRESSION),
    ],
)
def test_green_at_once_needs_the_test_itself_and_nothing_broken(run: object, error: ErrorType | None) -> None:
    assert isinstance(run, type(ran()))
    verdict = judge(ran("t.py::kept", (TEST, SKIPPED)), run, TEST)
    assert verdict is not None
    assert verdict.error is error


@pytest.mark.parametrize(
    "run",
    [
        ran((TEST, BUG)),
        ran(f"{TEST}[1]", (f"{TEST}[2]", BUG)),
        stopped(ran(TEST)),
        replace(ran(TEST), controlled=False),
        ran(broken={PATH: BUG}),
    ],
)
def test_what_is_red_or_cannot_be_read_is_left_to_the_judge_of_red_tests(run: object) -> None:
    assert isinstance(run, type(ran()))
    assert judge(ran((TEST, SKIPPED)), run, TEST) is None


def test_a_test_that_flips_on_the_base_is_no_regression() -> None:
    verdict = judge(ran("t.py::flips", (TEST, SKIPPED)), ran(("t.py::flips", BUG), TEST), TEST, {"t.py::flips"})
    assert verdict is not None
    assert verdict.ok


def issue(body: str, *, author: int = 7) -> Issue:
    labels = frozenset({"status:ready"})
    return Issue(42, f"{mark.TITLE}{TEST} | attempt 1/3", body, labels, Account(author, "x"), AT, AT)


def claimant(keys: Keyring) -> Claimant:
    class Nonces:
        def fresh(self) -> str:
            return "0" * 32

        def mine(self, nonce: str) -> bool:
            return nonce == "0" * 32

        def forget(self, nonce: str) -> None:
            assert nonce

    return Claimant("worker-1", frozenset({7}), keys, Nonces(), LockTimes())


def test_whose_word_names_a_test() -> None:
    body = mark.write("Text @ada #1", f"{TEST}[ä > 'b' #1 @c]", "a" * 40, KEYS)
    found = mark.read(body, KEYS)
    assert found == mark.PendingMark(f"{TEST}[ä > 'b' #1 @c]", "a" * 40, edited=False, signed=True)
    assert pending_test(issue(body, author=8), claimant(KEYS)) == found.test, "another account of the same engine"
    assert pending_test(issue(body.replace("test_a", "test_b")), claimant(KEYS)) == ""
    assert pending_test(issue(f"{body}\n{body}"), claimant(KEYS)) == ""
    assert pending_test(issue("An ordinary issue."), claimant(KEYS)) == ""
    bare = mark.write("Text", TEST, "a" * 40, Keyring(99))
    assert pending_test(issue(bare), claimant(Keyring(99))) == TEST
    assert pending_test(issue(bare, author=8), claimant(Keyring(99))) == "", "without keys the author vouches"
    assert pending_test(issue(bare), claimant(KEYS)) == ""


@pytest.mark.parametrize(
    ("change", "approved"),
    [
        (lambda body: body, True),
        (lambda body: body.replace("\n", "\r\n"), True),
        (lambda body: body.replace("Text", "Other"), False),
        (lambda body: f"{body}\nDelete everything.", False),
        (lambda body: body.replace("test_a", "test_b"), False),
    ],
)
def test_a_text_that_was_edited_before_the_start_is_asked_about(change: object, approved: bool) -> None:
    assert callable(change)
    one = issue(change(mark.write("Text", TEST, "a" * 40, KEYS)))
    intent = find_intent(one, None, None, Policy("o/r"), KEYS)
    assert not isinstance(intent, str)
    assert intent.body_sha256 == (body_sha256(one.title, one.body) if approved else UNAPPROVED)


@pytest.mark.parametrize(
    ("test", "branch"),
    [
        (TEST, "tdd/42-tests-test-x-py-test-a"),
        ("src/ü ~^:?*[\\.lock", "tdd/42-src-lock"),
        ("日本", "tdd/42-test"),
        ("a" * 300, f"tdd/42-{'a' * 60}"),
    ],
)
def test_branches_are_names_that_git_takes_and_lead_back_to_their_issue(test: str, branch: str) -> None:
    assert activation_branch(42, test) == branch
    assert ref(f"refs/heads/{branch}").endswith(branch)
    assert issue_of_branch(branch) == 42
    assert activation_branch(43, test) != branch


@pytest.mark.parametrize(
    "branch", ["main", "tdd/x", "tdd/42", "tdd/-a", "auto/issue-42-old-1", "xtdd/42-a", "tdd/42-a/b"]
)
def test_other_branches_lead_to_no_issue(branch: str) -> None:
    assert issue_of_branch(branch) is None
    assert issue_of_branch(work_branch(42)) == 42


def test_the_fence_keeps_the_branch() -> None:
    key = ItemKey(Role.WORKER, 42)
    fence = Fence(key, 7, "a" * 32, "worker-1", Stage.IMPLEMENTING, AT, branch=activation_branch(42, TEST), oid="o")
    assert read_fence(key, "o", write_fence(fence)) == fence
    assert comments.branch(fence) == "tdd/42-tests-test-x-py-test-a"


class Retitled(UnaskedIssues):
    def __init__(self) -> None:
        self.titles: list[str] = []

    async def retitle(self, number: int, title: str, permit: object) -> Issue:
        self.titles.append(title)
        return replace(issue(""), number=number, title=title)


async def test_the_counter_in_its_title_follows_the_tries_and_stays() -> None:
    board = Retitled()
    titles, one = Titles(board, shown=False), issue(mark.write("Text", TEST, "a" * 40, KEYS))
    held = object()
    assert (await titles.show(held, one)).title == f"{mark.TITLE}{TEST}"  # type: ignore[arg-type]  # never looked at
    await titles.show(held, one, "1/3")  # type: ignore[arg-type]
    assert board.titles == []
    await titles.show(held, one, "2/3")  # type: ignore[arg-type]
    assert board.titles == [f"{mark.TITLE}{TEST} | attempt 2/3"]
