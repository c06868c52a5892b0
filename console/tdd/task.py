"""One task: the options that order it, and its record.

The record is `.workflow/task-<id>.json` at the top of the work tree, replaced as a whole.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from console.option_values import SETUP_COMMAND, TEST_COMMAND, usable
from console.tdd.checkout import RECORDS
from runtime.telemetry.cost import TaskCost
from shared.errors import Misconfigured
from shared.filesystem import directories
from shared.llm import BACKENDS
from shared.specification import SpecificationKind
from shared.text import slug

VERSION = 1
"""Of the record's format; another version is refused."""

_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,60}[a-z0-9])?")


class State(StrEnum):
    """State of a task."""

    WORKING = "working"
    APPROVED = "approved, not handed out yet"
    DONE = "done"
    FAILED = "failed"
    ROUNDS_USED_UP = "rounds used up"


ENDED = frozenset({State.DONE, State.FAILED, State.ROUNDS_USED_UP})
"""Nothing follows by itself."""

STOPPED = ENDED - {State.DONE}
"""A person may have it go on from what was built."""


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """Order of a task, as far as a resumed task needs it.

    `name` is the repository's name on the task's own GitHub, `base` and `commit` are where the work
    starts, and `pull_request` says whether one is wanted. `file` is the specification's whole path, `kind` the kind
    of work as the command line said it; both are empty, and `setup_command` is None, in records of earlier versions.
    """

    name: str
    specification: str
    title: str
    text: str
    base: str
    commit: str
    branch: str
    max_reviews: int
    cleanup: bool
    pull_request: bool
    config: str | None = None
    llm: str | None = None
    test_command: str | None = None
    sandbox: str | None = None
    file: str = ""
    kind: str = ""
    setup_command: str | None = None

    def asks_as(self, other: TaskRequest) -> bool:
        """Return whether both ask for the same, in the same words."""
        return (self.title, self.text) == (other.title, other.text)


@dataclass(frozen=True, slots=True)
class Task:
    """One task. `place` has its copy of the repository and everything else of the engine; `head` is the result.

    `reviews` counts all that were given, `before` those of them that were given before it was taken up again last.
    """

    id: str
    created_at: str
    place: str
    order: TaskRequest
    state: State = State.WORKING
    reviews: int = 0
    head: str = ""
    url: str = ""
    sentence: str = ""
    before: int = 0
    spent: TaskCost = field(default_factory=TaskCost)
    version: int = VERSION


def new_id(title: str) -> str:
    """A name for a task that a person can type: words of its title and four random characters."""
    return f"{slug(title)[:24].rstrip('-')}-{secrets.token_hex(2)}"


@dataclass(frozen=True, slots=True)
class Records:
    """The records of one work tree."""

    top: Path

    @property
    def directory(self) -> Path:
        """Directory of the records."""
        return self.top / RECORDS

    def file(self, task_id: str) -> Path:
        """One record's file."""
        return self.directory / f"task-{task_id}.json"

    def write(self, task: Task) -> None:
        """Replace the record; a reader, and a crash, see the old one or the new one."""
        file = self.file(task.id)
        draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
        try:
            directories.write(draft, _RECORD.dump_json(task, indent=2) + b"\n", durable=True)
            draft.replace(file)
        except OSError as error:
            raise Misconfigured(f"The record {file} cannot be written: {error.strerror}.") from None

    def read(self, task_id: str) -> Task:
        """The record of one task; raises `Misconfigured` when there is none that this version can read."""
        if not _ID.fullmatch(task_id) or not self.file(task_id).is_file():
            known = ", ".join(task.id for task in self.all()) or "none here"
            raise Misconfigured(f"There is no task '{task_id}' in {self.directory}; there is {known}.")
        try:
            task = _RECORD.validate_json(self.file(task_id).read_bytes())
        except (OSError, ValidationError):
            raise Misconfigured(f"{self.file(task_id)} is not a task's record of this version.") from None
        if task.version != VERSION:
            raise Misconfigured(f"{self.file(task_id)} was written by another version of the engine.")
        return task

    def all(self) -> tuple[Task, ...]:
        """Every readable record, oldest first."""
        found: list[Task] = []
        for file in self.directory.glob("task-*.json"):
            try:
                found.append(_RECORD.validate_json(file.read_bytes()))
            except (OSError, ValidationError):
                continue  # somebody else's file, or another version's
        return tuple(sorted(found, key=lambda task: task.created_at))


_RECORD = TypeAdapter(Task)


MAX_REVIEWS = 3
"""Reviews before a person decides, unless the command line says otherwise."""

SANDBOXES = ("bubblewrap", "container", "none")


@dataclass(frozen=True, slots=True)
class TddOptions:
    """The command line; with `listing` there is no specification, with `resume` only one that has changed.

    None means: as usual, or with `resume` as it was asked for when the task began.
    """

    specification: Path | None = None
    max_reviews: int | None = None
    branch: str | None = None
    base: str | None = None
    cleanup: bool = True
    local: bool = False
    resume: str | None = None
    listing: bool = False
    json: bool = False
    config: Path | None = None
    llm: str | None = None
    test_command: str | None = None
    sandbox: str | None = None
    kind: str | None = None
    setup_command: str | None = None

    def check(self) -> None:
        """Raises `Misconfigured` for words that contradict each other."""
        if self.listing and (self.specification is not None or self.resume is not None):
            raise Misconfigured("--list shows the tasks: without a specification and without --resume.")
        if self.resume is not None and (self.branch is not None or self.base is not None):
            raise Misconfigured("--resume keeps the branch and the base that the task began with: leave them out.")
        if self.max_reviews is not None and self.max_reviews < 1:
            raise Misconfigured(f"--max-reviews takes a number from 1, not {self.max_reviews}.")
        chosen = (
            ("--llm", self.llm, BACKENDS),
            ("--sandbox", self.sandbox, SANDBOXES),
            ("--kind", self.kind, [*SpecificationKind]),
        )
        for option, value, known in chosen:
            if value is not None and value not in known:
                raise Misconfigured(f"{option}: there is no '{value}'; there is {', '.join(known)}.")
        usable(
            {
                "--test-command": (TEST_COMMAND, self.test_command),
                "--setup-command": (SETUP_COMMAND, self.setup_command),
            }
        )

    def changing(self, order: TaskRequest) -> TaskRequest:
        """Return an order, that of a task that goes on or the usual one, with what the options say instead."""
        said: dict[str, Any] = {
            "max_reviews": self.max_reviews,
            "cleanup": None if self.cleanup else False,
            "pull_request": False if self.local else None,
            "config": str(self.config.absolute()) if self.config is not None else None,
            "llm": self.llm,
            "test_command": self.test_command,
            "setup_command": self.setup_command,
            "sandbox": self.sandbox,
            "kind": self.kind,
        }
        return replace(order, **{key: value for key, value in said.items() if value is not None})
