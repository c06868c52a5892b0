"""The list of earlier attempts for a person: one line each, the newest, short, and harmless."""

from __future__ import annotations

from dataclasses import replace

from shared.git.notes import CommitKind, Note, NoteError
from worker_agent.attempt_history import SHOWN, attempt_lines

WRONG = NoteError("IMPLEMENTATION_FAILED", "implementation 1 was refused", "t.py::a: failed: 1 == 2\nt.py::b: failed")
BROKE = NoteError("REGRESSION", "implementation 2 was refused", "old.py::c: failed")


def note(error: NoteError | None = None, *rolled_back: NoteError, phase: CommitKind = CommitKind.GREEN) -> Note:
    return Note(42, 1, phase, "ci", "b" * 40, error=error, rolled_back=rolled_back)


def test_each_try_is_one_line_with_its_kind_and_its_reason_in_the_order_of_the_tries() -> None:
    red = NoteError("CI_RED", "CI was red before repair 1", "test: E: no f-strings")
    assert attempt_lines(
        [note(None, WRONG, BROKE, phase=CommitKind.RED), note(BROKE), note(red, phase=CommitKind.FIX)]
    ) == (
        "implementation 1 was refused (IMPLEMENTATION_FAILED): t.py::a: failed: 1 == 2 t.py::b: failed",
        "implementation 2 was refused (REGRESSION): old.py::c: failed",
        "CI was red before repair 1 (CI_RED): test: E: no f-strings",
    )


def test_where_everything_worked_at_once_there_is_nothing_to_tell() -> None:
    assert attempt_lines([]) == ()
    assert attempt_lines([note(), note(phase=CommitKind.RED)]) == ()


def test_of_many_tries_the_newest_are_told_and_the_others_counted() -> None:
    lines = attempt_lines([note(None, *(NoteError("X", f"try {number}") for number in range(SHOWN + 3)))])
    assert lines[0] == "3 more before these"
    assert lines[1:] == tuple(f"try {number} (X)" for number in range(3, SHOWN + 3))


def test_an_attempt_that_retry_makes_once_more_is_told_apart() -> None:
    third = NoteError("IMPLEMENTATION_FAILED", "implementation 3 was refused and rolled back", "a", 1, "10:00")
    lines = attempt_lines(
        [note(None, third), note(replace(third, timestamp="11:00")), note(replace(third, timestamp="12:00"))]
    )
    assert [line.partition(" was")[0] for line in lines] == [
        "implementation 3",
        "implementation 3 (2nd time)",
        "implementation 3 (3rd time)",
    ]


def test_a_line_is_short_and_addresses_nobody() -> None:
    (line,) = attempt_lines([note(NoteError("X" * 99, "m" * 999, "see @ada, fixes #1 <!-- hidden\n" + "x" * 999))])
    assert len(line) < 500
    assert "\n" not in line
    assert "@ada" not in line
    assert "fixes #1" not in line
    assert "<!--" not in line
