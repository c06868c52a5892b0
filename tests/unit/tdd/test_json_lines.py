"""Output in which lines of JSON and of text are mixed."""

from __future__ import annotations

import pytest

from worker_agent.tdd.runners.json_report import json_object, lines


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"", []),
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\r\ntwo", ["one", "two"]),
        (b"one\n\ntwo\n", ["one", "", "two"]),
        ('{"said": "a\u2028b"}\n'.encode(), ['{"said": "a\u2028b"}']),
        (b"a\x0cb\n", ["a\x0cb"]),
        (b"\xff\n", ["�"]),
    ],
)
def test_lines_end_where_a_line_ends(data: bytes, found: list[str]) -> None:
    assert lines(data) == found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"Action": "run"}', {"Action": "run"}),
        ('{"said": "a\u2028b"}', {"said": "a\u2028b"}),
        ("--- FAIL: TestSum", {}),
        ("[1, 2]", {}),
        ('"text"', {}),
        ('{"cut off', {}),
        ('{"a": ' + "[" * 100_000, {}),
    ],
)
def test_only_an_object_counts(line: str, found: dict[str, object]) -> None:
    assert json_object(line) == found
