"""A person's decision on a plan at a terminal, before anything was written (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from planner_agent.plan import Plan, dump, sha256
from shared.errors import Blocked
from shared.models import Issue
from shared.specification import body_sha256


class StoryChanged(Blocked):
    """The story was changed after its plan had been approved at a terminal: plan it again."""


@dataclass(frozen=True, slots=True)
class PreapprovedPlan:
    """A plan that `login` approved at a terminal, for a story whose title and body had the hash `story`."""

    plan: Plan
    story: str
    login: str

    def plan_of(self, story: Issue) -> Plan:
        """Return the approved plan; raises `StoryChanged` if it was approved for another text."""
        if body_sha256(story.title, story.body) != self.story:
            raise StoryChanged
        return self.plan

    @property
    def sha(self) -> str:
        """The hash of the plan."""
        return sha256(dump(self.plan))
