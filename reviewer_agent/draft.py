"""A finished review that is not submitted yet, and what follows from it (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from reviewer_agent.answer import Answer
from reviewer_agent.opinion import Care, Judgement
from reviewer_agent.patch import Patch
from reviewer_agent.placement import Placed


@dataclass(frozen=True, slots=True)
class Draft:
    """What a coder said of exactly the commit `sha`; rounds count from 0."""

    sha: str
    round: int
    answer: Answer
    placed: Placed
    patch: Patch

    @property
    def judgement(self) -> Judgement:
        """A change of which parts are missing is never approved."""
        if self.answer.verdict == "changes_requested":
            return Judgement.CHANGES_REQUESTED
        return Judgement.INCOMPLETE if self.patch.missing else Judgement.APPROVED

    @property
    def care(self) -> Care:
        """Why only a person may merge it."""
        if self.answer.breaking_change.breaks:
            return Care.BREAKING
        return Care.PROTECTED if self.patch.sensitive else Care.NONE
