"""The choice of the next criterion, from the notes alone."""

from __future__ import annotations

import pytest

from shared.git.notes import CommitKind, Note
from shared.specification import Criterion
from worker_agent.tdd.phases.next_phase import is_split, of_id, pending, settled

AC = tuple(Criterion(f"AC{n}", f"text {n}") for n in (1, 2, 3))


def note(phase: CommitKind, criterion: str = "", *aside: str) -> Note:
    return Note(1, 1, phase, "", "0" * 40, current_test=criterion, set_aside=dict.fromkeys(aside, "why"))


@pytest.mark.parametrize(
    ("notes", "left"),
    [
        ([], ["AC1", "AC2", "AC3"]),
        ([note(CommitKind.RED, "AC1")], ["AC1", "AC2", "AC3"]),
        ([note(CommitKind.RED, "AC1"), note(CommitKind.GREEN, "AC1")], ["AC2", "AC3"]),
        ([note(CommitKind.GREEN, "AC1"), note(CommitKind.RED, "AC3", "AC2")], ["AC3"]),
        ([note(CommitKind.GREEN, "AC1", "AC2", "AC3")], []),
        ([note(CommitKind.GREEN, "AC1"), note(CommitKind.REFACTOR)], ["AC2", "AC3"]),
    ],
)
def test_a_criterion_is_settled_by_green_or_by_being_set_aside(notes: list[Note], left: list[str]) -> None:
    assert [one.id for one in pending(AC, notes)] == left
    assert settled(notes) == {one.id for one in AC} - set(left)


@pytest.mark.parametrize(
    ("mode", "count", "begun", "split"),
    [
        ("whole-spec", 3, False, False),
        ("per-criterion", 3, False, True),
        ("per-criterion", 1, False, False),
        ("whole-spec", 3, True, True),
    ],
)
def test_cycles_stay_as_they_were_begun(mode: str, count: int, begun: bool, split: bool) -> None:
    assert is_split(mode, AC[:count], begun=begun) is split


def test_a_criterion_that_the_text_has_no_more_is_none() -> None:
    assert of_id(AC, "AC2") is AC[1]
    assert of_id(AC, "AC9") is None
