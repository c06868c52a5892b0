"""The documents sent to GraphQL, and the part of it that the lab serves, judged by GitHub's own schema.

`github-graphql-schema.graphql.gz` is `schema.graphql` of the npm package @octokit/graphql-schema 15.26.1.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from graphql import GraphQLNamedType, GraphQLSchema, build_schema, is_input_object_type, parse, validate
from graphql.type import is_interface_type, is_object_type, is_specified_scalar_type

from lab.github.routes.graphql_schema import SCHEMA
from shared.github.item_changes import ItemChange, document
from shared.github.pulls import ENQUEUE, QUEUED
from shared.github.reviews import HIDE, RESOLVE, THREADS

CHANGES = [
    [ItemChange(1, off=("a", "b"))],
    [ItemChange(1, on=("a",), off=("b",))],
    [ItemChange(1, on=("a",)), ItemChange(2, "text", close=True, on=("a",), off=("b",)), ItemChange(3, "text")],
    [ItemChange(1, close=True)],
]
"""Every part of a change: alone, beside others, and of several items."""

PUBLISHED = Path(__file__).parents[2] / "data" / "github-graphql-schema.graphql.gz"


@pytest.fixture(scope="module")
def published() -> GraphQLSchema:
    return build_schema(gzip.decompress(PUBLISHED.read_bytes()).decode(), assume_valid=True)


def test_each_document_is_valid_by_githubs_schema(published: GraphQLSchema) -> None:
    for sent in (ENQUEUE, QUEUED, THREADS, RESOLVE, HIDE, *map(document, CHANGES)):
        assert validate(published, parse(sent)) == []
        assert validate(build_schema(SCHEMA), parse(sent)) == []


def test_a_wrong_one_would_be_noticed(published: GraphQLSchema) -> None:
    assert validate(published, parse(ENQUEUE.replace("expectedHeadOid", "headOid"))) != []
    assert validate(published, parse(RESOLVE.replace("threadId", "thread"))) != []
    assert validate(published, parse(HIDE.replace("OUTDATED", "OLD"))) != []
    changes = document(CHANGES[2])
    for right, wrong in (("issueId", "id"), ("COMPLETED", "DONE"), ("updateIssue", "editIssue"), ("ID!]!", "ID]")):
        assert validate(published, parse(changes.replace(right, wrong))) != []


def test_the_lab_serves_nothing_that_github_does_not(published: GraphQLSchema) -> None:
    served = build_schema(SCHEMA)
    for name, one in served.type_map.items():
        if name.startswith("__") or is_specified_scalar_type(one):
            continue
        real = published.type_map[name]
        for field, type_ in _fields(one).items():
            assert _fields(real).get(field) == type_, f"{name}.{field}"


def _fields(one: GraphQLNamedType) -> dict[str, str]:
    """Return each field with its type, and each argument with its type."""
    if is_input_object_type(one):
        return {name: str(field.type) for name, field in one.fields.items()}
    if not (is_object_type(one) or is_interface_type(one)):
        return {}
    found = {name: str(field.type) for name, field in one.fields.items()}
    for name, field in one.fields.items():
        found |= {f"{name}({argument})": str(value.type) for argument, value in field.args.items()}
    return found
