"""What the demonstration shows of a merged pull request is what the worker wrote into it."""

from __future__ import annotations

from lab.demo.outcome import read_proof
from lab.messages import worker


def test_the_table_of_a_pull_request_of_ours_is_read_whole() -> None:
    body = {one.name: one.text() for one in worker.messages()}["pull_request_body.body"]
    proofs, figures = read_proof(body)
    assert [after for *_, after in proofs] == ["passed"] * len(proofs) != []
    assert all("::" in test and before and "`" not in test + before for test, before, _ in proofs)
    assert any("on the base" in line for line in figures)


def test_a_body_of_somebody_else_proves_nothing() -> None:
    assert read_proof("## What\n\n| a | b |\n| --- | --- |\n| `x` | y |\n") == ((), ())
