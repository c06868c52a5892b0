"""Every sentence the worker posts about CI: pure functions from facts to Markdown."""

from __future__ import annotations

from collections.abc import Iterable

from shared.ci.ci_round import CiObservation
from shared.ci.triage import Cause
from shared.ci.verdict import failed, missing, unfinished
from shared.github.status import Status
from shared.lock.fence import Fence
from shared.text import last_words, neutralise, one_line
from worker_agent.ci.ci_reader import explained, of
from worker_agent.comments import progress

SAID_CHARS = 1_500
"""The most characters of a failed check's output in the comment that gives an item to a person."""


def red(fence: Fence, reading: CiObservation) -> Status:
    """Return the status while CI is red and is being repaired."""
    sentence = f"CI failed ({_names(check.name for check in failed(reading.checks))}); fixing it."
    return progress(fence, sentence, _list(explained(reading)))


def rerun(fence: Fence, reading: CiObservation, refusal: str, *, partly: bool = False) -> Status:
    """Return the status if CI is red without a known fault of ours: the commit is rerun if GitHub allows it.

    `partly`: only some of the jobs were refused.
    """
    names = _names(check.name for check in failed(reading.checks))
    waiting = {"why": "ci", "since": fence.at.isoformat()}
    if refusal:
        what = "some of it" if partly else "it"
        refused = f"the token may not rerun {what} (`actions: write`); continuing without a rerun."
        sentence = f"CI failed ({names}), and {refused}"
        return progress(fence, sentence, _list([refusal, *explained(reading)]), waiting=waiting)
    sentence = f"CI failed ({names}), maybe not because of this change; rerunning the failed jobs."
    return progress(fence, sentence, _list(explained(reading)), waiting=waiting)


def base_red(fence: Fence, reading: CiObservation) -> Status:
    """Return the status while the base branch fails the same checks."""
    names = _names(check.name for check in of(reading, Cause.BASE) or failed(reading.checks))
    wait = fence.wait
    cause = {"why": wait.reason, "until": wait.until.isoformat()} if wait else {"why": "red-base"}
    sentence = f"Waiting for the base branch: its checks fail too ({names}). This uses no attempt."
    return progress(fence, sentence, waiting=cause)


def overdue(fence: Fence, reading: CiObservation) -> Status:
    """Return the status if CI did not turn green in time, or there is none."""
    if reading.no_ci:
        sentence = (
            f"This repository has no CI: #{fence.pr} goes to review **without any check**. A maintainer merges "
            "it, or `/merge` once it is approved. (`ci.none_is_green: true` would need no checks.)"
        )
        return progress(fence, sentence, waiting={"why": "no ci"})
    never = missing(reading.checks, reading.required)
    waits = [name for name in unfinished(reading.checks, reading.required) if name not in never]
    red_ones = tuple(check.name for check in failed(reading.checks))
    told = f"CI has not finished in time ({_names(waits)})" if waits else "CI has not finished in time"
    if never:
        also = f", and {_names(waits)} did not finish" if waits else ""
        told = f"Required checks were not reported in time ({_names(never)}){also}"
    if red_ones:
        told = f"CI failed for reasons outside this change ({_names(red_ones)})"
    sentence = f"{told}; #{fence.pr} goes to review **without passing CI** and is not merged before CI passes."
    return progress(fence, sentence, _list(explained(reading)), waiting={"why": "ci overdue"})


def unrepaired(reading: CiObservation) -> str:
    """Return the reasons for asking a person: each failed check, its cause, and the end of its output."""
    found = reading.diagnosis.findings if reading.diagnosis else ()
    parts = [
        f"{_name(f.failure.check.name)}: {f.cause}. {neutralise(last_words(f.failure.output, SAID_CHARS))}"
        for f in found
    ]
    return "".join(f"\n- {part}" for part in parts[:5])


def _names(names: Iterable[str]) -> str:
    return ", ".join(_name(name) for name in names)


def _name(name: str) -> str:
    return one_line(name, 60)


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {one_line(line, 300)}" for line in lines)
