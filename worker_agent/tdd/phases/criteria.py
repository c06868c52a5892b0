"""Which acceptance criteria still want a cycle, and which one a phase commit was about (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shared.git.notes import Note, Phase
from shared.specification import Criterion

PER_CRITERION = "per-criterion"


def settled(notes: Iterable[Note]) -> frozenset[str]:
    """The ids of the criteria that are green or set aside."""
    notes = tuple(notes)
    green = {note.current_test for note in notes if note.phase is Phase.GREEN and note.current_test}
    return frozenset(green).union(*(note.set_aside for note in notes))


def pending(criteria: Sequence[Criterion], notes: Iterable[Note]) -> tuple[Criterion, ...]:
    """The criteria that still want a cycle of their own, in the order of the specification."""
    done = settled(notes)
    return tuple(criterion for criterion in criteria if criterion.id not in done)


def is_split(mode: str, criteria: Sequence[Criterion], *, begun: bool) -> bool:
    """Whether cycles are about one criterion each: asked for, or `begun` that way when the configuration was other."""
    return begun or (mode == PER_CRITERION and len(criteria) > 1)


def of_id(criteria: Sequence[Criterion], id: str) -> Criterion | None:
    """The criterion with this id; None when there is none."""
    return next((criterion for criterion in criteria if criterion.id == id), None)
