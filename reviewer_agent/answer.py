"""What a review answers: its schema, and the rules that a schema cannot say (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shared.governance.repair import Unusable
from shared.text import one_line

FINDINGS_LIMIT = 50
"""More findings than this are no review; GitHub refuses bodies above 65,536 characters."""

HOLDING = frozenset({"critical", "major"})
"""Severities that hold a merge back."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FindingAnswer(_Part):
    """One thing that was found."""

    severity: Literal["critical", "major", "minor", "remark"] = Field(
        description="critical and major must be different before merging; minor and remark do not hold the merge back"
    )
    path: str = Field(description="the file, from the root of the repository")
    line: int | None = Field(description="a line of the new version that stands in the diff; null when there is none")
    why: str = Field(description="what goes wrong, and for whom")
    suggestion: str = Field(description="what to do instead; may be empty")


class CriterionAnswer(_Part):
    """One acceptance criterion, checked."""

    id: str = Field(description="AC1, AC2, ...")
    met: bool
    note: str = Field(description="by which code and which test, or what is missing")


class BreakingChange(_Part):
    """Whether a caller has to change."""

    breaks: bool
    why: str = Field(description="which callers and how; empty when nothing breaks")


class Answer(_Part):
    """A whole review."""

    verdict: Literal["approved", "changes_requested"]
    summary: str = Field(description="two or three sentences for the author")
    findings: tuple[FindingAnswer, ...]
    criteria: tuple[CriterionAnswer, ...] = Field(description="every acceptance criterion exactly once")
    breaking_change: BreakingChange


SCHEMA: Mapping[str, Any] = Answer.model_json_schema()
"""The JSON schema that a coder is given."""


def parse(raw: Mapping[str, Any] | None, criteria: Sequence[str]) -> Answer:
    """The answer, when it is complete and does not contradict itself; raises `Unusable`.

    `criteria` are the ids that have to be checked.
    """
    if raw is None:
        raise Unusable(["The answer was not a JSON object."])
    try:
        answer = Answer.model_validate_json(json.dumps(dict(raw)))
    except (ValueError, TypeError, RecursionError) as error:  # pydantic's ValidationError is a ValueError
        raise Unusable(_sentences(error)) from error
    problems = [*_incomplete(answer, criteria), *_contradictions(answer)]
    if problems:
        raise Unusable(problems)
    return answer


def _sentences(error: Exception) -> list[str]:
    if not isinstance(error, ValidationError):
        return ["The answer is not JSON."]
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [one_line(f"{'.'.join(map(str, e['loc'])) or 'answer'}: {e['msg']}", 200) for e in found[:10]]


def _incomplete(answer: Answer, criteria: Sequence[str]) -> Iterator[str]:
    checked = [criterion.id for criterion in answer.criteria]
    if missing := [id for id in criteria if id not in checked]:
        yield f"criteria: {', '.join(missing)} not checked"
    if unknown := sorted(set(checked) - set(criteria)):
        yield one_line(f"criteria: there is no {', '.join(unknown)}", 200)
    if len(set(checked)) < len(checked):
        yield "criteria: one is checked twice"
    if not answer.summary.strip():
        yield "summary: it is empty"
    if len(answer.findings) > FINDINGS_LIMIT:
        yield f"findings: more than {FINDINGS_LIMIT}"
    if any(not finding.why.strip() for finding in answer.findings):
        yield "findings: one has no reason"


def _contradictions(answer: Answer) -> Iterator[str]:
    unmet = [criterion.id for criterion in answer.criteria if not criterion.met]
    if answer.verdict == "approved":
        if unmet:
            yield one_line(f"verdict: approved although {', '.join(unmet)} is not met", 200)
        if any(finding.severity in HOLDING for finding in answer.findings):
            yield "verdict: approved with a critical or major finding"
    elif not unmet and not answer.findings:
        yield "verdict: changes requested, but nothing says which"
