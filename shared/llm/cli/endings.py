"""The ending of a CLI's run, by what its program and the vendor said: the rules that several backends share (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from shared.llm.cli.stream import Event
from shared.llm.port import Ending, RunOutcome

DISABLED = (
    r"organi[sz]ation has been (?:disabled|deactivated|suspended)|(?:organization|account)_(?:disabled|deactivated)"
    r"|(?:disabled|deactivated|suspended) organi[sz]ation"
)
"""Messages of vendors that an account is closed, whatever the status: its owner has to act, as for a wrong key."""

_STATUSES: Mapping[int, Ending] = {
    401: Ending.AUTH,
    403: Ending.AUTH,
    402: Ending.BILLING,
    404: Ending.CONFIG,
    408: Ending.TRANSIENT,
    429: Ending.OVERLOADED,
    529: Ending.OVERLOADED,
}

Patterns = Sequence[tuple[re.Pattern[str], Ending]]
"""Patterns of a failure's text and the endings that they mean; the first match counts."""


def patterns(*words: tuple[str, Ending]) -> Patterns:
    """Compile patterns, which match in any case."""
    return tuple((re.compile(form, re.IGNORECASE), ending) for form, ending in words)


def of_text(known: Patterns, text: str) -> Ending | None:
    """Return the ending that a failure's text means; None if no pattern matches."""
    return next((ending for form, ending in known if form.search(text)), None)


def of_status(status: int) -> Ending:
    """Return the ending that a vendor's status means."""
    return _STATUSES.get(status, Ending.TRANSIENT if status >= 500 else Ending.PERSISTENT)


def answered(text: str, answer: object, *, structured: bool, notes: tuple[str, ...] = ()) -> RunOutcome:
    """Return the outcome of a run that ended by itself: with its `answer` if that has to be an object, or its words."""
    if structured:
        found = answer if isinstance(answer, dict) else None
        return RunOutcome(Ending.MALFORMED if found is None else Ending.COMPLETED, text, found, notes=notes)
    if not text.strip():
        return RunOutcome(Ending.EMPTY, "it ended without saying anything", notes=notes)
    return RunOutcome(Ending.COMPLETED, text, notes=notes)


def denied_calls(result: Event) -> tuple[str, ...]:
    """Note denied tool calls in a result of Claude Code or Qwen Code: the run went on without them."""
    denied = result.get("permission_denials")
    listed = denied if isinstance(denied, list) else []
    tools = {str(call.get("tool_name", "?")) for call in listed if isinstance(call, dict)}
    return (f"denied tool calls: {', '.join(sorted(tools))}",) if tools else ()
