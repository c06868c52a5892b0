"""The proof for people: a Markdown table of what was red on the base and is green on the head (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from shared.text import neutralise, one_line
from worker_agent.tdd.report import Outcome, TestId, TestRun

ROWS = 100
"""Tests in one table; GitHub refuses bodies above 65,536 characters."""

ID_CHARS = 200
MESSAGE_CHARS = 160


@dataclass(frozen=True, slots=True)
class Proof:
    """One new test: how it was on the base, with the error's line, and how it is on the head."""

    test: TestId
    red: str
    red_message: str
    green: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is claimed of one cycle. `cost_usd` None means that nobody knows."""

    base: str
    head: str
    proofs: tuple[Proof, ...]
    baseline: str
    result: str
    attempts: int
    cost_usd: float | None
    cost_source: str = "unknown"


def proofs(red: TestRun, green: TestRun, proven: Iterable[TestId]) -> tuple[Proof, ...]:
    """The rows for the tests that a `GreenVerdict` names as proven."""
    return tuple(_proof(red, green, test) for test in proven)


def _proof(red: TestRun, green: TestRun, test: TestId) -> Proof:
    after = green.results[test]
    before = red.results.get(test)
    if before is not None:
        return Proof(test, before.outcome, before.first_line, after.outcome)
    file = red.broken(after.file)
    return Proof(test, "not collected" if file else "absent", file.first_line if file else "", after.outcome)


def markdown(evidence: Evidence) -> str:
    """The section for the pull request; every text that a model or a test made is inert in it."""
    base, head = _code(evidence.base[:12]), _code(evidence.head[:12])
    lines = [f"| New test | On the base {base} | On the head {head} |", "| --- | --- | --- |"]
    lines += [_row(proof) for proof in evidence.proofs[:ROWS]]
    if len(evidence.proofs) > ROWS:
        lines.append(f"| ... and {len(evidence.proofs) - ROWS} more | | |")
    cost = "unknown" if evidence.cost_usd is None else f"${evidence.cost_usd:.2f} ({evidence.cost_source})"
    summary = [
        f"- Tests on the base: {_plain(evidence.baseline)}",
        f"- Tests on the head: {_plain(evidence.result)}",
        f"- Attempts: {evidence.attempts}",
        f"- Cost: {_plain(cost)}",
    ]
    return "\n".join([*lines, "", *summary, ""])


def _row(proof: Proof) -> str:
    message = f": {_code(one_line(proof.red_message, MESSAGE_CHARS))}" if proof.red_message else ""
    passed = "passed" if proof.green == Outcome.PASSED else _plain(proof.green)
    return f"| {_code(one_line(proof.test, ID_CHARS))} | {_plain(proof.red)}{message} | {passed} |"


def _code(text: str) -> str:
    """A code span that nothing in `text` can leave: no mention, link, cell border or hidden marker."""
    inert = neutralise(one_line(text, ID_CHARS)).replace("`", "'")
    return f"`{_cell(inert)}`" if inert.strip() else ""


def _plain(text: str) -> str:
    return _cell(re.sub(r"[^\w .,:()$'|-]", "", one_line(text, ID_CHARS)))


def _cell(text: str) -> str:
    return re.sub(r"\\*\|", r"\\|", text)
