"""The proofs of several cycles, put together for the pull request and for its claim."""

from __future__ import annotations

from shared.git.notes import ChangedTest, ProofNote
from shared.git.proof_claim import ClaimedProof
from worker_agent.tdd.claim_writing import claimed, together

FIRST = ProofNote(
    damages=4,
    noticed=3,
    unnoticed=("`a` became `b` in `c.py:1`",),
    changed_tests=(ChangedTest("t.py::test_x", "it changed", "+1"),),
    pinned=("setup.cfg",),
    suite_runs=2,
)
SECOND = ProofNote(
    damages=2,
    noticed=2,
    changed_tests=(ChangedTest("t.py::test_x", "it changed", "+2"), ChangedTest("t.py::test_y", "it changed")),
    removed_tests=("t.py::test_gone",),
    pinned=("setup.cfg",),
    suite_runs=1,
    local_suite="changed",
)


def test_nothing_proved_is_nothing() -> None:
    assert together([]) is None
    assert together([FIRST]) == FIRST


def test_counts_are_added_and_each_entry_stands_once() -> None:
    whole = together([FIRST, SECOND])
    assert whole is not None
    assert (whole.damages, whole.noticed, whole.suite_runs, whole.local_suite) == (6, 5, 3, "changed")
    assert whole.changed_tests == (*FIRST.changed_tests, *SECOND.changed_tests), "each difference is shown"
    assert (whole.pinned, whole.unnoticed) == (("setup.cfg",), FIRST.unnoticed)
    names = ("t.py::test_x", "t.py::test_y")
    assert claimed(whole) == ClaimedProof(6, 5, 1, names, ("t.py::test_gone",), ("setup.cfg",))
