"""The open remarks on a pull request: inline threads, texts of reviews, and the conversation (pure).

A text is identified by its id and its version, so that an edited text is a new one: nothing else is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from shared.commands.command import commands
from shared.models import Account, Comment, Review, ReviewComment, ReviewState
from shared.text import clean, comment_signatures
from shared.text.comment_signatures import CommentSignatures, Keyring

REVIEW_MARK = "<!-- engine-review/1 "
"""The beginning of the engine's own review; its `verdict` counts if GitHub allows no other state than a comment."""

REVIEW_PURPOSE = "review"
ASKS, APPROVES = "changes-requested", "approved"

Approvals = dict[tuple[int, bool], datetime]
"""Time of the last approval of an account, as a person or as the engine (True)."""

_ENGINES = re.compile(r"\s*(?:<!-- engine-|ACK:)")
"""The beginning of every comment by the engine. A match only keeps text out, so forging it gains nothing."""


@dataclass(frozen=True, slots=True)
class Remark:
    """One text of one account; `key` is `c` (inline comment), `r` (review) or `t` (conversation) and its id.

    `stamp` names the version: the time of writing or editing, and a digest, because an edit within the same second
    counts as well, and GitHub does not tell when a review was edited. `at` is the time since which everybody could read
    it.
    """

    key: str
    stamp: str
    author: Account
    at: datetime
    text: str
    ours: bool = False
    by_engine: bool = False

    @property
    def name(self) -> str:
        """The name of this version of this text, as an answer quotes it."""
        return f"{self.key}@{self.stamp}"


@dataclass(frozen=True, slots=True)
class Item:
    """One item to answer. `root` is the inline comment whose thread takes the answer; 0: the conversation does.

    `where` is its place in the change, `hunk` shows the lines that are not there any more.
    """

    remarks: tuple[Remark, ...]
    root: int = 0
    where: str = ""
    hunk: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The versions of the texts that an answer covers: all except the engine's own answers."""
        return tuple(one.name for one in self.remarks if not one.ours)


@dataclass(frozen=True, slots=True)
class Page:
    """The reviews and comments that GitHub shows of pull request `number`."""

    number: int
    reviews: tuple[Review, ...] = ()
    inline: tuple[ReviewComment, ...] = ()
    thread: tuple[Comment, ...] = ()

    def texts(self) -> Iterator[tuple[str, Account, str]]:
        """Yield key, author and body of every text that the engine did not write."""
        yield from ((f"r{one.id}", one.author, one.body) for one in self.reviews if one.body.strip())
        yield from ((f"c{one.id}", one.author, one.body) for one in self.inline if not _is_engines(one.body))
        yield from ((f"t{one.id}", one.author, one.body) for one in self.thread if _is_spoken(one))


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """The facts that decide what is open: account ids whose words count, and versions that have been answered."""

    trusted: Collection[int]
    answered: Collection[str]
    keys: Keyring


def stamp(at: datetime, text: str) -> str:
    """Return the version of a text."""
    digest = sha256(text.replace("\r\n", "\n").strip().encode("utf-8", "surrogatepass")).hexdigest()
    return f"{int(at.timestamp())}-{digest[:10]}"


def open_items(page: Page, known: AnswerRecord) -> tuple[Item, ...]:
    """Return everything that has no answer in its present version, the oldest first.

    An approval settles its author's earlier remarks; a dismissed review asks for nothing any more.
    """
    verdicts = {review.id: verdict(page.number, review, known.keys) for review in page.reviews}
    approvals: Approvals = {}
    for review in sorted(page.reviews, key=lambda one: one.submitted_at):
        if verdicts[review.id] == APPROVES:
            approvals[review.author.id, _is_marked(page.number, review, known.keys)] = review.submitted_at
    found = [*_bodies(page, known, verdicts), *_threads(page, known), *_conversation(page, known)]
    dated = [(since, item) for item in found if (since := _open_since(item, known, approvals)) is not None]
    return tuple(item for _, item in sorted(dated, key=lambda pair: pair[0]))


