"""The demonstration's view of a merged pull request: the table that the worker wrote into it."""

from __future__ import annotations

from pathlib import Path

from lab.demo.outcome import last_troubles, read_proof
from lab.messages import worker


def test_the_table_of_a_pull_request_of_ours_is_read_whole() -> None:
    body = {one.name: one.text() for one in worker.messages()}["pull_request_body.body"]
    proofs, figures = read_proof(body)
    assert [after for *_, after in proofs] == ["passed"] * len(proofs) != []
    assert all("::" in test and before and "`" not in test + before for test, before, _ in proofs)
    assert any("on the base" in line for line in figures)
    assert not [line for line in figures if line.rstrip().endswith(":")], "the table stands by itself"


def test_a_body_of_somebody_else_proves_nothing() -> None:
    assert read_proof("## What\n\n| a | b |\n| --- | --- |\n| `x` | y |\n") == ((), ())


def test_a_demonstration_that_failed_says_what_the_agents_said_last(tmp_path: Path) -> None:
    said = (
        '{"level": "error", "event": "repository_held", "error": "old"}\n',
        '{"level": "error", "event": "repository_held", "error": "No closing quotation."}\n',
        'no JSON {\n[]\n{"level": "info", "event": "item_skipped"}\n',
    )
    (tmp_path / "worker-1.log").write_text("".join(said))
    (tmp_path / "planner-1.log").write_text(said[2])
    assert last_troubles(tmp_path.glob("*.log")) == ("worker-1: repository_held: No closing quotation.",)
