"""Comments in the threads of one repository, ordered by id."""

from __future__ import annotations

from dataclasses import dataclass

from lab.github.http.refusals import invalid, not_found
from lab.github.world.issues import Issues, check_body
from lab.github.world.records import Numbering, VersionedRecords


@dataclass(frozen=True, slots=True)
class CommentRecord:
    """One comment in the thread of `number`; times are epoch seconds."""

    id: int
    number: int
    author: str
    body: str
    created_at: int
    updated_at: int


REACTIONS = ("+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")
"""Reactions to a comment that GitHub knows."""


@dataclass(frozen=True, slots=True)
class ReactionRecord:
    """One reaction of a person to a comment; `content` is one of `REACTIONS`."""

    id: int
    comment_id: int
    author: str
    content: str
    at: int


class Comments:
    """Every comment of one repository, and the reactions to them."""

    def __init__(self, registrar: Numbering, issues: Issues) -> None:
        self._registrar, self._issues = registrar, issues
        self.records: VersionedRecords[int, CommentRecord] = VersionedRecords(registrar)
        self.reactions: list[ReactionRecord] = []

    def require(self, comment_id: int) -> CommentRecord:
        """The comment, or 404."""
        found = self.records.get(comment_id)
        if found is None or found.number in self._issues.deleted:
            raise not_found()
        return found

    def of(self, number: int) -> list[CommentRecord]:
        """The comments of one thread."""
        return [record for record in self.records.values() if record.number == number]

    def add(self, number: int, author: str, body: str) -> CommentRecord:
        """Append a comment to a thread."""
        _check_text(body)
        count, now = self._issues.require(number).comments, self._registrar.now()
        record = CommentRecord(self._registrar.new_id(), number, author, body, now, now)
        self._issues.records.change(number, comments=count + 1, updated_at=now)
        return self.records.put(record.id, record)

    def edit(self, comment_id: int, body: str) -> CommentRecord:
        """Replace the body; the thread counts as updated."""
        _check_text(body)
        record = self.require(comment_id)
        self._issues.touch(record.number)
        return self.records.change(comment_id, body=body, updated_at=self._registrar.now())

    def react(self, comment_id: int, author: str, content: str) -> tuple[ReactionRecord, bool]:
        """The person's reaction of that kind, and whether it is new."""
        self.require(comment_id)
        if content not in REACTIONS:
            raise invalid("Reaction", "content")
        for reaction in self.reactions:
            if (reaction.comment_id, reaction.author, reaction.content) == (comment_id, author, content):
                return reaction, False
        now = self._registrar.now()
        self.reactions.append(ReactionRecord(self._registrar.new_id(), comment_id, author, content, now))
        return self.reactions[-1], True

    def reactions_to(self, comment_id: int) -> list[str]:
        """The kinds of all reactions to a comment."""
        return [reaction.content for reaction in self.reactions if reaction.comment_id == comment_id]

    def delete(self, comment_id: int) -> None:
        """Take a comment away; the thread counts as updated."""
        record = self.require(comment_id)
        count = self._issues.require(record.number).comments
        self._issues.records.change(record.number, comments=count - 1, updated_at=self._registrar.now())
        self.records.remove(comment_id)


def _check_text(body: str) -> None:
    if not body.strip():
        raise invalid("IssueComment", "body", "missing_field")
    check_body("IssueComment", body)
