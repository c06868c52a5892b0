"""The proof for people: the criterion of each test, and its results before and after the change (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from shared.git.notes import ChangedTest, ProofNote
from shared.text import neutralise, one_line, printable
from worker_agent.tdd.inert_markdown import ID_CHARS, code, mixed, plain
from worker_agent.tdd.runners.test_run import CaseOutcome, TestId, TestRun

ROWS = 100
TABLE_CHARS = 14_000
"""The most tests in one table, and their characters: GitHub refuses bodies above 65,536, and other parts need room."""

ROWS_REFUSED = 20

REFUSED_CHARS = 160

SHA = 7
"""Characters of a commit's hash, as GitHub shows and links it."""

MESSAGE_CHARS = 100

CRITERION_CHARS = 90
"""The most characters of a criterion's text in the table; the issue has the whole."""

LATER = 20


@dataclass(frozen=True, slots=True)
class Proof:
    """One new test: its result on the base, with the error's line, and its result on the head.

    `criterion` is the id of the acceptance criterion that it stands for, empty if no criterion is named.
    """

    test: TestId
    red: str
    red_message: str
    green: str
    criterion: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The claims about the cycles. `cost_usd` is None if the cost is unknown.

    `refused` lists rejected attempts, `criteria` maps the ids of all acceptance criteria to their texts, `set_aside`
    names those of which no test was taken. `quality` maps a linter or type checker to its result on the head. `later`
    are the commits after the first green one, each with its coder's words. `tried` holds the damage done to code and
    tests to find out whether the new tests notice it; None if there was none.
    """

    base: str
    head: str
    proofs: tuple[Proof, ...]
    baseline: str
    result: str
    attempts: int
    cost_usd: float | None
    cost_source: str = "unknown"
    green_exit: int | None = None
    refused: tuple[str, ...] = ()
    criteria: Mapping[str, str] = field(default_factory=dict)
    set_aside: tuple[str, ...] = ()
    quality: Mapping[str, str] = field(default_factory=dict)
    later: tuple[tuple[str, str], ...] = ()
    tried: ProofNote | None = None


def criterion_of(test: TestId, criteria: Collection[str]) -> str:
    """Return the criterion that a test stands for: the only one, or the one whose id is a word of the test's name."""
    if len(criteria) == 1:
        return next(iter(criteria))
    return next((one for one in criteria if _names(test.rpartition("::")[2], one)), "")


def covered(closing_text: str, tests: Iterable[TestId], criteria: Collection[str]) -> dict[TestId, str]:
    """Map each test to its criterion by a coder's lines: a line that names one criterion names the tests of it."""
    found: dict[TestId, str] = {}
    known = {test: test.rpartition("::")[2].partition("[")[0] for test in tests}
    for line in closing_text.splitlines():
        named = [one for one in criteria if _names(line, one)]
        words = set(re.findall(r"\w+", line)) if len(named) == 1 else set()
        found |= {test: named[0] for test, name in known.items() if name in words and test not in found}
    return found


def _names(text: str, criterion: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(criterion.casefold())}(?![0-9])", text.casefold()) is not None


def proofs(red: TestRun, green: TestRun, proven: Iterable[TestId]) -> tuple[Proof, ...]:
    """Return the rows for the tests that a `GreenVerdict` names as proven."""
    return tuple(_proof(red, green, test) for test in proven)


def _proof(red: TestRun, green: TestRun, test: TestId) -> Proof:
    after = green.results[test]
    before = red.results.get(test) or red.results.get(test.partition("[")[0])  # of a test that did not end: no cases
    if before is not None:
        return Proof(test, before.outcome, before.first_line, after.outcome)
    file = red.broken(after.file)
    return Proof(test, "not collected" if file else "absent", file.first_line if file else "", after.outcome)


