"""What the agents of a task are doing, in sentences for a person who watches (pure)."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.telemetry.cost import NOT_MADE, lasting
from shared.llm.port import Call, Ending
from shared.telemetry.events import Event, Kind
from shared.text import one_line

_DOING: Mapping[str, str] = {
    "red": "Writing the tests.",
    "green": "Writing the code.",
    "refactor": "Refactoring.",
    "fix": "Mending what does not pass.",
    "feedback": "Making the changes that the review requests.",
    "answer": "Making the changes that the review requests.",
    "in-review": "Reviewing.",
}
"""By an item's phase, where a coder works."""

_ABOUT: Mapping[str, str] = {
    Call.WRITE_TESTS: "the tests",
    Call.IMPLEMENT: "the code",
    Call.REFACTOR: "the refactoring",
    Call.FIX_CI: "the repair",
    Call.RESOLVE_CONFLICT: "a conflict",
    Call.SUMMARISE: "the summary",
    Call.REVIEW: "the review",
    Call.CHECK_CRITERIA: "the criteria",
    Call.DIAGNOSE: "the cause",
}

_VERDICTS: Mapping[str, str] = {
    "approved": "The review approves.",
    "changes_requested": "The review requests changes",
}


def doing(event: Event, *, usd: float = 0.0, attempts: int = 0) -> str:
    """What a coder has begun to do; empty when the event is no such beginning.

    `usd` is what the item has cost so far, `attempts` how many it may have; 0 is not told.
    """
    sentence = _DOING.get(event.phase, "") if event.kind in {Kind.PHASE, Kind.CLAIM, Kind.ITERATION} else ""
    about = [*_tries(event, attempts), *([f"${usd:.2f}"] if usd else [])]
    return f"{sentence.removesuffix('.')} ({', '.join(about)})." if sentence and about else sentence


def _tries(event: Event, attempts: int) -> list[str]:
    attempt = event.data.get("attempt")
    if event.phase != "green" or not attempts or not isinstance(attempt, int):
        return []
    return [f"attempt {min(attempt + 1, attempts)} of {attempts}"]


def told(event: Event) -> str:
    """What has been done; empty for what a person need not know."""
    match event.kind:
        case Kind.LLM_CALL:
            return _call(event.data)
        case Kind.TEST_RUN:
            return _tests(event.data)
        case Kind.REVIEW:
            return _review(event.data)
        case Kind.CI if event.data.get("verdict") in _CHECKED:
            return _ci(event.data)
        case Kind.RETRY if event.data.get("state") == "failed":
            return f"A call failed ({one_line(str(event.data.get('reason', '')), 80)}) and is repeated."
        case _:
            return ""


_CHECKED = {"green": "passed", "red": "failed", "infrastructure": "failed for a reason of its own"}


def _ci(data: Mapping[str, object]) -> str:
    red = data.get("failed")
    names = f" ({one_line(', '.join(map(str, red)), 80)})" if isinstance(red, list | tuple) and red else ""
    return f"  CI {_CHECKED[str(data['verdict'])]}{names}"


def detail(event: Event) -> str:
    """A step that a person hears of who asks why; empty for all others."""
    data = event.data
    match event.kind:
        case Kind.CLAIM:
            return f"  #{event.issue or event.pull} is claimed at {data.get('stage', '')}"
        case Kind.LOCK if data.get("event") in {"refused", "released"}:
            return f"  the lock of #{event.issue or event.pull} is {data['event']}"
        case Kind.LABEL:
            return f"  #{data.get('number', 0)}: {data.get('change', '')} {', '.join(map(str, data.get('labels', ())))}"
        case Kind.PHASE:
            return f"  {data.get('was', '')} -> {event.phase or data.get('stage', '')}"
        case _:
            return ""


def ended(event: Event) -> str:
    """How an item ended; empty for every other event."""
    if event.kind is not Kind.ENDED:
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
    where = "the tests before the work" if data.get("place") == "base" else "the tests"
    return f"  {where}: {', '.join(counts) or 'none'}"


_COUNTED = ("passed", "failed", "skipped", "not_collected")


def _review(data: Mapping[str, object]) -> str:
    said, findings = _VERDICTS.get(str(data.get("verdict")), ""), data.get("findings")
    if not said or said.endswith("."):
        return said
    return f"{said}: {findings} finding{'s' * (findings != 1)}."
