"""Answers of the demonstration's script: each fits the strict schema by which a real program binds a model's answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest

from lab.demo.stories import STORIES, scenario
from planner_agent import plan
from reviewer_agent.review import answer
from shared.llm.port import CoderCall
from shared.llm.scenario import Scenario
from shared.llm.structured import strict


def schema_of(call: CoderCall, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a program enforces; that of a review names the findings of the earlier rounds."""
    if call is CoderCall.REVIEW:
        return answer.schema([one["id"] for one in given.get("earlier", ())])
    return {CoderCall.PLAN: plan.schema(), CoderCall.CHECK_CRITERIA: answer.CHECK_SCHEMA}[call]


@pytest.mark.parametrize("story", STORIES, ids=lambda one: one.title)
def test_every_answer_fits_the_schema_that_a_program_enforces(story: Any) -> None:
    told = [one for one in Scenario.parse(scenario([story])).answers if one.answer is not None]
    assert {one.call for one in told} == {CoderCall.PLAN, CoderCall.REVIEW, CoderCall.CHECK_CRITERIA}
    for one in told:
        given = json.loads(one.answer or "")
        faults = list(jsonschema_rs.validator_for(strict(schema_of(one.call, given))).iter_errors(given))
        assert [f"{fault.instance_path}: {fault.message}" for fault in faults] == [], one.call
