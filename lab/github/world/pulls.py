"""Pull requests beyond their thread: branches, mergeability, reviews and inline comments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.github.http.refusals import not_found
from lab.github.world.issues import IssueRecord, Issues
from lab.github.world.records import Numbering, Staleness, VersionedRecords

DISMISSIBLE = frozenset({"APPROVED", "CHANGES_REQUESTED"})
"""States of a review that can be dismissed."""

VERDICTS = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
"""From the `event` of a review to its state."""


@dataclass(frozen=True, slots=True)
class PullRecord:
    """Data of a pull request beyond its issue of the same number.

    `mergeable` is None until it was computed; `asked` tells that somebody has looked since it
    became unknown, which is what makes GitHub compute it. `pushed_by` moved its head last, empty where that
    was before it was opened; `queued_at` is when it was put into the merge queue. `test_merge_sha` is the merge
    that GitHub has tried, while the pull request is not merged: it is of an older head or base until it is tried again.
    """

    number: int
    id: int
    head_branch: str
    head_sha: str
    base_branch: str
    base_sha: str
    draft: bool = False
    mergeable: bool | None = None
    asked: bool = False
    merged_at: int | None = None
    merged_by: str | None = None
    merge_sha: str | None = None
    test_merge_sha: str | None = None
    requested: tuple[str, ...] = ()
    pushed_by: str = ""
    queued_at: int | None = None
    fork: str = ""
    """`owner/repo` that the head branch is in; empty for the repository's own."""


@dataclass(frozen=True, slots=True)
class ReviewRecord:
    """One submitted review."""

    id: int
    number: int
    author: str
    state: str
    body: str
    commit_id: str
    submitted_at: int
    hidden: str = ""
    """GitHub's word for the reason why it is hidden; empty when it is shown."""


@dataclass(frozen=True, slots=True)
class DiffPlace:
    """Place of an inline comment in a diff; `text` is the line's own text."""

    path: str
    line: int
    side: str
    hunk: str
    text: str
    position: int
    start_line: int | None = None


@dataclass(frozen=True, slots=True)
class InlineRecord:
    """One inline comment; `line` is None when the diff has moved away from it, or it is on the whole file."""

    id: int
    number: int
    review_id: int
    author: str
    body: str
    place: DiffPlace
    line: int | None
    commit_id: str
    original_commit_id: str
    created_at: int
    updated_at: int
    in_reply_to: int | None = None
    on_file: bool = False
    resolved: bool = False


