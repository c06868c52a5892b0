"""The answers of a review and of its second pass: their schemas, and the rules that these cannot express (pure)."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shared.retry.answer_retry import Unusable
from shared.text import one_line

FINDINGS_LIMIT = 50
"""Maximum number of findings in one review; GitHub refuses bodies above 65,536 characters."""

HOLDING = frozenset({"critical", "major"})
"""Severities that hold a merge back."""


M = TypeVar("M", bound=BaseModel)


class StrictModel(BaseModel):
    """A frozen part of an answer; unknown keys and wrong types are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FindingAnswer(StrictModel):
    """One thing that was found."""

    severity: Literal["critical", "major", "minor", "remark"] = Field(
        description="critical and major must be different before merging; approve if only minor and remark are left"
    )
    path: str = Field(description="the file, from the root of the repository")
    line: int | None = Field(description="a line of the new version that stands in the diff; null when there is none")
    why: str = Field(description="what goes wrong, and for whom")
    suggestion: str = Field(description="what to do instead; may be empty")


class CriterionAnswer(StrictModel):
    """One acceptance criterion, checked."""

    id: str = Field(description="AC1, AC2, ...")
    met: bool
    note: str = Field(description="by which code and which test, or what is missing")


class EarlierAnswer(StrictModel):
    """One finding of an earlier round, looked at again."""

    id: str = Field(description="F1, F2, ... as listed under 'Earlier rounds'")
    resolved: bool
    note: str = Field(description="by what it is resolved, or what is still missing")


class ExpectationAnswer(StrictModel):
    """One changed expectation, removed test or steering file: does a criterion ask for it?"""

    test: str = Field(description="the test or file, exactly as listed under 'Changes to old tests'")
    asked: Literal["yes", "no"] = Field(description="yes only if an acceptance criterion asks for exactly this change")
    criterion: str = Field(description="the id of that criterion, AC1, AC2, ...; empty when none asks for it")
    why: str = Field(description="by which words of the criterion, or why none asks for it")


class BreakingChange(StrictModel):
    """The statement whether a caller has to change."""

    breaks: bool
    why: str = Field(description="which callers and how; empty when nothing breaks")


class ReviewAnswer(StrictModel):
    """A whole review."""

    verdict: Literal["approved", "changes_requested"]
    summary: str = Field(description="two or three sentences for the author")
    findings: tuple[FindingAnswer, ...]
    criteria: tuple[CriterionAnswer, ...] = Field(description="every acceptance criterion exactly once")
    breaking_change: BreakingChange
    earlier: tuple[EarlierAnswer, ...] = Field((), description="every finding of the earlier rounds exactly once")
    expectations: tuple[ExpectationAnswer, ...] = Field((), description="every listed change to old tests exactly once")

    @property
    def unmet(self) -> tuple[str, ...]:
        """Ids of the criteria that are not met."""
        return tuple(criterion.id for criterion in self.criteria if not criterion.met)

    @property
    def unresolved(self) -> tuple[EarlierAnswer, ...]:
        """Findings of earlier rounds that are not resolved."""
        return tuple(one for one in self.earlier if not one.resolved)


class Checked(StrictModel):
    """Every acceptance criterion, checked once more by somebody who did not judge the code."""

    criteria: tuple[CriterionAnswer, ...] = Field(description="every acceptance criterion exactly once")

    @property
    def unmet(self) -> tuple[CriterionAnswer, ...]:
        """The criteria that the evidence does not show to be met."""
        return tuple(criterion for criterion in self.criteria if not criterion.met)


SCHEMA: Mapping[str, Any] = ReviewAnswer.model_json_schema()
CHECK_SCHEMA: Mapping[str, Any] = Checked.model_json_schema()
"""The JSON schemas that a coder is given: for a review, and for the second pass."""


def schema(listed: Sequence[str], tests: Sequence[str] = ()) -> Mapping[str, Any]:
    """Return the schema of a review that must judge these findings of earlier rounds and changes to these tests."""
    made: dict[str, Any] = copy.deepcopy(dict(SCHEMA))
    _restrict_ids(made, "earlier", ("EarlierAnswer", "id"), listed)
    _restrict_ids(made, "expectations", ("ExpectationAnswer", "test"), tests)
    return made


