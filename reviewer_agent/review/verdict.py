"""The reviewer's verdict on one commit, as it stands in the hidden mark of its review (pure).

A later process, on any machine, knows from the mark alone what was decided about which commit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from shared.models import Issue, Review, ReviewState
from shared.specification import body_sha256
from shared.text import comment_signatures
from shared.text.comment_signatures import CommentSignatures, Keyring

MARK = "engine-review"
PURPOSE = "review"

BLOCKERS = 3
"""Maximum number of sentences in a mark."""


class Judgement(StrEnum):
    """Result of a review of a commit. INCOMPLETE: nothing wrong was seen, but not all of it was seen."""

    APPROVED = "approved"
    CHANGES_REQUESTED = "changes-requested"
    INCOMPLETE = "incomplete"


class PersonOnly(StrEnum):
    """Reason why only a person may merge a change that was approved."""

    NONE = "none"
    BREAKING = "breaking"
    PROTECTED = "protected"
    UNSIGNED = "unsigned"
    """The claim of its proof is not the engine's."""
    UNASKED = "unasked"
    """No criterion asks for what was done to old tests, or for what no test decides."""
    DISPUTED = "disputed"
    """A later round objects to what an earlier one had let pass."""


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """One review of ours: the commit that it judged, its round (from 0), and the time when it was submitted."""

    sha: str
    round: int
    judgement: Judgement
    care: PersonOnly
    review_id: int
    at: datetime
    onto: str = ""
    """The branch that it was to be merged into, as `branch_key` writes it: for another branch it is another change."""
    lines: int | None = 0
    """Number of lines that the change adds and removes; None if an older engine has not counted them."""
    blockers: tuple[str, ...] = ()
    """Sentences on what speaks against merging it without a person."""
    text: str = ""
    """The issue's text that it was made of, as `text_key` writes it; empty if that is not known."""

    def knows(self, issue: Issue) -> bool:
        """Return whether it was made of the issue's text as that is now; True if its text is not known."""
        return self.text in {"", text_key(issue)}


def branch_key(branch: str) -> str:
    """Return a branch's name as a word that fits into a mark."""
    return hashlib.sha256(branch.encode()).hexdigest()[:12]


def text_key(issue: Issue) -> str:
    """Return a specification's text as a word that fits into a mark; a tick in a box changes nothing."""
    return body_sha256(issue.title, issue.body)[:12]


@dataclass(frozen=True, slots=True)
class Reader:
    """Reader that tells the engine's reviews of one repository from everybody else's."""

    keys: Keyring
    accounts: Collection[int]

    def read(self, number: int, review: Review) -> ReviewVerdict | None:
        """Return the verdict in a review of pull request `number`; None if it is not ours or not authentic."""
        return _read_verdict(review) if review.author.id in self.accounts and self._has_mark(number, review) else None

    def newest(self, number: int, reviews: Iterable[Review], sha: str, onto: str) -> ReviewVerdict | None:
        """Return our newest verdict on merging `sha` into the branch `onto`; a dismissed one no longer counts."""
        standing = (review for review in reviews if review.state is not ReviewState.DISMISSED)
        found = [verdict for review in standing if (verdict := self.read(number, review)) is not None]
        fitting = (one for one in reversed(found) if (one.sha, one.onto) == (sha, branch_key(onto)))
        return next(fitting, None)

    def last(self, number: int, reviews: Iterable[Review], but: str) -> ReviewVerdict | None:
        """Return our newest verdict on any other commit than `but`, even a dismissed one: that commit was seen."""
        found = [verdict for review in reviews if (verdict := self.read(number, review)) is not None]
        return next((verdict for verdict in reversed(found) if verdict.sha != but), None)

    def by_people(self, number: int, reviews: Iterable[Review]) -> tuple[Review, ...]:
        """Return the reviews that no engine wrote, whichever account submitted them."""
        return tuple(review for review in reviews if not self._has_mark(number, review))

    def _has_mark(self, number: int, review: Review) -> bool:
        line = _first_line(review)
        mark = comment_signatures.find(line)
        if mark is None or mark.name != MARK:
            return False
        return self.keys.verify(PURPOSE, number, line) is CommentSignatures.VALID


def mark(keys: Keyring, number: int, verdict: ReviewVerdict) -> str:
    """Return the first line of a review's body.

    Its MAC covers this line alone: GitHub's adapter adds findings to a body when their lines are refused.
    """
    fields = {
        "sha": verdict.sha,
        "onto": verdict.onto,
        "round": str(verdict.round),
        "verdict": verdict.judgement,
        "care": verdict.care,
        "lines": "" if verdict.lines is None else str(verdict.lines),
        "blockers": comment_signatures.spelled(_first_sentences(verdict.blockers)),
        "text": verdict.text,
    }
    return keys.sign(PURPOSE, number, comment_signatures.render(MARK, fields))


def creation_name(sha: str) -> str:
    """Return the name by which the fence knows the review of a commit while it is made."""
    return f"review-{sha[:12]}"


def _first_sentences(sentences: Sequence[str]) -> list[str]:
    """Return the first `BLOCKERS` sentences, and how many more there are."""
    shown = list(sentences[:BLOCKERS])
    return [*shown, f"and {len(sentences) - BLOCKERS} more"] if len(sentences) > BLOCKERS else shown


def _blockers(text: str) -> tuple[str, ...]:
    """Return the sentences that `_first_sentences` wrote; raises `ValueError`."""
    found = json.loads(text)
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise ValueError("no list of sentences")
    return tuple(found)


def standing_requests(reviews: Sequence[Review]) -> tuple[Review, ...]:
    """Return the newest verdict of each author, if it is a request for changes; comments are no verdicts."""
    return tuple(review for review in _verdicts(reviews) if review.state is ReviewState.CHANGES_REQUESTED)


def standing_approvals(reviews: Sequence[Review]) -> tuple[Review, ...]:
    """Return the newest verdict of each author, if it is an approval."""
    return tuple(review for review in _verdicts(reviews) if review.state is ReviewState.APPROVED)


def _verdicts(reviews: Sequence[Review]) -> Collection[Review]:
    silent = {ReviewState.COMMENTED, ReviewState.PENDING}
    return {review.author.id: review for review in reviews if review.state not in silent}.values()


def _read_verdict(review: Review) -> ReviewVerdict | None:
    mark = comment_signatures.find(_first_line(review))
    if mark is None or mark.fields.get("sha") != review.head_sha:
        return None
    try:
        return ReviewVerdict(
            sha=review.head_sha,
            round=int(mark.fields["round"]),
            judgement=Judgement(mark.fields["verdict"]),
            care=PersonOnly(mark.fields["care"]),
            review_id=review.id,
            at=review.submitted_at,
            onto=mark.fields.get("onto", ""),
            blockers=_blockers(mark.fields.get("blockers", "[]")),
            text=mark.fields.get("text", ""),
            lines=int(counted) if (counted := mark.fields.get("lines", "")) else None,
        )
    except (KeyError, ValueError):
        return None


def _first_line(review: Review) -> str:
    return review.body.partition("\n")[0].rstrip("\r")
