"""The report of an examination, for people and for machines (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from shared.git.notes import ChangedTest
from shared.text import one_line
from worker_agent.tdd.runners.test_run import NO_TESTS
from worker_agent.verify.compare import Falsehood
from worker_agent.verify.repeat import Ask, Repeated

SENTENCE_CHARS = 600


@dataclass(frozen=True, slots=True)
class Report:
    """`true` is the answer; `false` names what is not as claimed; the runs are counted as in `12 passed, 1 failed`."""

    subject: str
    base: str
    head: str
    true: bool
    false: tuple[Falsehood, ...] = ()
    on_base: str = ""
    red: str = ""
    green: str = ""
    proven: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    claimed: bool | None = True
    """True if a pull request claims it, else the difference was judged; None for two commits, which claim nothing."""
    damages: int = 0
    noticed: int = 0
    unnoticed: tuple[str, ...] = ()
    changed_tests: tuple[str, ...] = ()
    removed_tests: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    unstable: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    suite_runs: int = 0

    @classmethod
    def of(
        cls,
        subject: str,
        ask: Ask,
        seen: Repeated,
        false: tuple[Falsehood, ...],
        remarks: tuple[str, ...] = (),
        *,
        claimed: bool | None = True,
    ) -> Self:
        """Build the report from the results, and from the claims that are false."""
        return cls(
            subject,
            ask.base,
            ask.head,
            true=not false,
            false=false,
            on_base=seen.baselines[0].one_line(),
            red=seen.red.one_line(),
            green=seen.green.one_line(),
            proven=tuple(seen.green_verdict.proven),
            remarks=(*remarks, *seen.proof.remarks),
            claimed=claimed,
            damages=seen.proof.damages,
            noticed=seen.proof.noticed,
            unnoticed=seen.proof.unnoticed,
            changed_tests=tuple(_changed_line(one) for one in seen.proof.changed_tests),
            removed_tests=seen.proof.removed_tests,
            pinned=seen.proof.pinned,
            unstable=seen.proof.unstable,
            doubts=seen.proof.doubts,
            suite_runs=seen.proof.suite_runs,
        )


def _changed_line(test: ChangedTest) -> str:
    """Return the line for a changed test, which names the test once."""
    return test.what if test.what.startswith(f"{test.test}: ") else f"{test.test}: {test.what}"


def as_text(report: Report) -> str:
    """Return lines for a terminal, without control characters; text made by tests is cut."""
    word = {True: "verified", False: "proven, though nobody claims it", None: "proven"}[report.claimed]
    word = word if report.true else "NOT PROVEN"
    lines = [f"{report.subject}: {word}"]
    lines += [f"  {one_line(f'{one.what}: {one.sentence}', SENTENCE_CHARS)}" for one in report.false]
    if report.on_base:
        runs = {"the head's tests on the base": report.red, f"head {report.head[:12]}": report.green}
        lines.append(f"  base {report.base[:12]}: {report.on_base}")
        lines += [f"  {where}: {seen}" for where, seen in runs.items() if seen != NO_TESTS]
        if report.true or report.green != NO_TESTS:
            lines.append(f"  failing on the base and passing on the head: {len(report.proven)}")
    if report.damages:
        lines.append(f"  noticed {report.noticed} of {report.damages} damages of the code")
        lines += [f"    not noticed: {one_line(what, SENTENCE_CHARS)}" for what in report.unnoticed]
    told = {
        "changed expectation": report.changed_tests,
        "removed": report.removed_tests,
        "taken from the base": report.pinned,
        "unstable": report.unstable,
        "doubt": report.doubts,
        "note": report.remarks,
    }
    lines += [f"  {word}: {one_line(what, SENTENCE_CHARS)}" for word, found in told.items() for what in found]
    return "\n".join(lines)
