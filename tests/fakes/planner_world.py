"""GitHub's data about one repository, in memory, for tests of the planner: issues, events, comments, people, files."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from fakes.lock_server import BOT, Server
from shared.errors import EngineError, UnknownOutcome
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Account, Comment, Issue, LabelEvent
from shared.workflow import Role
from shared.workflow.labels import Labels

ADA = Account(1, "ada")
MALLORY = Account(666, "mallory")
NAMES = Labels()


@dataclass
class World:
    """Everything that GitHub knows of one repository; every write takes a second."""

    server: Server = field(default_factory=Server)
    issues: dict[int, Issue] = field(default_factory=dict)
    events: list[tuple[int, LabelEvent]] = field(default_factory=list)
    writers: set[str] = field(default_factory=lambda: {ADA.login, BOT.login})
    files: dict[str, str] = field(
        default_factory=lambda: {"AGENTS.md": "Plain code.", "directory/store.py": "USERS = {}"}
    )
    faults: dict[str, list[EngineError | None]] = field(default_factory=dict)
    hidden: set[int] = field(default_factory=set)
    """Comments that a replica does not show yet."""
    hidden_issues: set[int] = field(default_factory=set)
    """Issues that a replica does not show yet, or that were deleted."""
    breaks_at: int = 0
    writes: list[str] = field(default_factory=list)
    dismissed: list[int] = field(default_factory=list)

    def open(self, title: str, body: str = "", *, labels: Collection[str] = (), by: Account = ADA) -> int:
        """A new issue, labelled by its author; returns its number."""
        number = len(self.issues) + 12
        at = self._now()
        self.issues[number] = Issue(number, title, body, frozenset(), by, at, at)
        for label in labels:
            self.label(number, label, by=by)
        return number

    def story(self, title: str = "User search", body: str = "I want to find users.", *, by: Account = ADA) -> int:
        """A story that `by` writes and labels."""
        return self.open(title, body, labels=[NAMES.story], by=by)

    def label(self, number: int, label: str, *, by: Account = ADA, added: bool = True) -> None:
        """Add or remove a label."""
        issue, event = self.issues[number], LabelEvent(len(self.events), label, added, by, self._now())
        self.events.append((number, event))
        labels = issue.labels | {label} if added else issue.labels - {label}
        self.issues[number] = replace(issue, labels=labels, updated_at=event.at)

    def say(self, number: int, body: str, *, by: Account = ADA) -> Comment:
        """A comment."""
        self.change(number)
        return self.server.post(number, body, by)

    def change(self, number: int, **fields: Any) -> None:
        """A person edits, closes or reopens."""
        self.issues[number] = replace(self.issues[number], updated_at=self._now(), **fields)

    def labels(self, number: int) -> set[str]:
        """Return an issue's labels, without the story label."""
        return set(self.issues[number].labels) - {NAMES.story}

    def fence(self, number: int) -> Fence:
        """The planner's fence of a story."""
        fence = self.server.fence(ItemKey(Role.PLANNER, number))
        assert fence is not None
        return fence

    def bodies(self, mark: str) -> list[str]:
        """The comments of the engine that begin with a marker."""
        return [one.body for one in self.server.comments().values() if one.body.startswith(f"<!-- {mark}/")]

    def specifications(self) -> list[Issue]:
        """The issues that the engine created."""
        return [issue for issue in self.issues.values() if issue.author == BOT]

    def meet(self, what: str) -> None:
        """Apply the fault that is planned for a write by the engine, if any, at its beginning or end."""
        self._now()
        self.writes.append(what)
        if len(self.writes) == self.breaks_at:
            raise UnknownOutcome
        planned = self.faults.get(what, [])
        fault = planned.pop(0) if planned else None
        if fault is not None:
            raise fault

    def _now(self) -> datetime:
        self.server.seconds += 1
        return self.server.at.replace(microsecond=0)
