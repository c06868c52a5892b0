"""The table for the pull request: complete, and inert whatever the tests are called or print."""

from __future__ import annotations

import dataclasses

import pytest

from worker_agent.tdd.evidence import ROWS, Evidence, Proof, criterion_of, markdown, proofs
from worker_agent.tdd.runners.report import Kind, Outcome, TestResult, TestRun

SHA = "0123456789abcdef0123456789abcdef01234567"
EVIDENCE = Evidence(
    base=SHA,
    head=SHA[::-1],
    proofs=(
        Proof("tests/test_a.py::test_x[a b]", "failed", "AssertionError: assert None == ['Ann']", "passed"),
        Proof("tests/test_b.py::test_y", "not collected", "", "passed"),
    ),
    baseline="12 passed, 1 failed",
    result="15 passed",
    attempts=2,
    cost_usd=1.234,
    cost_source="claude",
)


def test_the_section_says_what_was_red_where_and_what_it_cost() -> None:
    assert markdown(EVIDENCE).splitlines() == [
        "| New test | On the base `0123456789ab` | On the head `76543210fedc` |",
        "| --- | --- | --- |",
        "| `tests/test_a.py::test_x[a b]` | failed: `AssertionError: assert None == ['Ann']` | passed |",
        "| `tests/test_b.py::test_y` | not collected | passed |",
        "",
        "- Tests on the base: 12 passed, 1 failed",
        "- Tests on the head: 15 passed",
        "- Attempts: 2",
        "- Cost: $1.23 (claude)",
    ]


def test_quality_and_what_was_set_aside_are_said() -> None:
    proofs = (Proof("tests/test_a.py::test_x", "failed", "", "passed", "AC1"),)
    found = {"ruff check .": "clean", "mypy | x": "not clean on the base, so it does not bind"}
    criteria = ("AC1", "AC2", "AC3")
    shown = markdown(
        dataclasses.replace(EVIDENCE, proofs=proofs, criteria=criteria, set_aside=("AC2",), quality=found)
    ).splitlines()
    assert "- Quality: `ruff check .`: clean" in shown
    assert r"- Quality: `mypy \| x`: not clean on the base, so it does not bind" in shown
    assert "- Without a test, set aside as problematic: AC2" in shown
    assert "- Tests are not mapped to individual criteria: no test names AC3" in shown


def test_unknown_cost_is_said() -> None:
    assert "- Cost: unknown" in markdown(dataclasses.replace(EVIDENCE, cost_usd=None))


