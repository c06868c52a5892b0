"""YAML as plain values: its words, its places, its bounds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.document import MAX_BYTES, Unreadable, parse


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("off", "off"),
        ("~", None),
        ("", None),
        ("30", 30),
        ("-3", -3),
        ("010", 10),
        ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("1e999", "1e999"),
        (".inf", ".inf"),
        ("9" * 40, "9" * 40),
        ("'30'", "30"),
        ("!!str 30", "30"),
        ("[a, {b: 1}]", ["a", {"b": 1}]),
        ("{x: &a {p: 1}, y: *a}", {"x": {"p": 1}, "y": {"p": 1}}),
        ("{x: &a {p: 1, q: 2}, y: {<<: *a, q: 3}}", {"x": {"p": 1, "q": 2}, "y": {"q": 3, "p": 1}}),
        (
            "{x: &a {p: 1}, y: &b {<<: *a, q: 2}, z: {<<: [*b], r: 3}}",
            {"x": {"p": 1}, "y": {"q": 2, "p": 1}, "z": {"r": 3, "q": 2, "p": 1}},
        ),
    ],
)
def test_plain_values(text: str, value: Any) -> None:
    document = parse(text.encode())
    assert document.value == value
    assert type(document.value) is type(value)
    assert document.problems == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: !!python/object:os.system x", "a: the tag 'tag:yaml.org,2002:python/object:os.system' does not fit here"),
        ("a: !!set {b}", "a: the tag 'tag:yaml.org,2002:set' is not supported"),
        ("a: !!int many", "a: the tag 'tag:yaml.org,2002:int' does not fit here"),
        ("a: {1: b}", "a: a key must be a word"),
        ("{[x]: b}", "a key must be a word"),
        ("a: {<<: 5}", "a: '<<' needs a mapping"),
        ("{a: 1, a: 2}", "a: given twice, first in line 1"),
        ('a: "x\\u0000y"', "a: contains a control character"),
        ('a: "x\\ud800y"', "a: contains a control character"),
    ],
)
def test_what_does_not_fit_is_a_problem_and_reading_goes_on(text: str, message: str) -> None:
    assert [problem.message for problem in parse(text.encode()).problems] == [message]


def test_places_are_lines_and_columns_from_one() -> None:
    document = parse(b"\xef\xbb\xbfa:\n  - b: 1\n    c: [2, 3]\n")
    assert document.place(("a", 0, "c"), key=True) == (3, 5)
    assert document.place(("a", 0, "c", 1)) == (3, 12)
    assert document.place(("a", 0, "missing")) == (2, 5)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\n"
        + "".join(f"{n}: &{n} [{', '.join([f'*{p}'] * 9)}]\n" for p, n in zip("abcdefg", "bcdefgh", strict=True)),
        "a: &a {x: 1}\n"
        + "".join(
            f"{n}: &{n} {{<<: [{', '.join([f'*{p}'] * 9)}]}}\n" for p, n in zip("abcdefg", "bcdefgh", strict=True)
        ),
        "x" * (MAX_BYTES + 1),
        "&a {<<: *a}",
    ],
)
def test_no_document_takes_the_machine(text: str) -> None:
    with pytest.raises(Unreadable, match=r"more than|larger than|nested too deeply"):
        parse(text.encode())


@given(
    st.one_of(st.binary(max_size=200), st.text(alphabet="{}[]:,-&*!<'\"\\ab1\n\t #~|>%@?", max_size=60).map(str.encode))
)
def test_any_bytes_are_a_document_or_unreadable(data: bytes) -> None:
    try:
        found = parse(data).problems
    except Unreadable as error:
        found = [error.problem]
    assert all(problem.line >= 1 and problem.column >= 1 and problem.message for problem in found)
