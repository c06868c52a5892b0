"""The table in a pull request against its claim: in its present form, and in an earlier one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.git.proof_claim import Claim, digest
from worker_agent.tdd.evidence import ROWS, Evidence, Proof, markdown
from worker_agent.verify.visible import edited_table

ONE, TWO = "tests/test_a.py::test_x[a|b]", "tests/test_b.py::test_y"
EVIDENCE = Evidence(
    base="0" * 40,
    head="1" * 40,
    proofs=(
        Proof(ONE, "failed", "assert 'a|b' == `x`", "passed", "AC1"),
        Proof(TWO, "not collected", "ModuleNotFoundError: No module named 'b'", "passed", "AC2"),
    ),
    baseline="4 passed",
    result="6 passed",
    attempts=1,
    cost_usd=None,
    criteria={"AC1": "`a|b` is found, or `b`.", "AC2": "It sorts.", "AC3": "`x` fits."},
)
BARE = replace(EVIDENCE, proofs=tuple(replace(one, criterion="") for one in EVIDENCE.proofs))
CLAIM = Claim(1, "0" * 40, "1" * 40, 2, digest([ONE, TWO]), {ONE: "failed", TWO: "not collected"})

OLDER = r"""
| Criterion | New test | On the base (0000000) | At 1111111 |
| --- | --- | --- | --- |
| AC1 | `tests/test_a.py::test_x[a\|b]` | failed: `assert` | passed |
| AC2 | `tests/test_b.py::test_y` | not collected | passed |

<details>
"""


def found(body: str, claim: Claim = CLAIM) -> list[str]:
    return [one.sentence for one in edited_table(body, claim)]


@pytest.mark.parametrize("evidence", [EVIDENCE, BARE], ids=["with criteria", "without"])
def test_an_honest_table_is_true(evidence: Evidence) -> None:
    assert found(f"Closes #1\n\n{markdown(evidence)}") == []


def test_a_table_of_an_older_engine_is_read() -> None:
    assert found(OLDER) == []
    assert found(OLDER.replace("not collected | passed", "not collected | failed")) == [
        f"The table says 'failed' of {TWO} on the head; the claim: passed."
    ]


def test_what_was_edited_is_named() -> None:
    table = markdown(EVIDENCE)
    row = next(line for line in table.splitlines() if TWO in line)
    assert found(table.replace(f"{row}\n", "")) == [f"The table has no row for {TWO}, which the claim has."]
    assert found(table.replace(row, row.replace("| passed |", "| failed |"))) == [
        f"The table says 'failed' of {TWO} on the head; the claim: passed."
    ]
    more = row.replace("test_y", "test_z")
    assert found(table.replace(row, f"{row}\n{more}")) == [
        "The table has a row for tests/test_b.py::test_z, of which the claim says nothing."
    ]
    assert found("Closes #1") == ["The table of new tests is not there any more."]
    assert found("Closes #1", replace(CLAIM, tests={}, count=0)) == []


@pytest.mark.parametrize("criterion", ["AC1", ""])
def test_rows_that_did_not_fit_are_not_missed(criterion: str) -> None:
    tests = [f"t.py::test_{at}" for at in range(ROWS + 5)]
    proofs = tuple(Proof(test, "failed", "", "passed", criterion) for test in tests)
    claim = replace(CLAIM, tests=dict.fromkeys(tests, "failed"), count=len(tests))
    assert found(markdown(replace(EVIDENCE, proofs=proofs)), claim) == []
