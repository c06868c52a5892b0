"""The view of one item that the phases of its work share."""

from __future__ import annotations

from dataclasses import dataclass, field

from shared.commands.discussion import NOTHING_SAID, Discussion
from shared.git.workspace import Workspace
from shared.lock.hold import Held
from shared.models import Issue
from shared.specification import Criterion, Specification
from shared.text.prompts import Untrusted
from worker_agent.attached_images import NO_PICTURES, AttachedImages
from worker_agent.repository_rules import ItemRules
from worker_agent.tdd.runners.runner import Suite


@dataclass(frozen=True, slots=True)
class WorkContext:
    """One item as its phases see it; `base` is the commit on which its new tests must be red.

    If a cycle is about one criterion only, that is `criterion`; `topic` is the subject of a call that is not about the
    whole item.
    """

    held: Held
    issue: Issue
    specification: Specification
    space: Workspace
    base: str
    suites: tuple[Suite, ...]
    conventions: str
    allowed: frozenset[str] = frozenset()
    """Protected files that may be changed nevertheless."""
    criterion: Criterion | None = None
    cycle: int = 1
    topic: str = ""
    discussion: Discussion = NOTHING_SAID
    """The comments on the issue by people with write access."""
    pictures: AttachedImages = NO_PICTURES
    """The images of the issue's text and the discussion."""
    rules: ItemRules = field(default_factory=ItemRules)
    """The rules for writing and running its tests and code."""

    @property
    def text(self) -> str:
        """The text about the item for a coder: the issue's text, then the comments below it."""
        return "\n\n".join(filter(None, (self.issue.body, self.discussion.text(), self.pictures.text())))

    @property
    def criteria(self) -> Untrusted:
        """The acceptance criteria of the cycle as a list for a prompt."""
        wanted = (self.criterion,) if self.criterion else self.specification.criteria
        return Untrusted("\n".join(f"- {criterion.id}: {criterion.text}" for criterion in wanted))

    @property
    def test_commands(self) -> str:
        """The commands that run all tests, as text for a coder."""
        told = [(suite.directory, suite.test_command) for suite in self.suites]
        return "; ".join(f"{command} (in {directory})" if directory else command for directory, command in told)

    @property
    def title(self) -> str:
        """The issue's title, followed by the topic."""
        return f"{self.issue.title} [{self.topic}]" if self.topic else self.issue.title
