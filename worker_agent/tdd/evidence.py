"""The proof for people: a Markdown table of what was red on the base and is green on the head (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from shared.git.notes import ProofNote
from shared.text import one_line
from worker_agent.tdd.inert_markdown import ID_CHARS, code, plain
from worker_agent.tdd.proof_lines import changed_expectations, tried
from worker_agent.tdd.runners.report import Outcome, TestId, TestRun

ROWS = 100
TABLE_CHARS = 14_000
"""Tests in one table, and their characters; GitHub refuses bodies above 65,536, of which others need their part."""

ROWS_REFUSED = 20

MESSAGE_CHARS = 160


@dataclass(frozen=True, slots=True)
class Proof:
    """One new test: how it was on the base, with the error's line, and how it is on the head.

    `criterion` is the id of the acceptance criterion that it stands for, empty when nothing says so.
    """

    test: TestId
    red: str
    red_message: str
    green: str
    criterion: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is claimed of the cycles. `cost_usd` None means that nobody knows.

    `red_runs` says of each cycle what was run on which commit and how that ended, `refused` what was
    not taken before, `criteria` the ids of all acceptance criteria, `set_aside` those of which no test was
    taken. `quality` maps a linter or type checker to how it ended on the head. `tried` is what was done to
    code and tests to find out whether the new tests notice, None where nothing was.
    """

    base: str
    head: str
    proofs: tuple[Proof, ...]
    baseline: str
    result: str
    attempts: int
    cost_usd: float | None
    cost_source: str = "unknown"
    red_runs: tuple[str, ...] = ()
    green_exit: int | None = None
    refused: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    scanned: bool = False
    set_aside: tuple[str, ...] = ()
    quality: Mapping[str, str] = field(default_factory=dict)
    tried: ProofNote | None = None


def criterion_of(test: TestId, criteria: Sequence[str]) -> str:
    """The criterion that a test stands for: the only one, or the one whose id is a word of the test's name."""
    if len(criteria) == 1:
        return criteria[0]
    name = test.rpartition("::")[2].casefold()
    return next((one for one in criteria if re.search(rf"(?<![a-z0-9]){re.escape(one.casefold())}(?![0-9])", name)), "")


def proofs(red: TestRun, green: TestRun, proven: Iterable[TestId]) -> tuple[Proof, ...]:
    """The rows for the tests that a `GreenVerdict` names as proven."""
    return tuple(_proof(red, green, test) for test in proven)


def _proof(red: TestRun, green: TestRun, test: TestId) -> Proof:
    after = green.results[test]
    before = red.results.get(test) or red.results.get(test.partition("[")[0])  # of a test that did not end: no cases
    if before is not None:
        return Proof(test, before.outcome, before.first_line, after.outcome)
    file = red.broken(after.file)
    return Proof(test, "not collected" if file else "absent", file.first_line if file else "", after.outcome)


def markdown(evidence: Evidence) -> str:
    """The section for the pull request; every text that a model or a test made is inert in it."""
    base, head = code(evidence.base[:12]), code(evidence.head[:12])
    named = any(proof.criterion for proof in evidence.proofs)
    first = ("| Criterion ", "| --- ") if named else ("", "")
    lines = [f"{first[0]}| New test | On the base {base} | On the head {head} |", f"{first[1]}| --- | --- | --- |"]
    lines += _rows(evidence.proofs, named=named)
    changed = changed_expectations(evidence.tried) if evidence.tried else []
    return "\n".join([*lines, "", *_summary(evidence), *changed, *_refused(evidence.refused), ""])


def _rows(proofs: Sequence[Proof], *, named: bool) -> list[str]:
    """As many as fit, and how many more there are."""
    kept, left = [], TABLE_CHARS
    for proof in proofs[:ROWS]:
        row = _row(proof, named=named)
        left -= len(row)
        if left < 0:
            break
        kept.append(row)
    missing = len(proofs) - len(kept)
    return [*kept, f"{'| ' if named else ''}| ... and {missing} more | | |"] if missing else kept


def _summary(evidence: Evidence) -> list[str]:
    cost = "unknown" if evidence.cost_usd is None else f"${evidence.cost_usd:.2f} ({evidence.cost_source})"
    # 1 says that some test failed: which, the counts tell, and the engine's own planted ones are not among them.
    ended = "" if evidence.green_exit in {None, 0, 1} else f" (exit code {evidence.green_exit})"
    lines = [f"- Tests on the base: {plain(evidence.baseline)}"]
    lines += [f"- New tests on the base: {plain(run)}" for run in evidence.red_runs]
    lines += [f"- Tests on the head: {plain(evidence.result)}{ended}"]
    lines += tried(evidence.tried) if evidence.tried else []
    lines += [f"- Attempts: {evidence.attempts}", f"- Cost: {plain(cost)}"]
    lines += [f"- Quality: {code(command)}: {plain(ended)}" for command, ended in evidence.quality.items()]
    if evidence.scanned:
        lines.append("- Secret scan of everything that was added: nothing found")
    named = {*evidence.set_aside, *(proof.criterion for proof in evidence.proofs)}
    bare = [one for one in evidence.criteria if one not in named]
    if evidence.set_aside:
        lines.append(f"- Without a test, set aside as problematic: {plain(', '.join(evidence.set_aside))}")
    if bare and len(evidence.criteria) > 1:
        lines.append(f"- Tests are not mapped to individual criteria: no test names {plain(', '.join(bare))}")
    return lines


def _refused(refused: Sequence[str]) -> list[str]:
    """What was not taken, folded away; as code, because tests and models made the text."""
    if not refused:
        return []
    kept = [f"- {code(one_line(line, MESSAGE_CHARS))}" for line in refused[:ROWS_REFUSED]]
    more = [f"- ... and {len(refused) - ROWS_REFUSED} more"] if len(refused) > ROWS_REFUSED else []
    return ["", "<details><summary>Rejected attempts</summary>", "", *kept, *more, "", "</details>"]


def _row(proof: Proof, *, named: bool) -> str:
    message = f": {code(one_line(proof.red_message, MESSAGE_CHARS))}" if proof.red_message else ""
    passed = "passed" if proof.green == Outcome.PASSED else plain(proof.green)
    first = f"| {plain(proof.criterion)} " if named else ""
    return f"{first}| {code(one_line(proof.test, ID_CHARS))} | {plain(proof.red)}{message} | {passed} |"
