"""Sentences about the work of a task's agents, for a person who watches."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.telemetry.cost import NOT_MADE, lasting
from shared.ci.verdict import CiVerdict
from shared.llm.port import CoderCall, Ending
from shared.telemetry.events import Event, EventKind
from shared.text import one_line
from shared.workflow import Stage

_DOING: Mapping[str, str] = {
    "red": "Writing the tests.",
    "green": "Writing the code.",
    "refactor": "Refactoring.",
    "fix": "Mending what does not pass.",
    "feedback": "Making the changes that the review requests.",
    "answer": "Making the changes that the review requests.",
    "in-review": "Reviewing.",
}
"""Phase of an item -> what its coder does."""

_ABOUT: Mapping[str, str] = {
    CoderCall.WRITE_TESTS: "the tests",
    CoderCall.IMPLEMENT: "the code",
    CoderCall.REFACTOR: "the refactoring",
    CoderCall.FIX_CI: "the repair",
    CoderCall.RESOLVE_CONFLICT: "a conflict",
    CoderCall.SUMMARISE: "the summary",
    CoderCall.TRIAGE: "a proposal for an issue",
    CoderCall.ANSWER: "an answer to a question",
    CoderCall.REVIEW: "the review",
    CoderCall.CHECK_CRITERIA: "the criteria",
    CoderCall.DIAGNOSE: "the cause",
}

_VERDICTS: Mapping[str, str] = {
    "approved": "The review approves.",
    "changes_requested": "The review requests changes",
}


def doing(event: Event, *, usd: float = 0.0, attempts: int = 0, ci: bool = True) -> str:
    """Return what a coder has begun to do; empty if the event is no such beginning.

    `usd` is what the item has cost so far, `attempts` how many it may have; 0 is not told. Without `ci` none is waited
    for.
    """
    sentence = _work_text(event, ci=ci) if event.kind in {EventKind.PHASE, EventKind.CLAIM, EventKind.ITERATION} else ""
    about = [*_tries(event, attempts), *([f"${usd:.2f}"] if usd else [])]
    return f"{sentence.removesuffix('.')} ({', '.join(about)})." if sentence and about else sentence


def _work_text(event: Event, *, ci: bool) -> str:
    if ci and event.data.get("stage") == Stage.TESTING:
        if not event.pull:
            return "Opening a pull request, then waiting for its CI."
        return f"Waiting for CI of pull request #{event.pull}."
    return _DOING.get(event.phase, "")


def _tries(event: Event, attempts: int) -> list[str]:
    attempt = event.data.get("attempt")
    if event.phase != "green" or not attempts or not isinstance(attempt, int):
        return []
    return [f"attempt {min(attempt + 1, attempts)} of {attempts}"]


def finished_text(event: Event) -> str:
    """Return what has been done; empty for what a person need not know."""
    match event.kind:
        case EventKind.LLM_CALL:
            return _call(event.data)
        case EventKind.TEST_RUN:
            return _tests(event.data)
        case EventKind.REVIEW:
            return _review(event.data)
        case EventKind.CI if event.data.get("verdict") == CiVerdict.RUNNING and event.data.get("unfinished"):
            where = f" on #{event.pull}" if event.pull else ""
            return f"  CI runs{where}: {_check_names(event.data['unfinished'])}"
        case EventKind.CI if event.data.get("verdict") in _CHECKED:
            return _ci(event.data)
        case EventKind.RETRY if event.data.get("state") == "failed":
            return _retry_sentence(event.data)
        case _:
            return ""


def _retry_sentence(data: Mapping[str, object]) -> str:
    """Return what failed, and when it is tried again; the words of a wait are those of the fence."""
    reason, until = one_line(str(data.get("reason", "")), 80), str(data.get("until", ""))
    why = "" if reason in {"", "backoff"} else f" ({reason})"
    when = f" at {until[11:19]} UTC" if until[10:11] == "T" else ""
    return f"GitHub, git or the coding backend did not answer as it should{why}; it is tried again{when}."


_CHECKED = {"green": "passed", "red": "failed", "infrastructure": "failed for a reason of its own"}


def _ci(data: Mapping[str, object]) -> str:
    names = _check_names(data.get("failed"))
    return f"  CI {_CHECKED[str(data['verdict'])]}{f' ({names})' if names else ''}"


def _check_names(checks: object) -> str:
    return one_line(", ".join(map(str, checks)), 80) if isinstance(checks, list | tuple) else ""


def detail(event: Event) -> str:
    """Return a step for a person who asks why; empty for all other events."""
    data = event.data
    match event.kind:
        case EventKind.CLAIM:
            return f"  #{event.issue or event.pull} is claimed at {data.get('stage', '')}"
        case EventKind.LOCK if data.get("event") in {"refused", "released"}:
            return f"  the lock of #{event.issue or event.pull} is {data['event']}"
        case EventKind.LABEL:
            return f"  #{data.get('number', 0)}: {data.get('change', '')} {', '.join(map(str, data.get('labels', ())))}"
        case EventKind.PHASE:
            return f"  {data.get('was', '')} -> {event.phase or data.get('stage', '')}"
        case _:
            return ""


def ended(event: Event) -> str:
    """Return how an item ended; empty for every other event."""
    if event.kind is not EventKind.ENDED:
        return ""
    sentence = one_line(str(event.data.get("sentence", "")), 160)
    return f"{event.data.get('status', 'ended')}: {sentence}".removesuffix(": ")


def _call(data: Mapping[str, object]) -> str:
    ending = str(data.get("ending", ""))
    if ending == NOT_MADE:
        return ""
    call, cost, seconds = str(data.get("call", "")), data.get("cost_usd"), data.get("seconds")
    parts = [
        *((ending.replace("_", " "),) if ending != Ending.COMPLETED else ()),
        lasting(seconds if isinstance(seconds, int | float) else 0),
        f"${cost:.2f}" if isinstance(cost, int | float) else "cost unknown",
    ]
    return f"  {data.get('backend', '')} on {_ABOUT.get(call, call)}: {', '.join(parts)}"


def _tests(data: Mapping[str, object]) -> str:
    counts = [f"{data[name]} {name.replace('_', ' ')}" for name in _COUNTED if data.get(name)]
    purpose, number, of = str(data.get("purpose", "")), data.get("number"), data.get("of")
    which = f" {number} of at most {of}" if number and of else ""
    if purpose in _DAMAGED:
        return f"  {_DAMAGED[purpose]}{which}: {_NOTICED.get(str(data.get('outcome')), 'not finished')}"
    what = _RUNS.get(purpose, "the tests before the work" if data.get("place") == "base" else "the tests")
    return f"  {what}{which}: {', '.join(counts) or 'none'}"


_DAMAGED = {"damage": "damaged code", "expectations": "damaged expectations"}
"""Purpose of a run -> what was damaged, to see whether the tests notice."""

_NOTICED = {"failed": "the tests notice it", "timed out": "the tests notice it", "passed": "no test notices it"}
"""Outcome of such a run -> its meaning: what is damaged is well tested if tests fail."""

_RUNS = {
    "taken back": "the tests with a part of the change taken back",
    "old tests": "the old tests",
    "elsewhere": "the tests in another place, order and time",
    "again": "the tests once more",
}
"""Runs of a proof in which nothing was damaged, by their purpose."""

_COUNTED = ("passed", "failed", "skipped", "not_collected")


def _review(data: Mapping[str, object]) -> str:
    said, findings = _VERDICTS.get(str(data.get("verdict")), ""), data.get("findings")
    if not said or said.endswith("."):
        return said
    return f"{said}: {findings} finding{'s' * (findings != 1)}."
