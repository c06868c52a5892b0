"""Fences, headings and list items are found where CommonMark finds them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.text.markdown import LOG_LINES, Item, Line, fold_logs, heading, items, lines, open_fence, ticked, unticked


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


def test_a_tick_is_taken_out_of_list_items_only() -> None:
    text = "- [x] one\n  1. [X] two\n> * [x]\n[x] prose\n- [x]y\n```\n- [x] code\n```\n- [ ] open"
    assert unticked(text) == "- [ ] one\n  1. [ ] two\n> * [ ]\n[x] prose\n- [x]y\n```\n- [x] code\n```\n- [ ] open"
    assert unticked(unticked(text)) == unticked(text)


def test_only_the_chosen_boxes_are_ticked() -> None:
    text = "- [ ] one\n- [ ] two\n```\n- [ ] one\n```"
    assert ticked(text, lambda line: "one" in line) == "- [x] one\n- [ ] two\n```\n- [ ] one\n```"


LOG = [f"10:00:{second:02} GET /users 200" for second in range(LOG_LINES)]


@pytest.mark.parametrize(
    ("pasted", "folds"),
    [
        (["```", *LOG, "```"], True),
        (["```", *LOG[2:], "```"], True),
        (["```", *LOG[3:], "```"], False),
        (["~~~", "```", *LOG, "~~~"], True),
        (["```", *LOG[:9], "", *LOG[9:], "```"], True),
        (LOG, True),
        (LOG[1:], False),
        ([f"- {line}" for line in LOG], False),
        ([f"> {line}" for line in LOG], False),
        ([f"| {line} |" for line in LOG], False),
    ],
)
def test_a_pasted_log_is_folded_and_nothing_is_taken_out(pasted: list[str], folds: bool) -> None:
    text = "\n".join(["It fails:", "", *pasted, "", "Please mend it."])
    folded = fold_logs(text)
    assert folded.count("<details>") == folds
    assert "\n".join(pasted) in folded
    if not folds:
        assert folded == text
        return
    assert folded.startswith("It fails:\n\n<details><summary>")
    assert folded.endswith("</details>\n\nPlease mend it.")
    assert open_fence(folded) == ""


def test_a_log_that_is_not_closed_is_closed_inside_its_section() -> None:
    folded = fold_logs("\n".join(["```", *LOG]))
    assert folded.endswith("\n```\n\n</details>")


def test_a_long_block_without_an_end_takes_no_longer_than_a_short_one_for_each_line() -> None:
    begun = time.process_time()
    folded = fold_logs("\n".join(["```", *["a"] * 60_000]))
    assert time.process_time() - begun < 20  # it took minutes when each line looked at all lines before it
    assert folded.endswith("a\n```\n\n</details>")


@settings(deadline=None)
@given(st.lists(st.sampled_from(["```", "~~~~", "````x", "text", "", "- item", "   ~~~"]), max_size=80).map("\n".join))
def test_folding_loses_no_line(text: str) -> None:
    left = iter(fold_logs(text).split("\n"))
    assert all(line in left for line in text.split("\n")), "each line is there, in its order"
