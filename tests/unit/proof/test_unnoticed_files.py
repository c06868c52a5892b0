"""Changed files whose change the new tests do not notice: which tests are asked whether they are needed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.specification import Specification
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.damage_detection import Noticed, unnoticed_files
from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.proof.subject import ProofSubject, Rules
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, PurposeKind, TestResult, TestRun

FOLLOWS, NEW, OLD = "follows.py", "tests/test_page.py", "tests/test_follows.py"
BASE = b"def limit(number):\n    return [number + 1][0]\n"
HEAD = b"def limit(number):\n    return number + 1\n"
TEST = f"{OLD}::test_limit"
PASSED = TestRun({TEST: TestResult(TEST, OLD, CaseOutcome.PASSED, None, "")})
FAILED = TestRun({TEST: TestResult(TEST, OLD, CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION, "")})


@pytest.mark.parametrize(
    ("taken_back", "old_test", "suite_seconds", "left"),
    [
        (FAILED, b"from follows import limit\n", 100.0, ()),
        (FAILED, b"import pages\n", 100.0, (FOLLOWS,)),
        (FAILED, b"import pages\n", 1.0, ()),
        (PASSED, b"import pages\n", 1.0, (FOLLOWS,)),
        (PASSED, b"from follows import limit\n", 100.0, (FOLLOWS,)),
    ],
)
async def test_a_file_is_needed_when_an_old_test_fails_without_its_change(
    taken_back: TestRun, old_test: bytes, suite_seconds: float, left: tuple[str, ...]
) -> None:
    told: list[tuple[PurposeKind, bytes | None]] = []

    async def run(tree: str, over: Overlay, selection: Selection | None, limit: float | None) -> TestRun:
        told.append((over.purpose.kind, over.files.get(FOLLOWS)))
        is_asked = selection is not None and OLD in selection.files
        return taken_back if is_asked and over.files.get(FOLLOWS) == BASE else PASSED

    change = Change("base", "head", old={FOLLOWS: BASE}, new={FOLLOWS: HEAD, NEW: b""}, support={OLD: old_test})
    subject = ProofSubject.of(change, run, Rules(), Specification(""))
    assert await unnoticed_files(subject, {NEW}, replace(PASSED, seconds=suite_seconds), Noticed()) == left
    assert [kind for kind, content in told if content == BASE] == [PurposeKind.TAKEN_BACK] * (len(told) - 2)
    assert [kind for kind, content in told if content not in {BASE, None}] == [PurposeKind.DAMAGE]
