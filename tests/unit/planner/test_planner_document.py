"""A plan as YAML that a person edits: nothing is lost on the way, and what is no plan is named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fakes.planner_coder import plan

from planner_agent.plan import Plan, UnfitAnswer, read
from planner_agent.terminal import session


def planned(**changes: Any) -> Plan:
    return read(json.dumps(plan(**changes)))


@pytest.mark.parametrize(
    "summary",
    [
        "Short.",
        "One line that is longer than a terminal is wide, which YAML folds: no word of it is lost. " * 3,
        "# Not a comment\n\n- a list\n\n```\ncode: yes\n```",
        "yes",
        "2026-11-22",
        "null",
        "Ünïcode ✓ 'quoted' \"twice\": {a: b} & *c",
    ],
)
def test_what_is_written_is_read_back(summary: str) -> None:
    one = planned(summary=summary)
    assert session.read(session.write(one)) == one


def test_a_person_can_read_it() -> None:
    text = session.write(planned())
    assert text.startswith("# The plan as YAML.")
    assert "\nsteps:\n  - id: s1\n    title: Write tests\n" in text


@pytest.mark.parametrize("text", ["", "# nothing\n\n", session.write(planned()).partition("summary:")[0]])
def test_a_document_without_a_plan_is_none(text: str) -> None:
    assert session.read(text) is None


@pytest.mark.fault(21)
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("summary: [", "it is not YAML"),
        ("summary: a\nsummary: b\n", "the key 'summary' stands twice"),
        ("a: &x [1]\nb: *x\n", "an alias cannot be used here"),
        ("!!python/object/apply:os.getcwd []\n", "could not determine a constructor"),
        ("estimate_hours: .nan\n", "NaN is not a number"),
        ("? [a, b]\n: c\n", "a key has to be a word"),
        ("summary: {2026-11-22: a}\n", "a key is no text"),
        ("just words\n", "the answer"),
        ("summary: 2026-11-22\n", "complexity: Field required"),
        ("[" * 500, "it "),
        ("x" * 200_001, "are allowed"),
    ],
)
def test_what_is_no_plan_is_named(text: str, said: str) -> None:
    with pytest.raises(UnfitAnswer) as refused:
        session.read(text)
    assert said in str(refused.value)


def test_a_circle_is_named() -> None:
    text = session.write(planned()).replace("depends_on: []\n  - id: s2", "depends_on: [s2]\n  - id: s2")
    with pytest.raises(UnfitAnswer, match=r"s1 -> s2 -> s1|s2 -> s1 -> s2"):
        session.read(text)


def test_faults_stand_on_top_and_are_replaced_by_the_next_ones() -> None:
    once = session.refused("summary: a\n", ["first", "second"])
    assert once == "# ! first\n# ! second\nsummary: a\n"
    assert session.refused(once, ["third"]) == "# ! third\nsummary: a\n"
