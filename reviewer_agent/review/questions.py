"""Questions of a review: whether a criterion asks for each change of an old test and each doubt; the answers (pure).

A question without an answer, or with one that names no criterion of the specification, counts as no.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reviewer_agent.review.answer import ExpectationAnswer, FindingAnswer
from shared.git.notes import ProofNote
from shared.git.proof_claim import ClaimedProof
from shared.text import neutralise, one_line, redact

NAME_CHARS = 200
"""Characters of a test's name in a sentence."""

_REST = re.compile(r"\.\.\. and ([0-9]{1,6}) more")
"""The entry that counts what a list leaves out."""


class ChangeKind(StrEnum):
    """Kind of change that a criterion has to ask for."""

    CHANGED = "changed expectation"
    REMOVED = "removed test"
    PINNED = "changed file that steers the test run"
    DOUBT = "doubt"


_AS_IT_WAS = "Leave it as it was, or let a criterion of the specification ask for the change."
_WISHES = dict.fromkeys(ChangeKind, _AS_IT_WAS) | {
    ChangeKind.DOUBT: "Test what it does, or take it out, or let a criterion of the specification ask for exactly this."
}


@dataclass(frozen=True, slots=True)
class Question:
    """The question whether a criterion asks for this. `about` is the test or the file, `what` was seen of it."""

    kind: ChangeKind
    about: str
    what: str = ""
    diff: str = ""

    @property
    def is_rest(self) -> bool:
        """True if it only counts entries that are not listed: nobody can answer that."""
        return _REST.fullmatch(self.about) is not None

    @property
    def name(self) -> str:
        """`about` as a code span that nothing in it can leave."""
        return f"`{neutralise(one_line(redact(self.about, ()), NAME_CHARS)).replace('`', chr(39))}`"

    @property
    def unasked(self) -> str:
        """The sentence that is posted if the answer is no."""
        subject = {
            ChangeKind.CHANGED: f"a changed expectation of {self.name}",
            ChangeKind.REMOVED: f"the removed test {self.name}",
            ChangeKind.PINNED: f"the change of {self.name}, which steers the test run,",
            ChangeKind.DOUBT: f"what no test decides ({self.name})",
        }[self.kind]
        return f"{subject} has no criterion that asks for it"


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with what the review says; `criterion` is empty when none asks for it."""

    question: Question
    criterion: str = ""
    why: str = ""

    @property
    def finding(self) -> FindingAnswer:
        """The finding that tells the author what to do about a no."""
        path = re.split(r"::|: ", self.question.about, maxsplit=1)[0]
        why = f"{self.question.unasked}{f': {self.why}' if self.why.strip() else ''}"
        return FindingAnswer(severity="major", path=path, line=None, why=why, suggestion=_WISHES[self.question.kind])


@dataclass(frozen=True, slots=True)
class Recorded:
    """The engine's own records of a pull request's tests, and the questions that they raise.

    `runs` tells of every phase commit, `proof` what was tried against its tests; `doubt` is the objection to the pull
    request's claim, empty if there is none.
    """

    runs: str = ""
    proof: str = ""
    questions: tuple[Question, ...] = ()
    doubt: str = ""


def questions_of(proofs: Sequence[ProofNote], claimed: ClaimedProof | None) -> tuple[Question, ...]:
    """Return all questions that the signed notes and the signed claim name, each once."""
    found = [question for proof in proofs for question in _questions_of_note(proof)]
    named = {(question.kind, question.about) for question in found}
    if claimed is not None:
        lists = {
            ChangeKind.CHANGED: claimed.changed_tests,
            ChangeKind.REMOVED: claimed.removed_tests,
            ChangeKind.PINNED: claimed.pinned,
            ChangeKind.DOUBT: claimed.doubts,
        }
        for kind, entries in lists.items():
            known = sum(one is kind for one, _ in named)
            found += [Question(kind, one) for one in _unlisted_entries(entries, known) if (kind, one) not in named]
    return tuple(dict.fromkeys(found))


def _questions_of_note(proof: ProofNote) -> Iterator[Question]:
    yield from (Question(ChangeKind.CHANGED, one.test, one.what, one.diff) for one in proof.changed_tests)
    yield from (Question(ChangeKind.REMOVED, text) for text in proof.removed_tests)
    yield from (Question(ChangeKind.PINNED, path) for path in proof.pinned)
    yield from (Question(ChangeKind.DOUBT, text) for text in proof.doubts)


def _unlisted_entries(entries: Sequence[str], known: int) -> Sequence[str]:
    """Return the claim's entries; its count of unlisted entries is no question if the notes name as many."""
    rest = _REST.fullmatch(entries[-1]) if entries else None
    return entries[:-1] if rest is not None and known >= len(entries) - 1 + int(rest[1]) else entries


def names(questions: Iterable[Question]) -> tuple[str, ...]:
    """Return the tests and files that an answer has to name."""
    return tuple(dict.fromkeys(question.about for question in questions if not question.is_rest))


def answered(
    questions: Sequence[Question], answers: Sequence[ExpectationAnswer], criteria: Collection[str]
) -> tuple[Answered, ...]:
    """Return each question with its answer."""
    return tuple(_answer_of(one, [a for a in answers if a.test == one.about], criteria) for one in questions)


def _answer_of(question: Question, answers: Sequence[ExpectationAnswer], criteria: Collection[str]) -> Answered:
    if question.is_rest or not answers:
        return Answered(question, why="the review does not say")
    no = next((one for one in answers if one.asked == "no" or one.criterion not in criteria), None)
    return Answered(question, answers[0].criterion, answers[0].why) if no is None else Answered(question, why=no.why)


def shown(questions: Sequence[Question]) -> str:
    """Return the questions as a prompt lists them."""
    return "\n\n".join("\n".join(_question_lines(question)) for question in questions)


def _question_lines(question: Question) -> Iterator[str]:
    if question.is_rest:
        yield f"{question.kind}: {question.about}, which are not listed here: a person looks at them"
        return
    yield f"{question.kind}: {question.about}"
    if question.what:
        yield f"  {question.what}"
    yield from (f"    {line}" for line in question.diff.splitlines())