class Pulls:
    """Every pull request of one repository."""

    def __init__(self, registrar: Numbering, issues: Issues) -> None:
        self._registrar, self._issues = registrar, issues
        self.records: VersionedRecords[int, PullRecord] = VersionedRecords(registrar)
        self.reviews: VersionedRecords[int, ReviewRecord] = VersionedRecords(registrar)
        self.inline: VersionedRecords[int, InlineRecord] = VersionedRecords(registrar)

    def require(self, number: int) -> PullRecord:
        """The pull request, or 404."""
        found = self.records.get(number)
        if found is None:
            raise not_found()
        return found

    def thread(self, number: int) -> IssueRecord:
        """The issue that is the pull request's thread."""
        return self._issues.require(number)

    def open(
        self, thread: IssueRecord, head: tuple[str, str], base: tuple[str, str], *, draft: bool, fork: str = ""
    ) -> PullRecord:
        """A pull request on an issue made for it; `head` and `base` are (branch, sha), the head maybe a fork's."""
        record = PullRecord(thread.number, self._registrar.new_id(), *head, *base, draft=draft, fork=fork)
        return self.records.put(record.number, record)

    def mark(self, number: int, actor: str, *, draft: bool) -> PullRecord:
        """A draft is ready for review, or the other way round."""
        self._issues.record(number, "convert_to_draft" if draft else "ready_for_review", actor)
        self._issues.touch(number)
        return self.records.change(number, draft=draft)

    def opened_from(self, branch: str) -> list[PullRecord]:
        """The open pull requests whose head is `branch` of this repository; a fork's of that name is another one."""
        own = [p for p in self.records.values() if p.head_branch == branch and not p.fork]
        return [p for p in own if self.thread(p.number).open]

    def opened_onto(self, branch: str) -> list[PullRecord]:
        """The open pull requests whose base is `branch`."""
        return [p for p in self.records.values() if p.base_branch == branch and self.thread(p.number).open]

    def move_head(self, number: int, sha: str, base_sha: str, pusher: str = "") -> PullRecord:
        """The head branch points elsewhere now; mergeability is unknown again, and it leaves the merge queue."""
        self._issues.touch(number)
        moved = {"head_sha": sha, "base_sha": base_sha, "pushed_by": pusher, "queued_at": None}
        return self.records.change(number, mergeable=None, asked=False, **moved)

    def forget_mergeable(self, number: int) -> PullRecord:
        """The base branch moved: mergeability is unknown again."""
        return self.records.change(number, mergeable=None, asked=False)

    def merge(self, number: int, actor: str, sha: str) -> PullRecord:
        """Merged as `sha`: events, then closed."""
        self._issues.record(number, "merged", actor, {"commit_id": sha})
        self._issues.close(number, actor)
        now = self._registrar.now()
        return self.records.change(number, merged_at=now, merged_by=actor, merge_sha=sha, mergeable=None, asked=True)

    def request(self, number: int, logins: Sequence[str], actor: str) -> PullRecord:
        """Ask people for a review."""
        pull = self.require(number)
        new = [login for login in logins if login not in pull.requested]
        for login in new:
            self._issues.record(number, "review_requested", actor, {"reviewer": login})
        return self.records.change(number, requested=(*pull.requested, *new))

    def review(self, number: int, author: str, state: str, body: str, commit_id: str) -> ReviewRecord:
        """A review; its author is no longer asked for one."""
        record = ReviewRecord(self._registrar.new_id(), number, author, state, body, commit_id, self._registrar.now())
        left = tuple(login for login in self.require(number).requested if login != author)
        self.records.change(number, requested=left)
        self._issues.touch(number)
        return self.reviews.put(record.id, record)

    def remark(self, review: ReviewRecord, place: DiffPlace, body: str, *, reply_to: int | None = None) -> InlineRecord:
        """An inline comment that belongs to `review`."""
        now = self._registrar.now()
        record = InlineRecord(
            id=self._registrar.new_id(),
            number=review.number,
            review_id=review.id,
            author=review.author,
            body=body,
            place=place,
            line=place.line,
            commit_id=review.commit_id,
            original_commit_id=review.commit_id,
            created_at=now,
            updated_at=now,
            in_reply_to=reply_to,
        )
        return self.inline.put(record.id, record)

    def dismiss(self, review: ReviewRecord, actor: str, message: str) -> ReviewRecord:
        """A verdict counts no longer."""
        detail = {"state": review.state.lower(), "review_id": str(review.id), "message": message}
        self._issues.record(review.number, "review_dismissed", actor, detail)
        self._issues.touch(review.number)
        return self.reviews.change(review.id, state="DISMISSED")

    def reviews_of(self, number: int, viewer: str | None = None, stale: Staleness | None = None) -> list[ReviewRecord]:
        """The reviews of a pull request, oldest first; pending ones only for `viewer`, who is writing them."""
        found = self.reviews.seen(stale, lambda review: review.number == number)
        return [review for review in found if review.state != "PENDING" or review.author == viewer]

    def inline_of(self, number: int, viewer: str | None = None) -> list[InlineRecord]:
        """The inline comments of the reviews that `viewer` sees, oldest first."""
        seen = {review.id for review in self.reviews_of(number, viewer)}
        return [comment for comment in self.inline.values() if comment.review_id in seen]
