"""A specification survives being written and read, and any text can be read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shared.marks import Key, Keyring
from shared.specification import (
    BODY_LIMIT,
    Criterion,
    Provenance,
    Settings,
    Specification,
    authentic,
    body_sha256,
    read,
    write,
)
from shared.specification.writing import TooLong

KEYS = Keyring(7, (Key.of(b"first"), Key.of(b"second")))
PLAN = "0123456789abcdef" * 4


def written(specification: Specification, keys: Keyring = KEYS) -> str:
    return write(specification, keys=keys, parent=12, key="12-2", plan_sha=PLAN)


SNIPPETS = (
    *("## Acceptance criteria", "# Goal", "\\# no", "- [ ] AC1: x", "- [x] y", "[ ] ", "```", "~~~~", "````py", "`", "\\"),
    *("Depends on #4", "blocked by #5, #6 and #7", "Part of #12", "part of \\#9", "@tdd-max-attempts 5", "\\@tdd-timeout 9"),
    *("<!-- workflow: max_attempts: 3 -->", "<!--", "-->", " mac= -->", " mac\\=a -->", "<!-- engine-spec/1 mac=x -->"),
    *("![a](b)", "![", "](", '[a](b "c")', "[x]:", "[x]: y", "data:a/b,c", "data:;x,", '<img alt="q">', "\n", " ", "\t", "\r"),
    *("\u202e", "\u200b", "\x1b[31m", "\ud800", "\x00", "1. one", "    code", "  - nested", "**AC2:** bold", "AC3: z", "*a*", "_b_"),
)
texts = st.lists(st.one_of(st.sampled_from(SNIPPETS), st.text(max_size=6)), max_size=14).map("".join) | st.lists(
    st.sampled_from(SNIPPETS), max_size=14
).map("\n".join)
numbers = st.integers(1, 10**9 - 1)


@st.composite
def specifications(draw: st.DrawFn) -> Specification:
    criteria = draw(st.lists(texts, max_size=4))
    ids = draw(st.permutations(range(1, len(criteria) + 3)))
    return Specification(
        goal=draw(texts),
        criteria=tuple(Criterion(f"AC{n}", text) for n, text in zip(ids, criteria, strict=False)),
        files=tuple(draw(st.lists(texts, max_size=3))),
        may_change=tuple(draw(st.lists(texts, max_size=3))),
        out_of_scope=tuple(draw(st.lists(texts, max_size=3))),
        depends_on=tuple(draw(st.lists(numbers, max_size=3))),
        part_of=draw(st.none() | numbers),
        settings=Settings(
            draw(st.none() | st.integers(1, 20)),
            draw(st.none() | st.integers(1, 1440)),
            draw(st.none() | st.floats(0.01, 1000)),
        ),
    )


@given(specifications())
def test_reading_what_was_written_gives_the_same(specification: Specification) -> None:
    body = written(specification)
    found = read(body)
    assert found == specification
    assert found.remarks == ()
    assert found.trailer is not None
    assert (found.trailer.parent, found.trailer.key, found.trailer.plan) == (12, "12-2", PLAN[:8])
    assert authentic(body, KEYS) is Provenance.ENGINE


@given(texts | st.text())
def test_any_text_can_be_read_and_written_down_again(body: str) -> None:
    found = read(body)
    assert found.criteria
    assert read(written(found)) == found


@given(specifications())
def test_the_constructor_is_a_normal_form(specification: Specification) -> None:
    assert replace(specification) == specification
