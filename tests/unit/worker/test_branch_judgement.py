"""Limits of a merge of the base: no test that passed on either side may fail, and no line of a conflict may stay."""

from __future__ import annotations

import pytest
from tdd_runs import BUG, KEPT, N1, N2, NEW, OLD, ran, stopped

from shared.git.merging import Conflict
from worker_agent.branch.sync import described, newly_failing, unresolved
from worker_agent.tdd.runners.test_run import TestRun

THEIRS = "tests/test_theirs.py::test_theirs"
MARKED = b"a\n<<<<<<< ours\nb\n=======\nc\n>>>>>>> theirs\n"


@pytest.mark.parametrize(
    ("ours", "base", "merged", "expected"),
    [
        (ran(KEPT, N1), ran(KEPT, THEIRS), ran(KEPT, N1, THEIRS), []),
        (ran(KEPT, N1), ran(KEPT), ran(KEPT, (N1, BUG)), [N1]),
        (ran(KEPT, N1), ran(KEPT), ran(KEPT), [N1]),
        (ran(KEPT), ran(KEPT, THEIRS), ran(KEPT), [THEIRS]),
        (ran(KEPT), ran(KEPT, THEIRS), ran(KEPT, (THEIRS, BUG)), [THEIRS]),
        (ran(KEPT, N1), ran((KEPT, BUG)), ran((KEPT, BUG), N1), []),  # the base itself has broken it
        (ran(KEPT, N1), ran(), ran(N1), []),  # the base has taken it out
        (ran(KEPT, (N2, BUG)), ran(KEPT), ran(KEPT, (N2, BUG)), []),  # never passed
    ],
    ids=["kept", "ours fails", "ours is gone", "theirs is gone", "theirs fails", "red base", "removed", "red before"],
)
def test_a_merge_keeps_what_passed_on_either_side(
    ours: TestRun, base: TestRun, merged: TestRun, expected: list[str]
) -> None:
    told = newly_failing(ours, base, merged, {NEW})
    assert [line.partition(": ")[0] for line in told] == expected


def test_a_test_of_a_file_that_the_branch_changed_is_its_own() -> None:
    assert newly_failing(ran(KEPT), ran(), ran(), {OLD}) == (f"{KEPT}: did not run",)
    assert newly_failing(ran(KEPT), ran(), ran(), set()) == ()


def test_a_run_that_did_not_finish_proves_nothing() -> None:
    assert newly_failing(ran(KEPT), ran(KEPT), stopped(ran(KEPT)), set()) != ()


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        ({"a.py": MARKED}, {"a.py": b"a\nb\nc\n"}, []),
        ({"a.py": MARKED}, {}, []),
        ({"a.py": MARKED}, {"a.py": MARKED}, ["a.py"]),
        ({"a.py": MARKED}, {"a.py": b"a\n>>>>>>> theirs\n"}, ["a.py"]),
        ({"a.py": MARKED}, {"a.py": b"b\n", "b.py": MARKED}, ["b.py"]),
        ({"a.py": MARKED, "git.md": MARKED}, {"a.py": b"b\n", "git.md": MARKED}, []),
        ({"a.py": MARKED}, {"a.py": b"Title\n=======\n"}, []),
    ],
    ids=["resolved", "deleted", "untouched", "half", "moved elsewhere", "a text about git", "a heading"],
)
def test_no_line_of_a_conflict_is_left(before: dict[str, bytes], after: dict[str, bytes], left: list[str]) -> None:
    conflicts = (Conflict("a.py", "UU"),)
    assert [line.partition(":")[0] for line in unresolved(conflicts, before, after)] == left


def test_each_kind_of_conflict_can_be_told() -> None:
    kinds = ("UU", "AA", "DD", "AU", "UA", "DU", "UD")
    told = [*described([Conflict("a.py", kind) for kind in kinds])]
    assert len(set(told)) == len(kinds)
    assert all(line.startswith("a.py (") for line in told)
