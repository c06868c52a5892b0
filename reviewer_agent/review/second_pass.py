"""The second pass over an approval: the role `qa` checks each criterion against the evidence (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from reviewer_agent.review.answer import CriterionAnswer, StrictModel, unchecked, validated
from shared.retry.answer_retry import Unusable
from shared.text import one_line


class Checked(StrictModel):
    """Every acceptance criterion, checked once more by somebody who did not judge the code."""

    criteria: tuple[CriterionAnswer, ...] = Field(description="every acceptance criterion exactly once")

    @property
    def unmet(self) -> tuple[CriterionAnswer, ...]:
        """The criteria that the evidence does not show to be met."""
        return tuple(criterion for criterion in self.criteria if not criterion.met)


SCHEMA: Mapping[str, Any] = Checked.model_json_schema()
"""The JSON schema that a coder is given."""


def parse(raw: Mapping[str, Any] | None, criteria: Sequence[str]) -> Checked:
    """Return the answer if it checks exactly these criteria and says why one is not met; raises `Unusable`."""
    checked = validated(Checked, raw)
    problems = [one_line(fault, 200) for fault in unchecked([one.id for one in checked.criteria], criteria)]
    if any(not criterion.note.strip() for criterion in checked.unmet):
        problems.append("criteria: one is not met and nobody says what is missing")
    if problems:
        raise Unusable(problems)
    return checked
