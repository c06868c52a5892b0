"""The configuration of the reviewer, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field

from reviewer_agent.snapshot import Bounds, Merge
from shared.github.base_branch import BaseBranch
from shared.llm.port import RunLimits
from shared.workflow.labels import Labels


@dataclass(frozen=True, slots=True)
class Policy:
    """One repository's rules for the reviewer; `diff_bytes` is the largest diff that one review can judge."""

    repository: str
    names: Labels = field(default_factory=Labels)
    exclude: frozenset[str] = frozenset({"blocked", "do-not-automate"})
    priorities: tuple[str, ...] = ()
    bounds: Bounds = field(default_factory=Bounds)
    base: BaseBranch = field(default_factory=BaseBranch)
    merge: Merge = Merge.NEVER
    merge_method: str = "squash"
    trailers: tuple[str, ...] = ()
    """The last lines of a merge commit's message."""
    delete_branch: bool = True
    barring: frozenset[str] = frozenset({"do-not-merge"})
    """Labels of a pull request or of its issue with which nothing is merged."""
    by_requester: bool = True
    """True if the order of the person who asked for a change counts for its merge."""
    hides_outdated: bool = False
    """True if an approving review hides the earlier ones."""
    diff_bytes: int = 200_000
    limits: RunLimits = field(default_factory=RunLimits)