def _restrict_ids(made: dict[str, Any], field: str, part: tuple[str, str], ids: Sequence[str]) -> None:
    """Require `field` with these ids, or leave it out where there are none."""
    name, key = part
    if ids:
        made["required"] = [*made["required"], field]
        made["properties"][field].pop("default", None)
        made["$defs"][name]["properties"][key]["enum"] = list(ids)
    else:
        del made["properties"][field], made["$defs"][name]


def parse(
    raw: Mapping[str, Any] | None, criteria: Sequence[str], listed: Sequence[str] = (), tests: Sequence[str] = ()
) -> ReviewAnswer:
    """Return the answer if it is complete and does not contradict itself; raises `Unusable`.

    `criteria` are the ids that have to be checked, `listed` those of the earlier rounds' findings, `tests` the old
    tests that were asked about: for these, a missing answer counts as no.
    """
    answer = _validated(ReviewAnswer, raw)
    answer = answer.model_copy(update={"earlier": tuple(one for one in answer.earlier if one.id in listed)})
    problems = [*_missing_parts(answer, criteria), *_unjudged_findings(answer, listed), *_contradictions(answer, tests)]
    if problems:
        raise Unusable(problems)
    return answer


def parse_check(raw: Mapping[str, Any] | None, criteria: Sequence[str]) -> Checked:
    """Return the answer if it checks exactly these criteria and says why one is not met; raises `Unusable`."""
    checked = _validated(Checked, raw)
    problems = [one_line(fault, 200) for fault in _unchecked([one.id for one in checked.criteria], criteria)]
    if any(not criterion.note.strip() for criterion in checked.unmet):
        problems.append("criteria: one is not met and nobody says what is missing")
    if problems:
        raise Unusable(problems)
    return checked


def _validated(model: type[M], raw: Mapping[str, Any] | None) -> M:
    """Return an answer of the right shape; raises `Unusable`."""
    if raw is None:
        raise Unusable(["The answer was not a JSON object."])
    try:
        return model.model_validate_json(json.dumps(dict(raw)))
    except (ValueError, TypeError, RecursionError) as error:  # pydantic's ValidationError is a ValueError
        raise Unusable(_sentences(error)) from error


def _sentences(error: Exception) -> list[str]:
    """Return the faults in an answer's shape, for the coder that corrects it."""
    if not isinstance(error, ValidationError):
        return ["The answer is not JSON."]
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [one_line(f"{'.'.join(map(str, e['loc'])) or 'answer'}: {e['msg']}", 200) for e in found[:10]]


def _missing_parts(answer: ReviewAnswer, criteria: Sequence[str]) -> Iterator[str]:
    yield from _unchecked([criterion.id for criterion in answer.criteria], criteria)
    if not answer.summary.strip():
        yield "summary: it is empty"
    if len(answer.findings) > FINDINGS_LIMIT:
        yield f"findings: more than {FINDINGS_LIMIT}"
    if any(not finding.why.strip() for finding in answer.findings):
        yield "findings: one has no reason"


def _unchecked(checked: Sequence[str], criteria: Sequence[str]) -> Iterator[str]:
    """Yield the faults of an answer that has to check each of `criteria` once, and nothing else."""
    if missing := [id for id in criteria if id not in checked]:
        yield f"criteria: {', '.join(missing)} not checked"
    if unknown := sorted(set(checked) - set(criteria)):
        yield one_line(f"criteria: there is no {', '.join(unknown)}", 200)
    if len(set(checked)) < len(checked):
        yield "criteria: one is checked twice"


def _unjudged_findings(answer: ReviewAnswer, listed: Sequence[str]) -> Iterator[str]:
    judged = [one.id for one in answer.earlier]
    if missing := [id for id in listed if id not in judged]:
        yield one_line(f"earlier: {', '.join(missing)} not judged", 200)
    if len(set(judged)) < len(judged):
        yield "earlier: one is judged twice"


def _contradictions(answer: ReviewAnswer, tests: Sequence[str]) -> Iterator[str]:
    unmet, unresolved = answer.unmet, [one.id for one in answer.unresolved]
    unasked = set(tests) - {one.test for one in answer.expectations if one.asked == "yes"}
    if answer.verdict == "approved":
        if unmet:
            yield one_line(f"verdict: approved although {', '.join(unmet)} is not met", 200)
        if unresolved:
            yield one_line(f"verdict: approved although {', '.join(unresolved)} is not resolved", 200)
        if any(finding.severity in HOLDING for finding in answer.findings):
            yield "verdict: approved with a critical or major finding"
    elif not unmet and not unresolved and not answer.findings and not unasked:
        yield "verdict: changes requested, but nothing says which"
