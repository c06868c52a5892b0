"""What a person asked `workflow-engine tdd` for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from shared.errors import Misconfigured

BACKENDS = ("claude", "codex", "scripted")
SANDBOXES = ("bubblewrap", "container", "none")


@dataclass(frozen=True, slots=True)
class Wishes:
    """The command line; with `resume` or `listing` there is no specification."""

    specification: Path | None = None
    max_reviews: int = 3
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

    def check(self) -> None:
        """Raises `Misconfigured` for words that contradict each other."""
        if self.resume is not None and (self.specification is not None or self.listing):
            raise Misconfigured("--resume goes on with what was begun: without a specification and without --list.")
        if self.listing and self.specification is not None:
            raise Misconfigured("--list shows the tasks: without a specification.")
        if self.max_reviews < 1:
            raise Misconfigured(f"--max-reviews takes a number from 1, not {self.max_reviews}.")
        for option, value, known in (("--llm", self.llm, BACKENDS), ("--sandbox", self.sandbox, SANDBOXES)):
            if value is not None and value not in known:
                raise Misconfigured(f"{option}: there is no '{value}'; there is {', '.join(known)}.")
