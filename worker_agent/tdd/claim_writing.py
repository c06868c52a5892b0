"""The writer of a claim, as far as it fits into the one hidden, signed line of a pull request (pure).

Also the proofs of all cycles as one, and the part of it that a claim has for programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

from shared.git.notes import ChangedTest, ProofNote
from shared.git.proof_claim import NAME, PURPOSE, VERSION, Claim, ClaimedProof
from shared.text import comment_signatures
from shared.text.comment_signatures import Keyring
from worker_agent.tdd.runners.test_run import TestId

LIMIT = 16_000
"""The most characters of the whole line; tests that do not fit are only counted, and identified by their digest."""

LIST_CHARS = 2_000
"""The most characters of each list of the proof."""

MORE = "... and "
"""The beginning of the entry that counts the entries a list leaves out."""


def write(claim: Claim, keys: Keyring) -> str:
    """Return the line; at most `LIMIT` characters, however long the tests' names are."""
    claim = replace(claim, proof=None if claim.proof is None else _bound_lists(claim.proof), v=VERSION)
    left = LIMIT - len(_line(claim, {}, keys))
    kept: dict[TestId, str] = {}
    for test, red in claim.tests.items():
        left -= len(comment_signatures.spelled({test: red}))
        if left < 0:
            break
        kept[test] = red
    return _line(claim, kept, keys)


def _bound_lists(proof: ClaimedProof) -> ClaimedProof:
    return replace(
        proof,
        changed_tests=_fit(proof.changed_tests),
        removed_tests=_fit(proof.removed_tests),
        pinned=_fit(proof.pinned),
        doubts=_fit(proof.doubts),
    )


def _fit(entries: Sequence[str]) -> tuple[str, ...]:
    """Return the first entries, as many as fit, and an entry that counts the others."""
    left = LIST_CHARS
    for count, entry in enumerate(entries):
        left -= len(comment_signatures.spelled([entry]))
        if left < 0:
            return (*entries[:count], f"{MORE}{len(entries) - count} more")
    return tuple(entries)


def _line(claim: Claim, tests: Mapping[str, str], keys: Keyring) -> str:
    content = comment_signatures.spelled(asdict(claim) | {"tests": dict(tests)})
    return keys.sign(PURPOSE, claim.issue, comment_signatures.render(NAME, {"data": content}, version=VERSION))


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
