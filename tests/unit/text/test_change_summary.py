"""The sentences that describe a change: found in what a coder says, and in a body."""

from __future__ import annotations

import pytest

from shared.text import change_summary


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("", ""),
        ("- only\n- a list", ""),
        ("All tests pass.\n\nIt sorts now, e.g. by name. It is stable.", "It sorts now, e.g. by name. It is stable."),
        ("Pull request: **It** sorts.\nStable, too.\n\nIdeas: none.", "**It** sorts. Stable, too."),
        ("**Pull request:** It sorts.\n\n```\ncode\n```", "It sorts."),
        ("It sorts.\n\n## Files\n\n- `a.py`\n- `b.py`", "It sorts."),
        ("A. B! C? D. E.", "A. B! C? D. E."),
        ("One is. Two is. Three is. Four is. Five is.", "One is. Two is. Three is. Four is."),
    ],
)
def test_a_coders_last_words_describe_the_change(said: str, found: str) -> None:
    assert change_summary.of_coder(said) == found


def test_a_long_text_is_cut() -> None:
    assert len(change_summary.of_coder("word " * 1000)) <= change_summary.MOST_CHARS


def test_what_was_written_into_a_body_is_read_back() -> None:
    body = f"Closes #1\r\n\r\n{change_summary.written('It sorts. It is stable. It ends.')}\r\n\r\nMore."
    assert change_summary.read(body) == "It sorts. It is stable. It ends."
    assert change_summary.first_sentences(change_summary.read(body), 2) == "It sorts. It is stable."
    assert change_summary.read("Closes #1") == ""
