"""Evidence from a change's tests: the engine's own signed records of its runs, and the pull request's claim."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from reviewer_agent import links
from reviewer_agent.review.questions import Recorded, questions_of
from shared.git import proof_claim
from shared.git.names import notes_ref
from shared.git.notes import Note, ProofNote, read
from shared.git.ports import Mirror, Notes
from shared.git.proof_claim import Claim, ClaimedProof, NoClaim
from shared.models import PullRequest
from shared.text.comment_signatures import CommentSignatures, Keyring
from shared.text.markdown import heading, lines

TESTS = 100
"""Maximum number of tests that are named of one run."""

HISTORY = 200
"""Maximum number of the branch's commits that are searched for records."""

UNSIGNED = "the claim of its proof in the description was edited, or is not signed by this engine"
UNREADABLE = "the claim of its proof in the description cannot be read"
OF_ANOTHER_COMMIT = "the claim of its proof in the description is about a commit that is not in its history"
"""Objections to a claim."""


class Runs:
    """The recorded runs of one pull request; notes that others have written are no records."""

    def __init__(self, refs: Mirror, notes: Notes, keys: Keyring) -> None:
        self._refs = refs
        self._notes = notes
        self._keys = keys

    async def of(self, pull_request: PullRequest, base: str) -> Recorded:
        """Return the records of our own branch, oldest first; none of anybody else's branch."""
        issue = links.issue_of(pull_request)
        if issue is None:
            return Recorded()
        ref = notes_ref(issue)
        texts = await self._notes.all(ref) if await self._refs.refresh(ref) is not None else {}
        own = await self._refs.log(pull_request.head_sha, HISTORY, without=base)
        found = [(one.oid, read(texts[one.oid], self._keys)) for one in reversed(own) if one.oid in texts]
        notes = [(oid, note) for oid, note in found if note is not None and note.issue == issue]
        proofs = [note.proof for _, note in notes if note.proof is not None]
        claim, doubt = claimed(pull_request.body, issue, self._keys)
        if claim is not None and claim.proof is not None and claim.head not in {one.oid for one in own}:
            claim, doubt = None, "" if proofs else OF_ANOTHER_COMMIT
        proof = claim.proof if claim is not None else None
        return Recorded(
            phase_results(notes), damage_results(notes) or _damage_count(proof), questions_of(proofs, proof), doubt
        )


def claimed(body: str, issue: int, keys: Keyring) -> tuple[Claim | None, str]:
    """Return the claim in a body if it is the engine's own and of this issue, else None and the objection to it."""
    try:
        claim, signed = proof_claim.read(body, keys)
    except NoClaim:
        return None, UNREADABLE if proof_claim.is_there(body) else ""
    if signed is not CommentSignatures.VALID or claim.issue != issue:
        return None, UNSIGNED
    return claim, ""


def _damage_count(proof: ClaimedProof | None) -> str:
    return "" if proof is None or not proof.damages else f"noticed {proof.noticed} of {proof.damages} damages"


def phase_results(notes: Iterable[tuple[str, Note]]) -> str:
    """Return a text that lists each phase commit and the results of its tests."""
    return "\n\n".join("\n".join(_phase_lines(oid, note)) for oid, note in notes)


def damage_results(notes: Iterable[tuple[str, Note]]) -> str:
    """Return a text that lists each phase commit whose tests were tried against damage, and the results."""
    return "\n\n".join(
        "\n".join([f"Commit {oid[:12]}:", *_proof_lines(note.proof)]) for oid, note in notes if note.proof is not None
    )


def _phase_lines(oid: str, note: Note) -> Iterator[str]:
    yield f"Commit {oid[:12]}, phase {note.phase}, cycle {note.cycle}: {note.test_result or 'no result'}"
    named = [*dict.fromkeys([*note.new_tests, *note.red, *note.green])]
    for test in named[:TESTS]:
        yield f"- {test}: red {note.red.get(test, 'not run')}, green {note.green.get(test, 'not run')}"
    if len(named) > TESTS:
        yield f"- and {len(named) - TESTS} more"
    yield from (f"- no test for {criterion}: {why}" for criterion, why in note.set_aside.items())
    if note.proof is not None:
        yield from _proof_lines(note.proof)


def _proof_lines(proof: ProofNote) -> Iterator[str]:
    """Yield a line for each result; changes to old tests are asked about separately."""
    if proof.damages:
        yield f"- the new tests noticed {proof.noticed} of {proof.damages} damages to the changed code"
    yield from (f"- no new test noticed: {one}" for one in proof.unnoticed)
    yield from (f"- set aside, because it proves nothing: {one}" for one in proof.weak)
    yield from (f"- unstable, so it decides nothing: {one}" for one in proof.unstable)
    yield from (f"- {one}" for one in proof.remarks)
    if proof.local_suite == "changed":
        yield "- only the tests concerned were run; the whole suite is left to CI"


def stated(body: str) -> str:
    """Return the section `Tests` of a pull request's body, `Evidence` in older engines'; empty if there is none."""
    found: list[str] = []
    inside = False
    for line in lines(body.replace("\r\n", "\n")):
        title = heading(line)
        if title is not None and title[0] <= 2:
            inside = title[1].casefold() in {"tests", "evidence"}
        elif inside:
            found.append(line.text)
    return "\n".join(found).strip()