def markdown(evidence: Evidence) -> str:
    """Return the section for the pull request; all text made by a model or a test is inert in it."""
    parts = [
        [_headline(evidence)],
        _table(evidence) if evidence.proofs else [],
        [*_unmapped_lines(evidence), *(attention(evidence.tried) if evidence.tried else ())],
        changed_expectations(evidence.tried) if evidence.tried else [],
        _folded_lines(evidence),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _headline(evidence: Evidence) -> str:
    # 1 says that some test failed: which, the counts tell, and the engine's own planted ones are not among them.
    ended = "" if evidence.green_exit in {None, 0, 1} else f" (exit code {evidence.green_exit})"
    told = f"**{plain(evidence.result)}**{ended} at {evidence.head[:SHA]}; {plain(evidence.baseline)} on the base."
    if not evidence.proofs:
        return f"{told} This change needs no new test."
    fails = "This test fails" if len(evidence.proofs) == 1 else "These tests fail"
    return f"{told} {fails} without the change:"


def _table(evidence: Evidence) -> list[str]:
    named = any(proof.criterion for proof in evidence.proofs)
    first = ("| Criterion ", "| --- ") if named else ("", "")
    titles = f"| Test | Before ({evidence.base[:SHA]}) | After ({evidence.head[:SHA]}) |"
    return [f"{first[0]}{titles}", f"{first[1]}| --- | --- | --- |", *_rows(evidence, named=named)]


def _rows(evidence: Evidence, *, named: bool) -> list[str]:
    """Return as many rows as fit, and the number of the others; then the criteria that no test names."""
    order = {criterion: place for place, criterion in enumerate(evidence.criteria)}
    proofs = sorted(evidence.proofs, key=lambda one: order.get(one.criterion, len(order))) if named else evidence.proofs
    kept, left = list[str](), TABLE_CHARS
    told: set[str] = set()
    for proof in proofs[:ROWS]:
        row = _row(proof, _criterion(proof.criterion, evidence, told) if named else None)
        told.add(proof.criterion)
        left -= len(row)
        if left < 0:
            break
        kept.append(row)
    missing = len(proofs) - len(kept)
    if missing:
        return [*kept, f"{'| ' if named else ''}| ... and {missing} more | | |"]
    bare = [one for one in evidence.criteria if one not in told] if named else []
    return [*kept, *(f"| {_criterion(one, evidence, told)} | {_no_test(one, evidence)} | | |" for one in bare)]


def _criterion(id: str, evidence: Evidence, already_quoted: Collection[str]) -> str:
    """Return a criterion's id, with its text the first time."""
    text = "" if id in already_quoted else one_line(evidence.criteria.get(id, ""), CRITERION_CHARS)
    return ": ".join(filter(None, (plain(id), mixed(text))))


def _no_test(id: str, evidence: Evidence) -> str:
    return "no test: none proved it" if id in evidence.set_aside else "no test names it"


def _unmapped_lines(evidence: Evidence) -> Iterator[str]:
    if any(proof.criterion for proof in evidence.proofs):
        return
    if evidence.set_aside:
        yield f"- **No test proves {plain(', '.join(evidence.set_aside))}.** Please check it by hand."
    if len(evidence.criteria) > 1 and evidence.proofs:
        yield "- Tests are not mapped to individual criteria."


def _folded_lines(evidence: Evidence) -> list[str]:
    """Return the collapsed lines about how the proof was made, for a closer look."""
    cost = "cost unknown" if evidence.cost_usd is None else f"${evidence.cost_usd:.2f}"
    tries = f"{evidence.attempts} attempt{'s' * (evidence.attempts != 1)}"
    lines = [f"<details><summary>Evidence: {tries}, {cost}</summary>", ""]
    lines += tried(evidence.tried) if evidence.tried else []
    lines += [f"- Linters: {code(command)}: {plain(ended)}" for command, ended in evidence.quality.items()]
    if evidence.cost_usd is not None:
        lines.append(f"- Cost according to: {plain(evidence.cost_source)}")
    lines.append("- No secrets found in the added lines")  # nothing gets into a fence without that
    lines += [f"- Then {commit[:SHA]}: {mixed(said)}" for commit, said in evidence.later[-LATER:]]
    return [*lines, *_refused_lines(evidence.refused), "", "</details>"]


def _refused_lines(refused: Sequence[str]) -> list[str]:
    """Return the rejected attempts as code, because tests and models wrote the text."""
    if not refused:
        return []
    kept = [f"- {code(one_line(line, REFUSED_CHARS))}" for line in refused[:ROWS_REFUSED]]
    more = [f"- ... and {len(refused) - ROWS_REFUSED} more"] if len(refused) > ROWS_REFUSED else []
    return ["", "Rejected attempts:", "", *kept, *more]


def _row(proof: Proof, criterion: str | None) -> str:
    message = f": {code(one_line(proof.red_message, MESSAGE_CHARS))}" if proof.red_message else ""
    passed = "passed" if proof.green == CaseOutcome.PASSED else plain(proof.green)
    first = "" if criterion is None else f"| {criterion} "
    red = _RED.get(proof.red, plain(proof.red))
    return f"{first}| {code(one_line(proof.test, ID_CHARS))} | {red}{message} | {passed} |"


_RED = {"not collected": "cannot be loaded", "absent": "did not exist"}
"""Words for people in place of a proof's own."""


ENTRIES = 5
"""The most entries of a list on its line."""

CHANGED = 20
DIFFS_CHARS = 7_000
"""The most changed tests that are listed, and the most characters of their differences."""

FENCE_CHARS = 50
"""The number of tildes in a row with which a difference is not shown: not every reader takes a longer fence."""


def attention(proof: ProofNote) -> Iterator[str]:
    """Yield a line for each thing that the person who merges should see."""
    if proof.unnoticed:
        yield f"- No new test fails when the code is broken here: {', '.join(_first(proof.unnoticed, mixed))}"
    if proof.removed_tests:
        yield f"- Removed tests: {', '.join(_first(proof.removed_tests, code))}"
    yield from (f"- Please decide: {doubt}" for doubt in _first(proof.doubts, mixed))


def tried(proof: ProofNote) -> Iterator[str]:
    """Yield a line for each trial of whether the tests prove anything."""
    if proof.damages:
        ways = "1 way" if proof.damages == 1 else f"{proof.damages} ways"
        yield f"- The changed code was broken in {ways}, and the new tests noticed {proof.noticed}"
    lists = {
        "Changed test configuration, not used for these runs": proof.pinned,
        "Flaky tests, not counted": proof.unstable,
        "New tests that prove nothing, not counted": proof.weak,
    }
    for title, entries in lists.items():
        if entries:
            yield f"- {title}: {', '.join(_first(entries, code))}"
    yield from (f"- {remark}" for remark in _first(proof.remarks, mixed))
    if proof.suite_runs:
        yield f"- Runs of the whole test suite: {proof.suite_runs}"
    if proof.local_suite == "changed":
        yield "- Only the tests concerned were run here; CI runs all of them (`local_suite: changed`)"


def changed_expectations(proof: ProofNote) -> list[str]:
    """Return each old test whose expectations changed, the permission for that, and its collapsed difference."""
    if not proof.changed_tests:
        return []
    lines, left = ["**Existing tests that expect something else now:**"], DIFFS_CHARS
    for test in proof.changed_tests[:CHANGED]:
        difference = _difference(test, left)
        left -= len(difference)
        why = f": {mixed(test.what)}" if test.what else ""
        lines += ["", f"- {code(test.test)}{why}", *([difference] if difference else [])]
    missing = len(proof.changed_tests) - CHANGED
    return [*lines, "", f"- ... and {missing} more"] if missing > 0 else lines


def _difference(test: ChangedTest, room: int) -> str:
    """Return a collapsed difference, in a fence that its text cannot close; empty if there is no room for it."""
    text = neutralise(printable(test.diff)).strip("\n")
    longest = max((len(run) for run in re.findall("~+", text)), default=0)
    if not text or len(text) > room or longest > FENCE_CHARS:
        return ""
    fence = "~" * max(3, longest + 1)
    return f"\n<details><summary>Difference</summary>\n\n{fence}diff\n{text}\n{fence}\n\n</details>"


def _first(entries: Sequence[str], spelled: Callable[[str], str]) -> list[str]:
    shown = [spelled(entry) for entry in entries[:ENTRIES]]
    missing = len(entries) - ENTRIES
    return [*shown, f"and {missing} more"] if missing > 0 else shown