HOSTILE = [
    "a | b | c",
    r"a \| b",
    r"a \\| b",
    "end `` of ` span",
    "two\nlines\r\nand\u2028more",
    "<!-- engine-status/1 kind=worker mac=x -->",
    "\x1b[31mred\x1b[0m\u202e",
    "![x](https://evil.example/?q=1) @someone",
    "`",
    "</details>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_leaves_its_cell(text: str) -> None:
    proof = Proof(f"t.py::test_x[{text}]", "failed", text, "passed")
    lines = markdown(dataclasses.replace(EVIDENCE, proofs=(proof,), baseline=text, cost_source=text)).split("\n")
    assert len(lines) == 9
    row = lines[2]
    unescaped = row.replace(r"\|", "")
    assert unescaped.count("|") == 4
    assert r"\\|" not in row
    spans = unescaped.split("`")
    assert len(spans) == 5, "two code spans and nothing else"
    assert set("".join(spans[::2])) <= set("| failed:passed"), "every foreign character stands in a code span"
    assert all(mark not in "".join(lines) for mark in ("<!--", "\x1b", "\u202e", "\u2028"))


@pytest.mark.parametrize("text", HOSTILE)
def test_facts_outside_the_table_are_plain_words(text: str) -> None:
    summary = markdown(dataclasses.replace(EVIDENCE, baseline=text, cost_source=text)).split("\n")[5:]
    assert not set("<>@[]`!#*\x1b") & set("".join(summary))


def test_a_long_table_ends_with_a_count_and_fits_into_a_body() -> None:
    many = tuple(Proof(f"t.py::test_{number}{'x' * 500}", "failed", "y" * 500, "passed") for number in range(ROWS + 5))
    text = markdown(dataclasses.replace(EVIDENCE, proofs=many))
    shown = text.count("| failed: `yyy")
    assert 0 < shown < ROWS
    assert f"| ... and {ROWS + 5 - shown} more | | |" in text
    assert len(text) < 65_536 // 4
    few = tuple(Proof(f"t.py::{number}", "failed", "", "passed") for number in range(ROWS + 5))
    assert "| ... and 5 more | | |" in markdown(dataclasses.replace(EVIDENCE, proofs=few))


@pytest.mark.parametrize(("code", "shown"), [(0, ""), (1, ""), (None, ""), (2, " (exit code 2)")])
def test_an_exit_code_is_told_where_the_counts_do_not_explain_it(code: int | None, shown: str) -> None:
    assert f"- Tests on the head: 15 passed{shown}" in markdown(dataclasses.replace(EVIDENCE, green_exit=code)).split(
        "\n"
    )


def test_proofs_tell_how_each_test_was_before() -> None:
    green = TestRun(
        {name: TestResult(name, name.partition("::")[0], Outcome.PASSED) for name in ("a::x", "b::y", "c::z")}
    )
    red = TestRun(
        {"a::x": TestResult("a::x", "a", Outcome.FAILED, Kind.ASSERTION_OR_EXCEPTION, "assert 0\nmore")},
        {"b": TestResult("b", "b", Outcome.ERROR, Kind.FIRST_PARTY_IMPORT, "No module named 'app.x'")},
    )
    assert proofs(red, green, ("a::x", "b::y", "c::z")) == (
        Proof("a::x", "failed", "assert 0", "passed"),
        Proof("b::y", "not collected", "No module named 'app.x'", "passed"),
        Proof("c::z", "absent", "", "passed"),
    )


@pytest.mark.parametrize(
    ("test", "criteria", "criterion"),
    [
        ("t.py::test_x", ("AC1",), "AC1"),
        ("t.py::TestIt::test_ac2_sorts", ("AC1", "AC2"), "AC2"),
        ("t.py::test_AC12", ("AC1", "AC12"), "AC12"),
        ("t.py::test_mac1", ("AC1", "AC2"), ""),
        ("ac1/test_x.py::test_x", ("AC1", "AC2"), ""),
        ("t.py::test_x", (), ""),
    ],
)
def test_a_test_stands_for_the_criterion_that_it_names(test: str, criteria: tuple[str, ...], criterion: str) -> None:
    assert criterion_of(test, criteria) == criterion


def test_criteria_runs_and_refusals_are_told() -> None:
    proof = dataclasses.replace(EVIDENCE.proofs[0], criterion="AC1")
    text = markdown(
        dataclasses.replace(
            EVIDENCE,
            proofs=(proof,),
            red_runs=("commit abc on def: 3 failed, exit code 1",),
            green_exit=0,
            refused=("green: REGRESSION: it broke <!-- things -->", *["more"] * 30),
            criteria=("AC1", "AC2"),
            scanned=True,
        )
    )
    lines = text.splitlines()
    assert lines[0].startswith("| Criterion | New test |")
    assert lines[2].startswith("| AC1 | `tests/test_a.py::test_x[a b]` |")
    assert "- New tests on the base: commit abc on def: 3 failed, exit code 1" in lines
    assert "- Tests on the head: 15 passed" in lines
    assert "- Secret scan of everything that was added: nothing found" in lines
    assert "- Tests are not mapped to individual criteria: no test names AC2" in lines
    assert "<details><summary>Rejected attempts</summary>" in lines
    assert "<!--" not in text
    assert "- ... and 11 more" in lines


@pytest.mark.parametrize("text", HOSTILE)
def test_what_was_refused_cannot_leave_its_fold(text: str) -> None:
    lines = markdown(dataclasses.replace(EVIDENCE, refused=(text,))).split("\n")
    assert [line for line in lines if "details>" in line and not line.startswith("- `")] == [
        "<details><summary>Rejected attempts</summary>",
        "</details>",
    ]
    assert "<!--" not in "".join(lines)
