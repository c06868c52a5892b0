"""Attempts and cost by the signed notes of the claimed commits, which no test run can repeat."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from shared.git.notes import Note
from shared.git.proof_claim import Claim
from worker_agent.verify.compare import Falsehood

CENT = 0.005
"""US dollars; a smaller difference is rounding."""


def contradicted(claim: Claim, notes: Collection[Note]) -> Iterator[Falsehood]:
    """Yield attempts that differ from those of the notes, and a cost below theirs; nothing if there are no notes."""
    if not notes:
        return
    attempts = max(note.attempts for note in notes)
    if claim.attempts != attempts:
        told = f"{claim.attempts} attempts are claimed; the notes of its commits say {attempts}."
        yield Falsehood("attempts", told)
    costs = [note.cost_usd for note in notes]
    known = sum(cost for cost in costs if cost is not None)
    if claim.cost_usd is not None and (None in costs or claim.cost_usd < known - CENT):
        said = "is unknown" if None in costs else f"is ${known:.2f}"
        yield Falsehood("cost", f"${claim.cost_usd:.2f} is claimed; by the notes of its commits it {said}.")
