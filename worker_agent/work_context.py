"""One item as the phases of its work see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shared.commands.discussion import NOTHING_SAID, Discussion
from shared.git.workspace import Workspace
from shared.lock.hold import Held
from shared.models import Issue
from shared.specification import Criterion, Specification
from shared.text.prompts import Untrusted
from worker_agent.attached_images import NO_PICTURES, AttachedImages
from worker_agent.repository_rules import ItemRules

if TYPE_CHECKING:  # an agent that waits does not load the runners
    from worker_agent.tdd.runners.registry import Choice, Suite


@dataclass(frozen=True, slots=True)
class WorkContext:
    """One item as its phases see it; `base` is the commit on which its new tests must be red.

    A cycle of its own is about one `criterion`; `topic` is what a call is about, when not the whole item.
    """

    held: Held
    issue: Issue
    specification: Specification
    space: Workspace
    base: str
    suites: tuple[Suite, ...]
    conventions: str
    allowed: frozenset[str] = frozenset()
    """Protected files that may be changed all the same."""
    criterion: Criterion | None = None
    cycle: int = 1
    topic: str = ""
    discussion: Discussion = NOTHING_SAID
    """What people with write access have said on the issue."""
    pictures: AttachedImages = NO_PICTURES
    """The images of both."""
    rules: ItemRules = field(default_factory=ItemRules)
    """How its tests and code are written and run."""

    @property
    def text(self) -> str:
        """What a coder is told of the item: the issue's text, then what was said below it."""
        return "\n\n".join(filter(None, (self.issue.body, self.discussion.text(), self.pictures.text())))

    @property
    def criteria(self) -> Untrusted:
        """The acceptance criteria of the cycle as a list for a prompt."""
        wanted = (self.criterion,) if self.criterion else self.specification.criteria
        return Untrusted("\n".join(f"- {criterion.id}: {criterion.text}" for criterion in wanted))

    @property
    def choice(self) -> Choice:
        """How the tests of the first suite are run: what a coder is told."""
        return self.suites[0].choice

    @property
    def test_commands(self) -> str:
        """How all tests are run, for a coder."""
        told = [(suite.directory, suite.choice.test_command) for suite in self.suites]
        return "; ".join(f"{command} (in {directory})" if directory else command for directory, command in told)

    @property
    def title(self) -> str:
        """The issue's title, and the topic."""
        return f"{self.issue.title} [{self.topic}]" if self.topic else self.issue.title
