"""Options of `workflow-engine tdd` from the command line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from console.option_values import SETUP_COMMAND, TEST_COMMAND, usable
from console.tdd.task import TaskRequest
from shared.errors import Misconfigured
from shared.llm import BACKENDS
from shared.specification import SpecificationKind

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
        """Return the order of a task that goes on: as it was when it began, with what the options say anew."""
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
