"""Schemas in the subset that every vendor accepts, and answers that fit the caller's model again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from planner_agent import plan
from reviewer_agent.review.answer import SCHEMA as REVIEW
from shared.llm.structured import as_text, fitted, strict


class Leaf(BaseModel):
    """A part."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: Annotated[str, Field(max_length=5)]
    note: str = "none"
    line: int | None


class Tree(BaseModel):
    """A whole with every kind of property."""

    model_config = ConfigDict(extra="forbid")

    title: str
    leaf: Leaf
    maybe: Leaf | None = None
    leaves: tuple[Leaf, ...] = ()
    by_name: dict[str, str] = Field(default_factory=dict)


def objects(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every schema of an object in `schema`, and every other part with a key of JSON schema."""
    if isinstance(schema, Mapping):
        yield schema
        for part in schema.values():
            yield from objects(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from objects(part)


@pytest.mark.parametrize("schema", [Tree.model_json_schema(), plan.schema(), REVIEW])
def test_every_object_is_closed_and_all_of_its_properties_are_required(schema: dict[str, Any]) -> None:
    made = strict(schema)
    closed = [part for part in objects(made) if isinstance(part.get("properties"), dict) and "required" in part]
    assert len(closed) >= 2
    for part in closed:
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    text = as_text(made)
    assert '"default"' not in text
    assert "maxLength" not in text
    assert not [part for part in objects(made) if "$ref" in part and len(part) > 1]


def test_a_property_may_be_called_like_a_keyword() -> None:
    assert strict(Tree.model_json_schema())["properties"]["title"] == {"type": "string"}


def test_what_was_optional_may_be_null_and_is_left_out_again() -> None:
    schema = Tree.model_json_schema()
    made = strict(schema)
    leaf = made["$defs"]["Leaf"]["properties"]
    assert leaf["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}
    assert leaf["line"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    part = {"name": "a", "note": None, "line": None}
    answer = {"title": "t", "leaf": part, "maybe": part, "leaves": [part], "by_name": None}
    tree = Tree.model_validate(fitted(answer, schema))
    assert tree.leaf.note == "none"
    assert tree.leaves[0].line is None
    assert tree.maybe == tree.leaf
    assert tree.by_name == {}


def test_a_required_null_is_not_taken_away_so_that_it_is_refused() -> None:
    assert fitted({"title": None, "leaf": {}}, Tree.model_json_schema()) == {"title": None, "leaf": {}}


@pytest.mark.parametrize("answer", ["text", 3, None, [1], {"unknown": {"deep": 1}}])
def test_what_is_no_object_of_the_schema_is_left_as_it_is(answer: object) -> None:
    assert fitted(answer, Tree.model_json_schema()) == answer
