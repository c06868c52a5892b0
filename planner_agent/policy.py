"""The policy of the planner: the configuration as plain values, and a person's decision at our terminal (pure)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from planner_agent.plan import Plan, dump, sha256
from shared.errors import Blocked
from shared.github.base_branch import BaseBranch
from shared.llm.port import RunLimits
from shared.models import Account, Issue
from shared.specification import body_sha256
from shared.workflow.labels import Labels


class Approval(StrEnum):
    """Way in which a plan is approved; the first three are the values of the key `approval`.

    GIVEN: a person at a terminal has approved it before it was posted.
    """

    AUTO = "auto"
    COMMENT = "comment"
    TERMINAL = "terminal"
    GIVEN = "given"


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


@dataclass(frozen=True, slots=True)
class Policy:
    """One repository's rules for the planner.

    `account` creates the specification issues, and they are found again by it. `rounds` says how often a
    plan may be sent back, `only` names the one story that this process works on (None: all), and
    `preapproved_plan` is what a person has decided on it at our terminal.
    """

    repository: str
    account: Account
    base: BaseBranch
    names: Labels = field(default_factory=Labels)
    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset({"blocked", "do-not-automate"})
    priorities: tuple[str, ...] = ()
    approval: Approval = Approval.COMMENT
    rounds: int = 3
    limits: RunLimits = field(default_factory=RunLimits)
    take_assigned: bool = False
    """True if stories that are assigned to a person are begun all the same."""
    only: int | None = None
    preapproved_plan: PreapprovedPlan | None = None

    @property
    def auto(self) -> bool:
        """True if the configuration approves plans."""
        return self.approval is Approval.AUTO
