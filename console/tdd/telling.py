"""What the agents of a task are doing, in sentences for a person who watches (pure)."""

from __future__ import annotations

from collections.abc import Mapping

from console.tdd.expense import NOT_MADE, lasting
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


def doing(event: Event) -> str:
    """What a coder has begun to do; empty when the event is no such beginning."""
    return _DOING.get(event.phase, "") if event.kind in {Kind.PHASE, Kind.CLAIM} else ""


def told(event: Event) -> str:
    """What has been done; empty for what a person need not know."""
    match event.kind:
        case Kind.LLM_CALL:
            return _call(event.data)
        case Kind.TEST_RUN:
            return _tests(event.data)
        case Kind.REVIEW:
            return _review(event.data)
        case Kind.RETRY if event.data.get("state") == "failed":
            return f"A call failed ({one_line(str(event.data.get('reason', '')), 80)}) and is repeated."
        case _:
            return ""


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
