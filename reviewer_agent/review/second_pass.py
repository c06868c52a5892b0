"""The second pass over an approval: the role `qa` checks each criterion against the evidence (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from reviewer_agent.review.answer import CriterionAnswer, sentences
from shared.retry.answer_retry import Unusable
from shared.text import one_line


class Checked(BaseModel):
    """Every acceptance criterion, checked once more by somebody who did not judge the code."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    criteria: tuple[CriterionAnswer, ...] = Field(description="every acceptance criterion exactly once")

    @property
    def unmet(self) -> tuple[CriterionAnswer, ...]:
        """The criteria that the evidence does not show to be met."""
        return tuple(criterion for criterion in self.criteria if not criterion.met)


SCHEMA: Mapping[str, Any] = Checked.model_json_schema()
"""The JSON schema that a coder is given."""


def parse(raw: Mapping[str, Any] | None, criteria: Sequence[str]) -> Checked:
    """Return the answer if it checks exactly these criteria and says why one is not met; raises `Unusable`."""
    if raw is None:
        raise Unusable(["The answer was not a JSON object."])
    try:
        checked = Checked.model_validate_json(json.dumps(dict(raw)))
    except (ValueError, TypeError, RecursionError) as error:  # pydantic's ValidationError is a ValueError
        raise Unusable(sentences(error)) from error
    if problems := [*_problems(checked, criteria)]:
        raise Unusable(problems)
    return checked


def _problems(checked: Checked, criteria: Sequence[str]) -> Iterator[str]:
    found = [criterion.id for criterion in checked.criteria]
    if missing := [id for id in criteria if id not in found]:
        yield one_line(f"criteria: {', '.join(missing)} not checked", 200)
    if unknown := sorted(set(found) - set(criteria)):
        yield one_line(f"criteria: there is no {', '.join(unknown)}", 200)
    if len(set(found)) < len(found):
        yield "criteria: one is checked twice"
    if any(not criterion.note.strip() for criterion in checked.unmet):
        yield "criteria: one is not met and nobody says what is missing"
