"""Plans that are accepted, and the faults that are named in all other answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from fakes.planner_coder import PLAN, plan

from lab.demo.stories import STORIES, scenario
from planner_agent.plan import FAULTS_SHOWN, PLAN_LIMIT, UnfitAnswer, as_text, dump, read, schema
from shared.specification import Size, SpecificationKind

SPECIFICATION: dict[str, Any] = PLAN["specifications"][1]


def faults(answer: object) -> str:
    """Return the faults of an answer, which must be refused."""
    with pytest.raises(UnfitAnswer) as caught:
        read(answer if isinstance(answer, str) else json.dumps(answer))
    assert 1 <= len(caught.value.faults) <= FAULTS_SHOWN
    return "\n".join(caught.value.faults)


def specifications(**depends_on: list[str]) -> dict[str, Any]:
    """Return a plan whose specifications have these keys and dependencies."""
    return plan(specifications=[SPECIFICATION | {"key": key, "depends_on": on} for key, on in depends_on.items()])


def test_a_plan_is_read_as_it_was_answered() -> None:
    read_back = read(json.dumps(PLAN))
    assert read_back.steps[1].depends_on == ("s1",)
    assert read_back.specifications[0].may_change == ()
    assert read_back.questions == ()
    assert [(number, one.key) for number, one in read_back.ordered] == [(2, "search"), (1, "export")]


def test_the_plan_of_the_demo_is_accepted() -> None:
    scripted = next(entry for entry in yaml.safe_load(scenario(STORIES[:1])) if entry["call"] == "plan")
    (only,) = read(json.dumps(scripted["answer"])).specifications
    assert only.title == "Search users by name"
    assert len(only.criteria) == 3


def test_a_specification_has_a_kind_and_without_one_it_is_a_feature() -> None:
    moved = SPECIFICATION | {"key": "move", "kind": "refactoring"}
    found = read(json.dumps(plan(specifications=[SPECIFICATION, moved])))
    assert [one.kind for one in found.specifications] == [SpecificationKind.FEATURE, SpecificationKind.REFACTORING]
    written = json.loads(dump(found))["specifications"]
    assert [one.get("kind") for one in written] == [None, "refactoring"]
    assert read(dump(found)) == found
    assert "removal" in json.dumps(schema())


def test_a_specification_may_say_how_hard_it_is() -> None:
    found = read(json.dumps(plan(specifications=[SPECIFICATION, SPECIFICATION | {"key": "move", "size": "large"}])))
    assert [one.size for one in found.specifications] == [None, Size.LARGE]
    written = json.loads(dump(found))["specifications"]
    assert [one.get("size", "-") for one in written] == ["-", "large"], "older agents know no sizes"
    assert read(dump(found)) == found
    said = schema()["$defs"]["Size"]["description"]
    assert said == "The difficulty of implementing a specification.", "a backend is not told what a size costs"


@pytest.mark.parametrize("kind", ["bugfix", "Refactoring", "", None, 3])
def test_an_unknown_kind_is_refused_with_those_that_there_are(kind: object) -> None:
    said = faults(plan(specifications=[SPECIFICATION | {"kind": kind}]))
    assert "specifications.0.kind: Input should be 'feature', 'refactoring', 'documentation', 'removal'" in said


def test_what_is_written_is_read_back() -> None:
    planned = read(json.dumps(plan(summary="Sie <b>suchen</b> @ada\n```\nx")))
    text = dump(planned)
    assert read(text) == planned
    assert not set("<>@\n") & set(text)
    assert planned.summary.endswith("\n```")


@pytest.mark.fault(21)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is not JSON and nothing else: Expecting value at line 1, column 1"),
        ("{'summary': 1}", "it is not JSON"),
        (f"```json\n{json.dumps(PLAN)}\n```", "it is not JSON"),
        (f"{json.dumps(PLAN)}\nI hope this helps.", "Extra data at line 2, column 1"),
        ("[]", "the answer: "),
        ("null", "the answer: "),
        ('{"summary": "a", "summary": "b"}', "the key 'summary' stands twice in one object"),
        ('{"estimate_hours": NaN}', "NaN is not a number in JSON"),
        ('{"estimate_hours": -Infinity}', "-Infinity is not a number in JSON"),
        ("[" * 100_000, "it is nested too deeply"),
        ('{"steps":' * 20_000, "it is nested too deeply"),
        (" " * 200_001, f"it has 200,001 characters, {PLAN_LIMIT:,} are allowed"),
    ],
)
def test_what_is_not_json_is_refused(text: str, said: str) -> None:
    assert said in faults(text)


@pytest.mark.fault(21)
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({}, "summary: Field required"),
        (plan(mood="good"), "mood: Extra inputs are not permitted"),
        (plan(complexity="tiny"), "complexity: Input should be 'low', 'medium' or 'high'"),
        (plan(estimate_hours="2"), "estimate_hours: Input should be a valid number"),
        (plan(estimate_hours=True), "estimate_hours: Input should be a valid number"),
        (plan(estimate_hours=-1), "estimate_hours: "),
        (plan(summary="<!-- hidden -->"), "summary: Value error, says nothing"),
        (plan(summary="x" * 4001), "summary: String should have at most 4000 characters"),
        (plan(steps=[]), "steps: Tuple should have at least 1 item"),
        (plan(steps=PLAN["steps"] * 500), "steps: Tuple should have at most 7 items"),
        (plan(specifications=[]), "specifications: "),
        (plan(specifications=[SPECIFICATION] * 21), "specifications: Tuple should have at most 20 items"),
        (plan(specifications=[SPECIFICATION | {"criteria": []}]), "specifications.0.criteria: "),
        (plan(specifications=[SPECIFICATION | {"criteria": [" "]}]), "specifications.0.criteria.0: "),
        (plan(specifications=[SPECIFICATION | {"key": "a b"}]), "specifications.0.key: "),
        (plan(specifications=[SPECIFICATION | {"title": "t" * 201}]), "specifications.0.title: "),
        (plan(ambiguities=[{"question": "Q?", "blocking": "yes"}]), "ambiguities.0.blocking: "),
    ],
)
def test_what_does_not_fit_the_schema_is_named(answer: dict[str, Any], said: str) -> None:
    assert said in faults(answer)


@pytest.mark.fault(21)
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (specifications(a=["a"]), "the specification 'a' depends on itself"),
        (specifications(a=["b"], b=["c"], c=["a"]), "the specifications a -> b -> c -> a depend on each other"),
        (specifications(a=["x"]), "the specification 'a' depends on 'x', which does not exist"),
        (plan(specifications=[SPECIFICATION, SPECIFICATION]), "two specifications are called 'search'"),
        (plan(steps=[PLAN["steps"][0] | {"depends_on": ["s1"]}]), "the step 's1' depends on itself"),
        (plan(specifications=[SPECIFICATION | {"goal": "g" * 4000, "key": f"k{n}"} for n in range(7)]), "say less"),
    ],
)
def test_what_contradicts_itself_is_named(answer: dict[str, Any], said: str) -> None:
    assert said in faults(answer)


def test_every_contradiction_is_named_at_once() -> None:
    assert len(faults(specifications(a=["a", "x"], b=["y"])).splitlines()) == 3


def test_a_mapping_that_is_nested_too_deeply_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(UnfitAnswer, match="nested too deeply"):
        as_text(deep)
    while deep:  # taken apart by hand: the interpreter would recurse
        deep = deep["a"]


def test_hidden_text_and_secrets_do_not_get_in() -> None:
    secret = "ghp_" + "a" * 36
    planned = read(json.dumps(plan(summary=f"Use {secret}\u202e <!-- and obey --> now")))
    assert planned.summary == "Use ***   now"


def test_the_schema_refuses_what_the_reading_refuses() -> None:
    described = schema()
    assert described["additionalProperties"] is False
    assert set(described["required"]) == {"summary", "complexity", "estimate_hours", "steps", "specifications"}
