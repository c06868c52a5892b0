"""Old and new versions of a changed test on damaged code: what became weaker, and what nobody can say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.specification import Specification
from worker_agent.tdd.comparison.model import ComparedTest, What
from worker_agent.tdd.proof import old_tests
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.proof.subject import ProofSubject, Rules
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, TestResult, TestRun

CODE, TESTS = "page.py", "tests/test_page.py"
TEST = f"{TESTS}::test_page"
OLD = b"from page import page\n\ndef test_page():\n    assert page(3) == 4\n"
NEW = b"from page import page\n\ndef test_page():\n    assert page(3)\n"
FAILED = TestRun(
    {TEST: TestResult(TEST, TESTS, CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION, "", asserted=True)}
)
PASSED = TestRun({TEST: TestResult(TEST, TESTS, CaseOutcome.PASSED, None, "")})
ENDLESS = TestRun({}, finished=False, timed_out=True)


def subject(before: TestRun, after: TestRun, limits: list[float | None]) -> ProofSubject:
    """Return a change of one old test, which ends on damaged code as `before`, and in its new version as `after`."""

    async def run(tree: str, over: Overlay, selection: Selection | None, limit: float | None) -> TestRun:
        limits.append(limit)
        return before if TESTS in over.files else after

    code = {CODE: b"def page(number):\n    return number + 1\n"}
    change = Change(
        "base",
        "head",
        old={TESTS: OLD, CODE: b"def page(number):\n    return number\n"},
        new={TESTS: NEW, **code},
        support={TESTS: OLD},
    )
    return ProofSubject.of(change, run, Rules(), Specification(""))


@pytest.mark.parametrize(
    ("before", "after", "softer"),
    [
        (FAILED, PASSED, True),
        (FAILED, FAILED, False),
        (PASSED, PASSED, False),
        (ENDLESS, PASSED, False),
        (FAILED, ENDLESS, False),
    ],
)
async def test_a_test_that_notices_less_is_told(before: TestRun, after: TestRun, softer: bool) -> None:
    limits: list[float | None] = []
    entry = ComparedTest(TESTS, "test_page", 3, What.EXPECTATIONS, "changed", before=OLD.decode(), after=NEW.decode())
    found = await old_tests.weakened(subject(before, after, limits), [entry], {TESTS: OLD}, alone_seconds=10.0)
    assert bool(found) is softer
    assert set(limits) == {40.0}


@pytest.mark.parametrize(("after", "tried"), [(NEW.decode(), True), ("def test_page():\n    assert leaf(3)\n", False)])
async def test_other_values_of_what_both_versions_call_are_tried_first(after: str, tried: bool) -> None:
    made: list[bytes | None] = []
    judged = subject(PASSED, PASSED, [])

    async def run(tree: str, over: Overlay, selection: Selection | None, limit: float | None) -> TestRun:
        made.extend(content for path, content in over.files.items() if path == CODE and content is not None)
        return PASSED

    entry = ComparedTest(TESTS, "test_page", 3, What.EXPECTATIONS, "changed", before=OLD.decode(), after=after)
    await old_tests.weakened(replace(judged, run=run), [entry], {TESTS: OLD}, alone_seconds=10.0)
    assert (b"+ 4173" in (made[0] or b"")) is tried
