"""The trials against the tests, as the pull request lists them: complete, and inert whatever the names of tests are."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from tdd_evidence_scene import EVIDENCE, HOSTILE

from shared.git.notes import ChangedTest, ProofNote
from shared.text import unfolded
from shared.text.markdown import heading, lines
from worker_agent.tdd.evidence import CHANGED, DIFFS_CHARS, attention, changed_expectations, markdown

WHAT = "its expectation changed: the old version fails on the head, the new one fails on the base"
TRIED = ProofNote(
    damages=16,
    noticed=14,
    unnoticed=("`limit + 1` became `limit + 2` in `page.py:31`", "`a` became `b` in `c.py:3`"),
    changed_tests=(ChangedTest("tests/test_a.py::test_x", WHAT, "-    assert page() == 1\n+    assert page() == 2\n"),),
    removed_tests=("tests/test_a.py::test_gone",),
    weak=("tests/test_b.py::test_y: it passes although the code was damaged",),
    unstable=("tests/test_c.py::test_z",),
    pinned=("setup.cfg",),
    doubts=("a.py::f: it is new, and no test fails when it raises",),
    remarks=("The time for damage was over before every test had noticed some.",),
    suite_runs=2,
    local_suite="changed",
)


def test_everything_that_was_tried_has_its_line() -> None:
    assert markdown(dataclasses.replace(EVIDENCE, tried=TRIED)).split("\n")[7:] == [
        "- No new test fails when the code is broken here: "
        "`limit + 1` became `limit + 2` in `page.py:31`, `a` became `b` in `c.py:3`",
        "- Removed tests: `tests/test_a.py::test_gone`",
        "- Please decide: a.py::f: it is new, and no test fails when it raises",
        "",
        "**Existing tests that expect something else now:**",
        "",
        f"- `tests/test_a.py::test_x`: {WHAT}",
        "",
        "<details><summary>Difference</summary>",
        "",
        "~~~diff",
        "-    assert page() == 1",
        "+    assert page() == 2",
        "~~~",
        "",
        "</details>",
        "",
        "<details><summary>Evidence: 2 attempts, $1.23</summary>",
        "",
        "- The changed code was broken in 16 ways, and the new tests noticed 14",
        "- Changed test configuration, not used for these runs: `setup.cfg`",
        "- Flaky tests, not counted: `tests/test_c.py::test_z`",
        "- New tests that prove nothing, not counted: "
        "`tests/test_b.py::test_y: it passes although the code was damaged`",
        "- The time for damage was over before every test had noticed some.",
        "- Runs of the whole test suite: 2",
        "- Only the tests concerned were run here; CI runs all of them (`local_suite: changed`)",
        "- Cost according to: claude",
        "- No secrets found in the added lines",
        "",
        "</details>",
    ]


@pytest.mark.parametrize("nothing", [None, ProofNote()])
def test_where_nothing_was_tried_nothing_is_told(nothing: ProofNote | None) -> None:
    assert markdown(dataclasses.replace(EVIDENCE, tried=nothing)) == markdown(EVIDENCE)


def test_long_lists_end_with_a_count_and_a_limit() -> None:
    many = tuple(f"t.py::test_{number}" for number in range(12))
    (line,) = attention(ProofNote(removed_tests=many))
    assert line.endswith("`t.py::test_4`, and 7 more")
    changed = tuple(ChangedTest(f"t.py::test_{number}", WHAT, "+ line\n" * 280) for number in range(CHANGED + 5))
    text = "\n".join(changed_expectations(ProofNote(changed_tests=changed)))
    assert text.count("<details>") == 3, "as many differences as have a place"
    assert text.count(WHAT) == CHANGED
    assert text.endswith("- ... and 5 more")
    assert len(text) < DIFFS_CHARS + CHANGED * 500


@pytest.mark.parametrize("text", [*HOSTILE, "~~~\n</details>\n# Free", "/merge", "ACK: x", "Fixes #1", "~" * 60])
def test_no_text_of_a_test_leaves_its_place(text: str) -> None:
    changed = ChangedTest(f"t.py::{text}", text, text)
    lists: dict[str, Any] = dict.fromkeys(
        ("unnoticed", "removed_tests", "weak", "unstable", "pinned", "remarks"), (text,)
    )
    proof = dataclasses.replace(ProofNote(2, 1, changed_tests=(changed,)), **lists)
    shown = markdown(dataclasses.replace(EVIDENCE, tried=proof))
    assert [found[1] for line in lines(shown) if (found := heading(line))] == []
    for active in ("<!--", "\x1b", "\u202e", "\u2028", "ACK:", "\n/merge", "Fixes #1"):
        assert active not in shown
    outside = unfolded(shown)
    assert all(mark not in "".join(outside.split("`")[::2]) for mark in ("<", "@", "#1", "!["))
