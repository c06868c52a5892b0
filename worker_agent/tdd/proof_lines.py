"""The evidence's lines about the trials of the tests, and about existing tests that changed (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from shared.git.notes import ChangedTest, ProofNote
from shared.text import neutralise, printable
from worker_agent.tdd.inert_markdown import code, mixed

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
