"""Tests that noticed no damage by an assertion: which of them are asked about, and which stay refused."""

from __future__ import annotations

import pytest

from shared.specification import Specification
from worker_agent.tdd.comparison.compare import compare
from worker_agent.tdd.comparison.model import Comparison
from worker_agent.tdd.comparison.renames import with_rewritten
from worker_agent.tdd.damage.model import Damage, DamageKind
from worker_agent.tdd.proof.change import Change
from worker_agent.tdd.proof.damage_detection import Noticed
from worker_agent.tdd.proof.doubts import of_blind
from worker_agent.tdd.proof.execution import Overlay
from worker_agent.tdd.proof.subject import ProofSubject, Rules
from worker_agent.tdd.runners.runner import Selection
from worker_agent.tdd.runners.test_run import CaseOutcome, TestResult, TestRun
from worker_agent.tdd.runners.test_run import FailureKind as Failure

FILE, CODE = "tests/test_page.py", "page.py"
BLIND, SEES = f"{FILE}::test_blind", f"{FILE}::test_sees"
HEAD = b"def page(number):\n    return [number]\n"
SEEN = Damage(CODE, 2, DamageKind.RET, b"", "`[number]` became `[]`")


def outcome(test: str, *, fails: bool) -> TestResult:
    if fails:
        return TestResult(test, FILE, CaseOutcome.FAILED, Failure.ASSERTION_OR_EXCEPTION, "")
    return TestResult(test, FILE, CaseOutcome.PASSED, None, "")


@pytest.mark.parametrize(
    ("expects", "crashed", "others_see", "fails_loudly", "old", "words"),
    [
        (True, True, False, False, b"", "only fails when the damaged code crashes"),
        (False, True, True, True, b"", ""),
        (True, False, True, True, b"", "beside tests that noticed some"),
        (True, False, True, False, b"", ""),
        (True, False, False, True, b"", ""),
        (False, False, False, False, b"def test_blind():\n    page(0)\n", "it stood on the base"),
    ],
    ids=["crashes", "expects nothing", "beside others", "never calls it", "alone", "of the base"],
)
async def test_a_blind_test_is_asked_about_where_honest_ones_look_alike(
    expects: bool, crashed: bool, others_see: bool, fails_loudly: bool, old: bytes, words: str
) -> None:
    async def run(tree: str, over: Overlay, selection: Selection | None, limit: float | None) -> TestRun:
        assert b"raise" in (over.files.get(CODE) or b""), "only the loud damage is tried"
        return TestRun({BLIND: outcome(BLIND, fails=fails_loudly), SEES: outcome(SEES, fails=True)})

    new = b"def test_blind():\n    assert page(0)\n\n\ndef test_sees():\n    assert page(1) == [1]\n"
    change = Change("base", "head", old={FILE: old} if old else {}, new={CODE: HEAD, FILE: new})
    subject = ProofSubject.of(change, run, Rules(), Specification(""))
    found = Noticed(by_unit={SEES: SEEN} if others_see else {}, crashed={BLIND} if crashed else set())
    proven = {BLIND: (BLIND,), SEES: (SEES,)} if others_see else {BLIND: (BLIND,), f"{FILE}::a": (), f"{FILE}::b": ()}
    asked = await of_blind(subject, proven, {BLIND} if expects else set(), TestRun(), found, Comparison())
    assert asked.keys() == ({BLIND} if words else set())
    assert words in asked.get(BLIND, "")


def _valid(name: str, cases: str, call: str = "page(number)") -> bytes:
    """Return a class with a test that expects only that nothing is raised."""
    mark = f"    @pytest.mark.parametrize('number', {cases})\n"
    return f"class {name}:\n{mark}    def test_valid(self, number):\n        {call}\n".encode()


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (_valid("TestPages", "[1, 2, 3]"), "it stood on the base"),
        (_valid("TestPages", "[1, 2, 3]", "page(number + 1)"), ""),
    ],
    ids=["more cases", "other steps"],
)
async def test_a_new_case_of_a_test_whose_class_has_another_name_is_asked_about(now: bytes, words: str) -> None:
    async def run(tree: str, over: Overlay, selection: Selection | None, limit: float | None) -> TestRun:
        raise AssertionError("nothing is left to run")

    before = _valid("TestPage", "[1, 2]")
    change = Change("base", "head", old={FILE: before}, new={CODE: HEAD, FILE: now})
    subject = ProofSubject.of(change, run, Rules(), Specification(""))
    unit, found = f"{FILE}::TestPages::test_valid", with_rewritten(compare({FILE: before}, {FILE: now}))
    asked = await of_blind(subject, {unit: (f"{unit}[3]",)}, set(), TestRun(), Noticed(), found)
    assert list(asked) == ([unit] if words else [])
    assert words in asked.get(unit, "")