def verdict(number: int, review: Review, keys: Keyring) -> str:
    """Return a review's decision: `ASKS`, `APPROVES`, or empty; "dismissed" if a person took it back."""
    if review.state is ReviewState.DISMISSED:
        return "dismissed"
    if review.state is not ReviewState.COMMENTED:
        return ASKS if review.state is ReviewState.CHANGES_REQUESTED else APPROVES
    mark = comment_signatures.find(_first_line(review.body)) if _is_marked(number, review, keys) else None
    return "" if mark is None else mark.fields.get("verdict", "")


def _open_since(item: Item, known: AnswerRecord, approvals: Approvals) -> tuple[datetime, int] | None:
    """Return the time and id of the oldest unanswered text of an item; None if all are answered."""
    waiting = (
        (one.at, int(one.key[1:]))
        for one in item.remarks
        if not one.ours and one.name not in known.answered and not _is_settled(one, approvals)
    )
    return min(waiting, default=None)


def _is_settled(remark: Remark, approvals: Approvals) -> bool:
    approved = approvals.get((remark.author.id, remark.by_engine))
    return approved is not None and approved > remark.at


def _bodies(page: Page, known: AnswerRecord, verdicts: Mapping[int, str]) -> Iterator[Item]:
    """Yield the texts of reviews, except of approvals; an engine's review counts only if it asks for changes."""
    for review in page.reviews:
        engines = _is_marked(page.number, review, known.keys)
        asks = verdicts[review.id] == ASKS or (not engines and review.state is ReviewState.COMMENTED)
        if asks and review.author.id in known.trusted and clean(review.body).strip():
            at = stamp(review.submitted_at, review.body)
            yield Item(
                (Remark(f"r{review.id}", at, review.author, review.submitted_at, review.body, by_engine=engines),)
            )


def _threads(page: Page, known: AnswerRecord) -> Iterator[Item]:
    """Yield inline threads; of a thread whose first comment was deleted, the rest, which takes no replies."""
    reviews = {review.id: review for review in page.reviews}
    marked = {review.id for review in page.reviews if _is_marked(page.number, review, known.keys)}
    dismissed = {review.id for review in page.reviews if review.state is ReviewState.DISMISSED}
    threads: dict[int, list[ReviewComment]] = {}
    for comment in sorted(page.inline, key=lambda one: one.id):
        threads.setdefault(comment.in_reply_to or comment.id, []).append(comment)
    for root, comments in threads.items():
        heard = [one for one in comments if one.author.id in known.trusted and one.review_id not in dismissed]
        said = tuple(_inline(one, reviews.get(one.review_id or 0), one.review_id in marked) for one in heard)
        if any(not one.ours for one in said):
            first = comments[0]
            place = f":{first.line}" if first.line else ", on a line that is not there any more"
            hunk = "" if first.line else first.hunk
            yield Item(said, root if first.id == root else 0, f"{first.path}{place}", hunk)


def _inline(comment: ReviewComment, review: Review | None, by_engine: bool) -> Remark:
    """Return an inline comment as a remark, dated by its review: a draft is written before that is submitted."""
    at = comment.updated_at if review is None else max(comment.updated_at, review.submitted_at)
    version = stamp(comment.updated_at, comment.body)
    return Remark(f"c{comment.id}", version, comment.author, at, comment.body, _is_engines(comment.body), by_engine)


def _conversation(page: Page, known: AnswerRecord) -> Iterator[Item]:
    for comment in page.thread:
        if comment.author.id in known.trusted and _is_spoken(comment):
            at = stamp(comment.updated_at, comment.body)
            yield Item((Remark(f"t{comment.id}", at, comment.author, comment.updated_at, comment.body),))


def _is_spoken(comment: Comment) -> bool:
    """Return whether a comment of the conversation has text for people: not the engine's, and no command."""
    return not _is_engines(comment.body) and not commands([comment]) and bool(clean(comment.body).strip())


def _is_engines(body: str) -> bool:
    return _ENGINES.match(body) is not None


def _is_marked(number: int, review: Review, keys: Keyring) -> bool:
    """Return whether a review is the engine's own."""
    line = _first_line(review.body)
    return line.startswith(REVIEW_MARK) and keys.verify(REVIEW_PURPOSE, number, line) is CommentSignatures.VALID


def _first_line(body: str) -> str:
    return body.partition("\n")[0].rstrip("\r")
