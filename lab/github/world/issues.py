"""Issues (a pull request is one too), their labels, assignees, state and events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from lab.github.http.refusals import Moved, Refusal, custom, invalid, not_found
from lab.github.world.labels import LabelBook, LabelRecord
from lab.github.world.records import Numbering, Staleness, VersionedRecords

MAX_TITLE = 256
"""Characters that a title may have."""

MAX_BODY = 65536
"""Characters that a body or comment may have."""

MOST_LABELS = 100
"""Labels that an issue or a pull request may have."""


@dataclass(frozen=True, slots=True)
class IssueRecord:
    """One issue or pull request thread; people are named by login, times are epoch seconds."""

    number: int
    id: int
    title: str
    body: str | None
    author: str
    created_at: int
    updated_at: int
    labels: tuple[str, ...] = ()
    assignees: tuple[str, ...] = ()
    open: bool = True
    state_reason: str | None = None
    closed_at: int | None = None
    closed_by: str | None = None
    locked: bool = False
    comments: int = 0
    is_pull: bool = False


@dataclass(frozen=True, slots=True)
class EventRecord:
    """Something that happened in a thread; `detail` holds what the kind of event needs."""

    id: int
    number: int
    event: str
    actor: str
    at: int
    detail: dict[str, str] = field(default_factory=dict)


class Issues:
    """Every thread of one repository."""

    def __init__(self, registrar: Numbering, labels: LabelBook) -> None:
        self._registrar = registrar
        self.labels = labels
        self.records: VersionedRecords[int, IssueRecord] = VersionedRecords(registrar)
        self.events: list[EventRecord] = []
        self.deleted: set[int] = set()
        self.moved: dict[int, tuple[int, int]] = {}
        self.on_event: Callable[[EventRecord], None] | None = None

    def require(self, number: int, stale: Staleness | None = None) -> IssueRecord:
        """The thread; 410 if it was deleted, 301 if it was transferred, 404 if it never was."""
        if number in self.deleted:
            raise Refusal(410, "This issue was deleted")
        if number in self.moved:
            raise Moved("/repositories/{}/issues/{}".format(*self.moved[number]))
        found = self.records.seen(stale, lambda r: r.number == number) if stale else [self.records.get(number)]
        if not found or found[0] is None:
            raise not_found()
        return found[0]

    def open(self, author: str, title: str, body: str | None, *, is_pull: bool = False) -> IssueRecord:
        """A new thread with the next number."""
        check_text("PullRequest" if is_pull else "Issue", title, body)
        now, gone = self._registrar.now(), len(self.deleted) + len(self.moved)
        number = len(self.records) + gone + 1
        record = IssueRecord(number, self._registrar.new_id(), title, body, author, now, now, is_pull=is_pull)
        return self.records.put(number, record)

    def edit(self, number: int, actor: str, *, title: str | None = None, body: str | None = None) -> IssueRecord:
        """New title, new body, or both; None leaves as it is."""
        old = self.require(number)
        check_text("Issue", old.title if title is None else title, body)
        if title is not None and title != old.title:
            self.record(number, "renamed", actor, {"from": old.title, "to": title})
            self.records.change(number, title=title)
        if body is not None:
            self.records.change(number, body=body)
        return self.touch(number)

    def touch(self, number: int) -> IssueRecord:
        """Something changed: `updated_at` is now."""
        return self.records.change(number, updated_at=self._registrar.now())

    def add_labels(self, number: int, names: Iterable[str], actor: str) -> IssueRecord:
        """Put labels on; unknown ones come into being, and more than GitHub allows are 422."""
        names = tuple(names)
        check_labels((*self.require(number).labels, *names))
        for name in names:
            label = self.labels.ensure(name)
            present = self.require(number).labels
            if label.name not in present:
                self.record(number, "labeled", actor, _label_detail(label))
                self.records.change(number, labels=(*present, label.name), updated_at=self._registrar.now())
        return self.require(number)

    def remove_label(self, number: int, name: str, actor: str) -> IssueRecord:
        """Take one label off; 404 when it is not on."""
        issue, label = self.require(number), self.labels.find(name)
        if label is None or label.name not in issue.labels:
            raise Refusal(404, "Label does not exist")
        self.record(number, "unlabeled", actor, _label_detail(label))
        left = tuple(other for other in issue.labels if other != label.name)
        return self.records.change(number, labels=left, updated_at=self._registrar.now())

    def set_labels(self, number: int, names: Sequence[str], actor: str) -> IssueRecord:
        """Replace the whole set in one step."""
        check_labels(names)
        wanted = {self.labels.ensure(name).name for name in names}
        for name in self.require(number).labels:
            if name not in wanted:
                self.remove_label(number, name, actor)
        return self.add_labels(number, names, actor)

    def label_renamed(self, old: str, new: str | None) -> None:
        """A definition was renamed, or removed (None): threads follow."""
        for issue in self.records.values():
            if old in issue.labels:
                names = (new if name == old else name for name in issue.labels)
                self.records.change(issue.number, labels=tuple(name for name in names if name is not None))

    def close(
        self, number: int, actor: str, reason: str | None = "completed", *, commit: str | None = None
    ) -> IssueRecord:
        """Close the thread; closing a closed one changes only the reason."""
        issue, now = self.require(number), self._registrar.now()
        reason = None if issue.is_pull else reason or "completed"
        if not issue.open:
            return self.records.change(number, state_reason=reason)
        reason_detail = {} if reason in {None, "completed"} else {"state_reason": str(reason)}
        self.record(number, "closed", actor, {**reason_detail, **({"commit_id": commit} if commit else {})})
        return self.records.change(
            number, open=False, state_reason=reason, closed_at=now, closed_by=actor, updated_at=now
        )

    def reopen(self, number: int, actor: str) -> IssueRecord:
        """Open a closed thread again."""
        issue, now = self.require(number), self._registrar.now()
        if issue.open:
            return issue
        self.record(number, "reopened", actor)
        reason = None if issue.is_pull else "reopened"
        return self.records.change(
            number, open=True, state_reason=reason, closed_at=None, closed_by=None, updated_at=now
        )

    def assign(self, number: int, logins: Iterable[str], actor: str) -> IssueRecord:
        """Add assignees; the caller has checked that they may be assigned."""
        for login in logins:
            present = self.require(number).assignees
            if login not in present:
                self.record(number, "assigned", actor, {"assignee": login})
                self.records.change(number, assignees=(*present, login), updated_at=self._registrar.now())
        return self.require(number)

    def unassign(self, number: int, logins: Iterable[str], actor: str) -> IssueRecord:
        """Remove assignees; those who are none are passed over, as GitHub does."""
        for login in logins:
            present = self.require(number).assignees
            if login in present:
                self.record(number, "unassigned", actor, {"assignee": login})
                left = tuple(other for other in present if other != login)
                self.records.change(number, assignees=left, updated_at=self._registrar.now())
        return self.require(number)

    def lock(self, number: int, actor: str) -> IssueRecord:
        """Lock the conversation: only collaborators may comment."""
        self.record(number, "locked", actor)
        return self.records.change(number, locked=True)

    def unlock(self, number: int, actor: str) -> IssueRecord:
        """Let everybody comment again."""
        self.record(number, "unlocked", actor)
        return self.records.change(number, locked=False)

    def delete(self, number: int) -> None:
        """Delete the thread: from now on it answers 410."""
        self.require(number)
        self.records.remove(number)
        self.deleted.add(number)

    def leave(self, number: int, repository_id: int, new_number: int) -> None:
        """The thread went to another repository and has a new number there: from now on it answers 301."""
        self.records.remove(number)
        self.moved[number] = (repository_id, new_number)

    def record(self, number: int, event: str, actor: str, detail: dict[str, str] | None = None) -> EventRecord:
        """Note an event in the thread."""
        record = EventRecord(self._registrar.new_id(), number, event, actor, self._registrar.now(), detail or {})
        self.events.append(record)
        if self.on_event is not None:
            self.on_event(record)
        return record


def check_labels(names: Iterable[str]) -> None:
    """422 for more labels than a thread may have."""
    if len({name.casefold() for name in names}) > MOST_LABELS:
        raise Refusal(422, f"Validation Failed. Issues cannot have more than {MOST_LABELS} labels")


def check_text(resource: str, title: str, body: str | None) -> None:
    """422 for a missing title or a text that is too long."""
    if not title.strip():
        raise invalid(resource, "title", "missing_field")
    if len(title) > MAX_TITLE:
        raise custom(resource, f"title is too long (maximum is {MAX_TITLE} characters)", "title")
    check_body(resource, body)


def check_body(resource: str, body: str | None) -> None:
    """422 for a body that is too long."""
    if body is not None and len(body) > MAX_BODY:
        raise custom(resource, f"body is too long (maximum is {MAX_BODY} characters)", "body")


def _label_detail(label: LabelRecord) -> dict[str, str]:
    return {"name": label.name, "color": label.color}
