"""A review that is incomplete or contradicts itself is not used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from fakes.reviewer_world import answer, changes, finding

from reviewer_agent.review.answer import FINDINGS_LIMIT, parse, schema
from shared.retry.answer_retry import Unusable

CRITERIA = ("AC1", "AC2")


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in answer().items() if key != name}


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def test_what_a_coder_should_answer_is_read() -> None:
    found = parse(changes(), CRITERIA)
    assert found.verdict == "changes_requested"
    assert [(f.path, f.line, f.severity) for f in found.findings] == [("directory/search.py", 2, "major")]
    assert parse(answer("approved", finding("minor"), finding("remark", None)), CRITERIA).verdict == "approved"
    assert parse(answer("changes_requested", unmet=["AC2"]), CRITERIA).criteria[1].met is False


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (None, "not a JSON object"),
        ({}, "verdict"),
        (without("verdict"), "verdict"),
        (without("criteria"), "criteria"),
        (without("breaking_change"), "breaking_change"),
        (answer("lgtm"), "verdict"),
        (answer(approve=True), "approve"),
        (answer(summary=7), "summary"),
        (answer(summary=" \n"), "summary: it is empty"),
        (answer(summary=nested(50_000)), "not JSON"),
        (answer(summary={1, 2}), "not JSON"),
        (answer(findings={"a": 1}), "findings"),
        (answer(findings=[finding("blocker")]), "findings.0.severity"),
        (answer(findings=[finding("minor", line="2")]), "findings.0.line"),
        (answer(findings=[finding("minor", line=float("nan"))]), "findings.0.line"),
        (answer(findings=[finding("minor", why=" ")]), "no reason"),
        (answer(findings=[finding("minor")] * (FINDINGS_LIMIT + 1)), f"more than {FINDINGS_LIMIT}"),
        (answer(criteria=[{"id": "AC1", "met": "yes", "note": ""}]), "criteria.0.met"),
        (answer(criteria=answer()["criteria"][:1]), "AC2 not checked"),
        (answer(criteria=[*answer()["criteria"], {"id": "AC9", "met": True, "note": ""}]), "there is no AC9"),
        (answer(criteria=answer()["criteria"] * 2), "checked twice"),
        (answer(breaking_change={"breaks": 0, "why": ""}), "breaking_change.breaks"),
        (answer("approved", unmet=["AC1"]), "approved although AC1 is not met"),
        (answer("approved", finding("critical")), "approved with a critical or major finding"),
        (answer("approved", finding("major")), "approved with a critical or major finding"),
        (answer("changes_requested"), "nothing says which"),
    ],
)
def test_a_malformed_answer_says_what_is_wrong(raw: Mapping[str, Any] | None, problem: str) -> None:
    with pytest.raises(Unusable) as caught:
        parse(raw, CRITERIA)
    assert problem in "\n".join(caught.value.faults)
    assert all("\n" not in sentence and len(sentence) <= 200 for sentence in caught.value.faults)


@pytest.mark.parametrize(("listed", "count"), [((), 4), (("F1", "F2"), 5)])
def test_the_schema_requires_everything_and_allows_nothing_else(listed: tuple[str, ...], count: int) -> None:
    made = schema(listed)
    shapes = [made, *made["$defs"].values()]
    assert len(shapes) == count
    assert ("earlier" in made["properties"]) is bool(listed)
    for shape in shapes:
        assert shape["additionalProperties"] is False
        assert sorted(shape["required"]) == sorted(shape["properties"])
