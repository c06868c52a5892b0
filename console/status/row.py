"""The board as values: one row for each open item of the engine's, and what GitHub and git showed of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from shared.ci.verdict import CiVerdict
from shared.commands.command import Verb
from shared.lock.codec import ItemKey
from shared.lock.fence import Fence
from shared.models import Comment, Issue
from shared.workflow import Stage, Track
from shared.workflow.labels import Flag, Labels


class Whom(StrEnum):
    """Party or event that an item waits for."""

    PERSON = "person"
    PLANNER = "planner"
    WORKER = "worker"
    REVIEWER = "reviewer"
    CI = "ci"
    ITEM = "item"
    """Another issue or pull request."""
    TIME = "time"
    """A limit's reset or the next try."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A reason to wait, and the latest time of the next look, where that is known (server time)."""

    whom: Whom
    why: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item. `moved_at` is its fence's last move, else its last change on GitHub; times are the server's.

    `holder` is the agent whose lease lives, empty when nobody holds it; `held_since` is when it was claimed.
    `attempts` are the tries of the implementation of so many; `usd` what its runs count in the ledger, None
    where there is none. `ci` is None where it was not asked for.
    """

    track: Track
    number: int
    title: str
    stage: Stage
    moved_at: datetime
    holder: str = ""
    held_since: datetime | None = None
    attempts: tuple[int, int] | None = None
    round: int = 0
    usd: float | None = None
    ci: CiVerdict | None = None
    waiting: Waiting | None = None
    flags: tuple[Flag, ...] = ()
    commands: tuple[Verb, ...] = ()
    issue: int = 0
    """Of a pull request: the issue that it implements; 0 when it is not of the engine's making."""
    pull_request: int = 0
    """Of an issue: its pull request; 0 while there is none."""
    story: int = 0
    """Of an issue: the story that it is part of; 0 when its text names none."""

    @property
    def needs_a_person(self) -> bool:
        """True if nothing goes on before a person has done something."""
        return self.waiting is not None and self.waiting.whom is Whom.PERSON


@dataclass(frozen=True, slots=True)
class Merged:
    """An issue whose pull request was merged lately, and when; `title` is empty where it was not read."""

    number: int
    pull_request: int
    at: datetime
    title: str = ""


@dataclass(frozen=True, slots=True)
class Spent:
    """US dollars of the last 24 hours and 7 days by the ledger, and their limits."""

    day: float
    day_limit: float
    week: float
    week_limit: float


@dataclass(frozen=True, slots=True)
class RepositorySnapshot:
    """Data of one repository for its board. `issues` are the open ones, `acks` comments by their id.

    `comments` are the comments that were changed last, `usd` maps items such as `#42` to what they have cost, None
    without a ledger, `ci` commits to verdicts.
    """

    at: datetime
    issues: tuple[Issue, ...] = ()
    fences: Mapping[ItemKey, Fence] = field(default_factory=dict)
    acks: Mapping[int, Comment] = field(default_factory=dict)
    comments: tuple[Comment, ...] = ()
    usd: Mapping[str, float] | None = None
    ci: Mapping[str, CiVerdict] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BoardSettings:
    """Settings that a board depends on; `barring` are labels with which nothing is merged.

    `own` are the logins that may be assigned without keeping agents from the issue, None where no assignment keeps them
    from it; `invited` is the login whose assignment asks for the work, whoever else is assigned. `timeout` is the
    lock's. `at_terminal`: plans are approved there, and no comment approves one.
    """

    names: Labels = field(default_factory=Labels)
    merge: str = "never"
    max_attempts: int = 3
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    barring: tuple[str, ...] = ()
    own: tuple[str, ...] | None = None
    timeout: timedelta = timedelta(minutes=30)
    invited: str = ""
    at_terminal: bool = False


@dataclass(frozen=True, slots=True)
class Board:
    """One repository at server time `at`; `complaint` says why it could not be read again since.

    `merged` are the issues of the last 24 hours, newest first; `spent` is None without a ledger.
    """

    repository: str
    at: datetime
    rows: tuple[ItemRow, ...] = ()
    complaint: str = ""
    merged: tuple[Merged, ...] = ()
    spent: Spent | None = None
