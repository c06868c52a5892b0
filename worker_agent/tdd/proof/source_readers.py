"""New tests that read the text of the changed code: they notice damage to it without running it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from worker_agent.tdd.damage.code import gone
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.proof import damaged_expectations
from worker_agent.tdd.proof.budget import TimeBudget
from worker_agent.tdd.proof.damage_detection import Noticed, Units
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.purpose import PurposeKind, RunPurpose
from worker_agent.tdd.runners.test_run import TestRun

_READS = re.compile(
    r"\.__code__\b|\bco_(?:consts|names|varnames|code)\b|\bgetsource(?:lines)?\(|\bdis\.(?:dis|Bytecode|get_instructions)\("
    r"|\bast\.parse\(|\bRubyVM::\w+|\.source_location\b|\bmethod_source\b"
)
"""Code of a test that reads the text or the instructions of code."""

UNRUN = (
    "{}: it noticed damage inside of `{}`, and passes when that raises: it looks at the code and not at what it does"
)
READS = "{}: it looks at the code (`{}`), and not at what it does"


async def of_readers(
    subject: ProofSubject, proven: Units, alone: TestRun, found: Noticed, budget: TimeBudget
) -> tuple[str, ...]:
    """Return a sentence for each test that noticed damage inside of functions and does not need them to run.

    These functions raise at their beginning, and the rest of their text is unchanged: one run for all tests. Tests that
    expect a failure are left out. A test that reads instructions fails then as well, and is found by its text.
    """
    read = _reading_tests(subject, proven)
    inside = {unit: damage for unit, damage in found.by_unit.items() if damage.function and unit not in read}
    failures = damaged_expectations.of_failures(subject, inside)
    suspects = {unit: damage for unit, damage in inside.items() if unit not in failures}
    names = {(damage.path, damage.function) for damage in suspects.values()}
    over: dict[str, bytes] = {}
    for change in changes(*subject.change.code_sides):
        loud = gone(change, {name for path, name in names if path == change.path})
        over |= {change.path: loud.content} if loud is not None else {}
    told = [READS.format(unit, how) for unit, how in sorted(read.items())]
    if not over or budget.is_over(found.tried):
        return tuple(told)
    tests = {test for unit in suspects for test in proven[unit]}
    files, purpose = {test.partition("::")[0] for test in tests}, RunPurpose(PurposeKind.DAMAGE)
    run = await subject.head(files, over, tests, alone.seconds, purpose)
    if run.timed_out or run.broken_files or not run.finished:
        return tuple(told)
    still = sorted(unit for unit in suspects if all(test in run.passed for test in proven[unit]))
    return (*told, *(UNRUN.format(unit, suspects[unit].function) for unit in still if suspects[unit].path in over))


def _reading_tests(subject: ProofSubject, proven: Units) -> Mapping[str, str]:
    """Return the tests whose text reads code, each with that part."""
    wanted = damaged_expectations.by_file(proven)
    return {
        f"{path}::{name}": seen[0]
        for path, names in wanted.items()
        for name, text in damaged_expectations.texts(subject, path, names).items()
        if (seen := _READS.search(text)) is not None
    }
