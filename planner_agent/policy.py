"""The configuration of the planner, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from planner_agent.preapproved_plan import PreapprovedPlan
from shared.github.base_branch import BaseBranch
from shared.llm.port import RunLimits
from shared.models import Account
from shared.workflow.labels import Labels


class Approval(StrEnum):
    """Way in which a plan is approved; the first three are the values of the key `approval`.

    GIVEN: a person at a terminal has approved it before it was posted.
    """

    AUTO = "auto"
    COMMENT = "comment"
    TERMINAL = "terminal"
    GIVEN = "given"


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
