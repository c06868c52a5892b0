"""The proofs of all cycles as one, and the part of it that a claim has for programs (pure)."""

from __future__ import annotations

from collections.abc import Sequence

from shared.git.notes import ChangedTest, ProofNote
from shared.git.proof_claim import ClaimedProof


def together(proofs: Sequence[ProofNote]) -> ProofNote | None:
    """Return the proofs of all cycles as one, each entry once."""
    if not proofs:
        return None
    lists = ("unnoticed", "removed_tests", "weak", "unstable", "pinned", "doubts", "remarks")
    texts = {name: tuple(dict.fromkeys(text for one in proofs for text in getattr(one, name))) for name in lists}
    changed: dict[ChangedTest, None] = dict.fromkeys(test for one in proofs for test in one.changed_tests)
    return ProofNote(
        damages=sum(one.damages for one in proofs),
        noticed=sum(one.noticed for one in proofs),
        changed_tests=tuple(changed),
        suite_runs=sum(one.suite_runs for one in proofs),
        local_suite="changed" if any(one.local_suite == "changed" for one in proofs) else "full",
        **texts,
    )


def claimed(tried: ProofNote) -> ClaimedProof:
    """Return counts and names, without differences."""
    return ClaimedProof(
        damages=tried.damages,
        noticed=tried.noticed,
        unnoticed=tried.damages - tried.noticed,
        changed_tests=tuple(dict.fromkeys(test.test for test in tried.changed_tests)),
        removed_tests=tried.removed_tests,
        pinned=tried.pinned,
        doubts=tried.doubts,
    )
