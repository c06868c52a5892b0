"""Old tests that a change keeps, under another name or in another version, and that no run of the head reports."""

from __future__ import annotations

import re

from worker_agent.tdd.comparison.model import ComparedTest, Comparison
from worker_agent.tdd.proof.old_tests import REMEDY
from worker_agent.tdd.proof.subject import ProofSubject
from worker_agent.tdd.runners.test_run import CaseOutcome, TestRun

UNRUN = "{}: it passed before and does not run on the head{}. {}"


def unrun(subject: ProofSubject, comparison: Comparison, baseline: TestRun, head: TestRun) -> list[str]:
    """Return one sentence for each test that passed on the base, is still there, and has no result on the head.

    Its file may be one that no runner reads, or one for another system. A method that moved into another class counts
    as run if it has a new result there: classes that inherit it report it under their own names.
    """
    return [
        UNRUN.format(entry.name, f" as {entry.now}" if entry.now else "", REMEDY.format(entry.name))
        for entry in (*comparison.renamed, *comparison.changed)
        if entry.unit and not _may_go(subject, entry) and _ran(subject, baseline, entry.name, passed=True)
        if not (_ran(subject, head, entry.now or entry.name) or _ran(subject, head, entry.name))
        if not _is_inherited(entry, baseline, head)
    ]


def _may_go(subject: ProofSubject, entry: ComparedTest) -> bool:
    known = subject.specification
    return not {entry.path, entry.name}.isdisjoint(known.may_change) or known.allows(entry.path, entry.unit)


def _ran(subject: ProofSubject, run: TestRun, name: str, *, passed: bool = False) -> bool:
    """Return whether some case of a test ended; with `passed`, as it should."""
    cases = subject.index.cases(run, name)
    return any(test in run.passed if passed else run.results[test].outcome is not CaseOutcome.SKIPPED for test in cases)


def _is_inherited(entry: ComparedTest, baseline: TestRun, head: TestRun) -> bool:
    *above, last = re.split(r"::| > ", (entry.now or entry.name).partition("::")[2])
    return bool(above) and any(
        test not in baseline.results and re.split(r"::| > |\[|\(", test.removesuffix("()"))[-1] == last
        for test in head.results
    )
