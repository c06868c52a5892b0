"""The evidence for a pull request that the reviewer trusts: signed notes of its commits, and its signed claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pytest
from fakes.reviewer_world import HEAD, ISSUE, KEYS, OPENED
from fakes.unasked import UnaskedMirror

from reviewer_agent.review.evidence import OF_ANOTHER_COMMIT, UNREADABLE, UNSIGNED, Runs
from reviewer_agent.review.questions import ChangeKind, Question, Recorded
from shared.git.history import Commit
from shared.git.notes import ChangedTest, CommitKind, Note, ProofNote, write
from shared.git.proof_claim import Claim, ClaimedProof
from shared.text.comment_signatures import Key, Keyring
from worker_agent.tdd import claim_writing

GREEN = "5" * 40
OLD = "t.py::test_old"
PROOF = ProofNote(
    16,
    14,
    unnoticed=("`limit + 1` became `limit + 2` in `page.py:31`",),
    changed_tests=(ChangedTest(OLD, "its expectation changed", "-1\n+2"),),
    weak=("t.py::test_weak: it expects nothing",),
    unstable=("t.py::test_late",),
    remarks=("The time for damage was over.",),
    local_suite="changed",
)
CLAIM = Claim(ISSUE, "b" * 40, GREEN, proof=ClaimedProof(16, 14, 2, (OLD,), ("t.py::test_gone",)))


@dataclass
class Repository(UnaskedMirror):
    """Notes and history of one branch."""

    notes: Mapping[str, str] = field(default_factory=dict)

    async def refresh(self, ref: str) -> str | None:
        return "n" * 40 if self.notes else None

    async def log(self, ref: str, limit: int, *, without: str = "") -> list[Commit]:
        return [Commit(oid, (), datetime(2026, 1, 1, tzinfo=UTC), "") for oid in (HEAD, GREEN)]

    async def all(self, ref: str) -> Mapping[str, str]:
        return self.notes


def noted(proof: ProofNote | None) -> Repository:
    return Repository({GREEN: write(Note(ISSUE, 1, CommitKind.GREEN, "ci", "base", proof=proof), KEYS)})


async def recorded(repository: Repository, line: str = "", branch: str = OPENED.head_branch) -> Recorded:
    """Return the records that are found if the description ends with `line`."""
    pull = replace(OPENED, body=f"Closes #{ISSUE}\r\n\r\n{line}", head_branch=branch)
    return await Runs(repository, repository, KEYS).of(pull, "base")


async def test_the_proof_of_a_commit_is_told_and_its_old_tests_are_asked_about() -> None:
    found = await recorded(noted(PROOF))
    assert found.proof.splitlines() == [
        "Commit 555555555555:",
        "- the new tests noticed 14 of 16 damages to the changed code",
        "- no new test noticed: `limit + 1` became `limit + 2` in `page.py:31`",
        "- set aside, because it proves nothing: t.py::test_weak: it expects nothing",
        "- unstable, so it decides nothing: t.py::test_late",
        "- The time for damage was over.",
        "- only the tests concerned were run; the whole suite is left to CI",
    ]
    assert all(line in found.runs for line in found.proof.splitlines()[1:]), "the second pass is told as well"
    assert found.questions == (Question(ChangeKind.CHANGED, OLD, "its expectation changed", "-1\n+2"),)
    assert found.doubt == ""


async def test_a_signed_claim_is_enough_where_no_note_is_left() -> None:
    found = await recorded(Repository(), claim_writing.write(CLAIM, KEYS))
    assert found == Recorded(
        "",
        "noticed 14 of 16 damages",
        (Question(ChangeKind.CHANGED, OLD), Question(ChangeKind.REMOVED, "t.py::test_gone")),
    )


async def test_notes_and_claim_are_asked_about_once() -> None:
    found = await recorded(noted(PROOF), claim_writing.write(CLAIM, KEYS))
    assert [(one.kind, one.about) for one in found.questions] == [
        (ChangeKind.CHANGED, OLD),
        (ChangeKind.REMOVED, "t.py::test_gone"),
    ]


FORGED = claim_writing.write(replace(CLAIM, proof=ClaimedProof()), Keyring(99, (Key.of(b"m" * 32),)))


@pytest.mark.parametrize(
    ("line", "doubt"),
    [
        ("", ""),
        (claim_writing.write(replace(CLAIM, proof=None), KEYS), ""),
        (claim_writing.write(CLAIM, KEYS).replace(OLD, "t.py::test_new"), UNSIGNED),
        (FORGED, UNSIGNED),
        (claim_writing.write(replace(CLAIM, issue=ISSUE + 1), KEYS), UNSIGNED),
        (claim_writing.write(CLAIM, KEYS).replace('"head":', '"tail":'), UNREADABLE),
        (f"{claim_writing.write(CLAIM, KEYS)}\n{FORGED}", UNSIGNED),
    ],
    ids=["none", "of nothing", "edited", "another's", "of another issue", "unreadable", "the last one counts"],
)
async def test_a_claim_that_is_not_the_engines_own_is_doubted_and_not_read(line: str, doubt: str) -> None:
    assert await recorded(Repository(), line) == Recorded(doubt=doubt)
    with_notes = await recorded(noted(PROOF), line)
    assert with_notes.doubt == doubt
    assert [one.about for one in with_notes.questions] == [OLD], "a claim takes no question of the notes away"


@pytest.mark.parametrize(("repository", "doubt"), [(Repository(), OF_ANOTHER_COMMIT), (noted(PROOF), "")])
async def test_a_claim_about_another_commit_is_doubted_unless_the_notes_tell(
    repository: Repository, doubt: str
) -> None:
    line = claim_writing.write(replace(CLAIM, head="7" * 40), KEYS)
    found = await recorded(repository, line)
    assert found.doubt == doubt
    assert "t.py::test_gone" not in [one.about for one in found.questions]
    older = await recorded(repository, claim_writing.write(replace(CLAIM, head="7" * 40, proof=None), KEYS))
    assert older.doubt == "", "an older engine's claim says nothing of old tests"


async def test_of_a_persons_branch_no_claim_is_read() -> None:
    assert await recorded(noted(PROOF), claim_writing.write(CLAIM, KEYS), branch="patch-1") == Recorded()
