"""The proof for people: a Markdown table of what was red on the base and is green on the head (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from shared.text import neutralise, one_line
from worker_agent.tdd.runners.report import Outcome, TestId, TestRun

ROWS = 100
"""Tests in one table; GitHub refuses bodies above 65,536 characters."""

ROWS_REFUSED = 20

ID_CHARS = 200
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
    taken. `quality` maps a linter or type checker to how it ended on the head.
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
    before = red.results.get(test)
    if before is not None:
        return Proof(test, before.outcome, before.first_line, after.outcome)
    file = red.broken(after.file)
    return Proof(test, "not collected" if file else "absent", file.first_line if file else "", after.outcome)


def markdown(evidence: Evidence) -> str:
    """The section for the pull request; every text that a model or a test made is inert in it."""
    base, head = _code(evidence.base[:12]), _code(evidence.head[:12])
    named = any(proof.criterion for proof in evidence.proofs)
    first = ("| Criterion ", "| --- ") if named else ("", "")
    lines = [f"{first[0]}| New test | On the base {base} | On the head {head} |", f"{first[1]}| --- | --- | --- |"]
    lines += [_row(proof, named=named) for proof in evidence.proofs[:ROWS]]
    if len(evidence.proofs) > ROWS:
        lines.append(f"{'| ' if named else ''}| ... and {len(evidence.proofs) - ROWS} more | | |")
    return "\n".join([*lines, "", *_summary(evidence), *_refused(evidence.refused), ""])


def _summary(evidence: Evidence) -> list[str]:
    cost = "unknown" if evidence.cost_usd is None else f"${evidence.cost_usd:.2f} ({evidence.cost_source})"
    ended = "" if evidence.green_exit is None else f" ({_ending(evidence.green_exit)})"
    lines = [f"- Tests on the base: {_plain(evidence.baseline)}"]
    lines += [f"- New tests on the base: {_plain(run)}" for run in evidence.red_runs]
    lines += [
        f"- Tests on the head: {_plain(evidence.result)}{ended}",
        f"- Attempts: {evidence.attempts}",
        f"- Cost: {_plain(cost)}",
    ]
    lines += [f"- Quality: {_code(command)}: {_plain(ended)}" for command, ended in evidence.quality.items()]
    if evidence.scanned:
        lines.append("- Secret scan of everything that was added: nothing found")
    named = {*evidence.set_aside, *(proof.criterion for proof in evidence.proofs)}
    bare = [one for one in evidence.criteria if one not in named]
    if evidence.set_aside:
        lines.append(f"- Without a test, set aside as problematic: {_plain(', '.join(evidence.set_aside))}")
    if bare and len(evidence.criteria) > 1:
        lines.append(f"- No test names {_plain(', '.join(bare))}: the tests stand for the criteria together")
    return lines


def _ending(code: int) -> str:
    """An exit code; 1 is what the control leaves: a test laid beside the others that must fail, and is not counted."""
    return "exit code 1, left by the planted control test" if code == 1 else f"exit code {code}"


def _refused(refused: Sequence[str]) -> list[str]:
    """What was not taken, folded away; as code, because tests and models made the text."""
    if not refused:
        return []
    kept = [f"- {_code(one_line(line, MESSAGE_CHARS))}" for line in refused[:ROWS_REFUSED]]
    more = [f"- ... and {len(refused) - ROWS_REFUSED} more"] if len(refused) > ROWS_REFUSED else []
    return ["", "<details><summary>Refused before</summary>", "", *kept, *more, "", "</details>"]


def _row(proof: Proof, *, named: bool) -> str:
    message = f": {_code(one_line(proof.red_message, MESSAGE_CHARS))}" if proof.red_message else ""
    passed = "passed" if proof.green == Outcome.PASSED else _plain(proof.green)
    first = f"| {_plain(proof.criterion)} " if named else ""
    return f"{first}| {_code(one_line(proof.test, ID_CHARS))} | {_plain(proof.red)}{message} | {passed} |"


def _code(text: str) -> str:
    """A code span that nothing in `text` can leave: no mention, link, cell border or hidden marker."""
    inert = neutralise(one_line(text, ID_CHARS)).replace("`", "'")
    return f"`{_cell(inert)}`" if inert.strip() else ""


def _plain(text: str) -> str:
    return _cell(re.sub(r"[^\w .,:()$'|-]", "", one_line(text, ID_CHARS)))


def _cell(text: str) -> str:
    return re.sub(r"\\*\|", r"\\|", text)
