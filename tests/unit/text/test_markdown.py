"""Fences, headings and list items are found where CommonMark finds them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.markdown import Item, Line, heading, items, lines, open_fence


@pytest.mark.parametrize(
    ("text", "fenced"),
    [
        ("a\n```\nb\n```\nc", "-###-"),
        ("```py\n~~~\n``\n````\nc", "####-"),
        ("~~~ a`b\n```\n~~~ x\n~~~~\nc", "####-"),
        ("``` a`b\nc", "--"),
        ("    ```\nc", "--"),
        ("   ```\nopen\nto the end", "###"),
        ("`" * 61 + "\nc", "--"),
    ],
)
def test_fences(text: str, fenced: str) -> None:
    assert "".join("#" if line.fenced else "-" for line in lines(text)) == fenced


@settings(deadline=None)
@given(st.lists(st.sampled_from(["```", "~~~~", "````x", "text", "   ~~~", "``"])).map("\n".join))
def test_an_open_fence_can_be_closed(text: str) -> None:
    fence = open_fence(text)
    assert bool(fence) == [line.fenced for line in lines(f"{text}\nafter")][-1]
    assert open_fence(f"{text}\n{fence}") == ""
    assert "\n".join(line.text for line in lines(text)) == text


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (Line("## Goal"), (2, "Goal")),
        (Line("   ###### A # b ##  "), (6, "A # b")),
        (Line("#"), (1, "")),
        (Line("#no"), None),
        (Line("####### seven"), None),
        (Line("    # code"), None),
        (Line("\\# escaped"), None),
        (Line("# fenced", fenced=True), None),
    ],
)
def test_headings(line: Line, found: tuple[int, str] | None) -> None:
    assert heading(line) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- a\n* b\n+ c\n1. d\n2) e", [Item(char, boxed=False) for char in "abcde"]),
        ("- [ ] a\n- [x] b\n- [X] c", [Item(char, boxed=True) for char in "abc"]),
        ("- [] d\n- [ ]e", [Item("[] d", boxed=False), Item("[ ]e", boxed=False)]),
        ("- a\n  more\nlazy\n\n  apart\n\nnot", [Item("a more lazy apart", boxed=False)]),
        ("- a\n  - b\n    - c\n- d", [Item("a - b - c", boxed=False), Item("d", boxed=False)]),
        ("  - a\n   - b\n- c", [Item(char, boxed=False) for char in "abc"]),
        ("- a\n```\n- b\n```", [Item("a ``` - b ```", boxed=False)]),
        ("text\n- a\n# heading\nmore", [Item("a more", boxed=False)]),
        ("-a\n--", []),
    ],
)
def test_list_items(text: str, found: list[Item]) -> None:
    assert items(lines(text)) == found
