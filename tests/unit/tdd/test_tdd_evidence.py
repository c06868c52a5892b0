"""The table for the pull request: complete, and inert whatever the tests are called or print."""

from __future__ import annotations

import dataclasses

import pytest
from tdd_evidence_scene import EVIDENCE, HOSTILE

from worker_agent.tdd.evidence import ROWS, Proof, covered, criterion_of, markdown, proofs
from worker_agent.tdd.runners.test_run import CaseOutcome, FailureKind, TestResult, TestRun


def test_the_section_says_what_was_red_where_and_what_it_cost() -> None:
    assert markdown(EVIDENCE).splitlines() == [
        "**15 passed** at 7654321; 12 passed, 1 failed on the base. These tests fail without the change:",
        "",
        "| Test | Before (0123456) | After (7654321) |",
        "| --- | --- | --- |",
        "| `tests/test_a.py::test_x[a b]` | failed: `AssertionError: assert None == ['Ann']` | passed |",
        "| `tests/test_b.py::test_y` | cannot be loaded | passed |",
        "",
        "<details><summary>Evidence: 2 attempts, $1.23</summary>",
        "",
        "- Cost according to: claude",
        "- No secrets found in the added lines",
        "",
        "</details>",
    ]


def test_a_change_without_a_new_test_has_no_table() -> None:
    shown = markdown(dataclasses.replace(EVIDENCE, proofs=(), attempts=1)).splitlines()
    assert shown[0].endswith("on the base. This change needs no new test.")
    assert shown[2] == "<details><summary>Evidence: 1 attempt, $1.23</summary>"


def test_each_criterion_has_its_row_and_a_missing_test_is_said() -> None:
    proofs = (
        Proof("tests/test_a.py::test_y", "failed", "", "passed", "AC2"),
        Proof("tests/test_a.py::test_x", "failed", "", "passed", "AC1"),
        Proof("tests/test_a.py::test_z", "failed", "", "passed", "AC2"),
    )
    found = {"ruff check .": "clean", "mypy | x": "not clean on the base, so it does not bind"}
    criteria = {"AC1": "It finds.", "AC2": "It sorts | <b>all</b>.", "AC3": "It fits.", "AC4": ""}
    evidence = dataclasses.replace(EVIDENCE, proofs=proofs, criteria=criteria, set_aside=("AC3",), quality=found)
    shown = markdown(evidence).splitlines()
    assert shown[2:9] == [
        "| Criterion | Test | Before (0123456) | After (7654321) |",
        "| --- | --- | --- | --- |",
        "| AC1: It finds. | `tests/test_a.py::test_x` | failed | passed |",
        r"| AC2: It sorts \| ball/b. | `tests/test_a.py::test_y` | failed | passed |".replace("ball/b", "ballb"),
        "| AC2 | `tests/test_a.py::test_z` | failed | passed |",
        "| AC3: It fits. | no test: none proved it | | |",
        "| AC4 | no test names it | | |",
    ]
    assert "- Linters: `ruff check .`: clean" in shown
    assert r"- Linters: `mypy \| x`: not clean on the base, so it does not bind" in shown


def test_tests_that_no_criterion_claims_are_told_of_once() -> None:
    evidence = dataclasses.replace(EVIDENCE, criteria={"AC1": "A.", "AC2": "B."}, set_aside=("AC2",))
    shown = markdown(evidence).splitlines()
    assert "- **No test proves AC2.** Please check it by hand." in shown
    assert "- Tests are not mapped to individual criteria." in shown


def test_a_coders_lines_say_which_test_is_about_which_criterion() -> None:
    said = "AC1: test_a and `test_b`\n- **AC2**: test_c\nAC1 and AC2: test_d\nAC9: test_e\ntest_f\nAC2: test_a"
    tests = [f"t.py::test_{letter}" for letter in "abcdef"] + ["t.py::test_c[1]"]
    assert covered(said, tests, ("AC1", "AC2")) == {
        "t.py::test_a": "AC1",
        "t.py::test_b": "AC1",
        "t.py::test_c": "AC2",
        "t.py::test_c[1]": "AC2",
    }


def test_unknown_cost_is_said() -> None:
    assert "<summary>Evidence: 2 attempts, cost unknown</summary>" in markdown(
        dataclasses.replace(EVIDENCE, cost_usd=None)
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_leaves_its_cell(text: str) -> None:
    proof = Proof(f"t.py::test_x[{text}]", "failed", text, "passed")
    lines = markdown(dataclasses.replace(EVIDENCE, proofs=(proof,), baseline=text, cost_source=text)).split("\n")
    assert len(lines) == 12
    row = lines[4]
    unescaped = row.replace(r"\|", "")
    assert unescaped.count("|") == 4
    assert r"\\|" not in row
    spans = unescaped.split("`")
    assert len(spans) == 5, "two code spans and nothing else"
    assert set("".join(spans[::2])) <= set("| failed:passed"), "every foreign character stands in a code span"
    assert all(mark not in "".join(lines) for mark in ("<!--", "\x1b", "\u202e", "\u2028"))


@pytest.mark.parametrize("text", HOSTILE)
def test_facts_outside_the_table_are_plain_words(text: str) -> None:
    summary = markdown(dataclasses.replace(EVIDENCE, baseline=text, cost_source=text)).replace("**", "").split("\n")
    summary = [summary[0], summary[9]]
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
    first = markdown(dataclasses.replace(EVIDENCE, green_exit=code)).partition("\n")[0]
    assert first.startswith(f"**15 passed**{shown} at 7654321; ")


def test_proofs_tell_how_each_test_was_before() -> None:
    green = TestRun(
        {name: TestResult(name, name.partition("::")[0], CaseOutcome.PASSED) for name in ("a::x", "b::y", "c::z")}
    )
    red = TestRun(
        {"a::x": TestResult("a::x", "a", CaseOutcome.FAILED, FailureKind.ASSERTION_OR_EXCEPTION, "assert 0\nmore")},
        {"b": TestResult("b", "b", CaseOutcome.ERROR, FailureKind.FIRST_PARTY_IMPORT, "No module named 'app.x'")},
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


def test_later_commits_and_rejected_attempts_are_folded() -> None:
    text = markdown(
        dataclasses.replace(
            EVIDENCE,
            green_exit=0,
            refused=("Implementation 1 was refused: <!-- things -->", *["more"] * 30),
            later=(("ab" * 20, "Said @ada `code`."),),
        )
    )
    lines = text.splitlines()
    assert "- No secrets found in the added lines" in lines
    assert "- Then abababa: Said ada `code`." in lines
    assert lines.index("Rejected attempts:") > lines.index("<details><summary>Evidence: 2 attempts, $1.23</summary>")
    assert "<!--" not in text
    assert "- ... and 11 more" in lines


@pytest.mark.parametrize("text", HOSTILE)
def test_what_was_refused_cannot_leave_its_fold(text: str) -> None:
    lines = markdown(dataclasses.replace(EVIDENCE, refused=(text,))).split("\n")
    assert [line for line in lines if "details>" in line and not line.startswith("- `")] == [
        "<details><summary>Evidence: 2 attempts, $1.23</summary>",
        "</details>",
    ]
    assert "<!--" not in "".join(lines)
