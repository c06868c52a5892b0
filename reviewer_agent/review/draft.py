"""A finished review that is not submitted yet, and what follows from it (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from reviewer_agent.review.answer import HOLDING, Answer, FindingAnswer
from reviewer_agent.review.opinion import Care, Judgement
from reviewer_agent.review.patch import Patch
from reviewer_agent.review.placement import Placed
from reviewer_agent.review.second_pass import Checked


@dataclass(frozen=True, slots=True)
class Draft:
    """What a coder said of merging exactly the commit `sha` into the branch `onto`; rounds count from 0.

    `placed` are the findings that count, `late` those that an earlier round could have raised, `removed` the
    public names that are gone; `checked` is the second pass, None where there was none.
    """

    sha: str
    round: int
    answer: Answer
    placed: Placed
    patch: Patch
    removed: tuple[str, ...] = ()
    late: tuple[FindingAnswer, ...] = ()
    checked: Checked | None = None
    onto: str = ""

    @property
    def judgement(self) -> Judgement:
        """By what counts, not by the coder's word alone; a change of which parts are missing is never approved."""
        if self.checked is not None and self.checked.unmet:
            return Judgement.CHANGES_REQUESTED
        if self.answer.verdict == "changes_requested" and self._grounds:
            return Judgement.CHANGES_REQUESTED
        return Judgement.INCOMPLETE if self.patch.missing else Judgement.APPROVED

    @property
    def _grounds(self) -> bool:
        """Whether anything that counts speaks for changes."""
        return bool(self.answer.unmet or self.answer.unresolved or self.placed.inline or self.placed.rest)

    @property
    def disputed(self) -> bool:
        """Whether it objects to lines that an earlier round had let pass: too late to ask, not too late to tell."""
        serious = any(finding.severity in HOLDING for finding in self.late)
        return serious or (self.answer.verdict == "changes_requested" and bool(self.late))

    @property
    def care(self) -> Care:
        """Why only a person may merge it."""
        if self.answer.breaking_change.breaks or self.removed:
            return Care.BREAKING
        if self.patch.sensitive:
            return Care.PROTECTED
        return Care.DISPUTED if self.disputed else Care.NONE
