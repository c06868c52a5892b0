"""Sentences of the page: what a person has to do, what a card waits for, and what an event tells (pure)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from console.status.phrases import ago, plain, tries, until_text
from console.status.row import ItemRow, Whom
from runtime.telemetry.progress_text import ended, finished_text
from shared.commands.command import Verb
from shared.telemetry.events import Event, EventKind
from shared.text import one_line
from shared.workflow import Track

ASKS: Mapping[str, str] = {
    "the plan": "Read the plan, then approve it; /reject or /edit in its thread asks for another one.",
    "the refactoring": "Read the refactoring, then approve it; /reject in its thread goes on without it.",
    "questions to answer": "Answer the questions in its thread.",
    "paused": "It is paused: resume it, or stop it.",
    "it has failed": "It has failed. Read why in its thread, then retry it.",
    "it was stopped": "It was stopped. Retry it, or close it.",
    "its text to be corrected": "Correct its text, then retry it.",
    "its budget is used up": "Its budget is used up: raise the limit, then retry it.",
    "does it exist already?": "Its tests passed before any work: close it, or add what is missing and retry it.",
    "merge it": "Its review approves it: merge it on GitHub.",
    "/merge": "Its review approves it: comment /merge on it.",
    "/merge by somebody else": "Somebody else than its author comments /merge on it.",
    "a request for changes stands": "Somebody has requested changes: dismiss that review, or let it be answered.",
    "it has no checks": "It has no checks, and one must pass: see that CI runs on it.",
    "a required check": "A required check has not run: start it on GitHub.",
    "its issue was stopped": "Its issue was closed, locked, paused or stopped: undo that, or merge or close this.",
    "its issue was edited": "Its issue was edited after its text was approved: its thread says what to do.",
    "what its base branch requires": "Its base branch requires more than the engine may do: merge it on GitHub.",
    "merge its base into it": "It conflicts with its base: merge the base into it, then ask for another review.",
    "GitHub refused the merge": "GitHub refused the merge: look at it there.",
    "put it into the merge queue": "It fell out of the merge queue: put it in again.",
    "merge or close it": "It takes back what turned the base red: merge it on GitHub, or close it.",
    "its author": "Its author has to answer the review.",
    "a status label": "Nothing has begun: comment /start if it is to be done.",
    "nobody has asked for a review of the newest commits": "Nobody has asked for a review of the newest commits: "
    "its thread says how.",
}
"""Reason of `console.status` for waiting for a person -> the person's next step. Others are shown as they are."""

_WAITS: Mapping[Whom, str] = {
    Whom.CI: "Waits for CI: {}",
    Whom.ITEM: "Waits for {}",
    Whom.TIME: "Waits: {}",
}

STAGE: Mapping[str, str] = {"new": "not begun", "in-review": "in review", "ci-failed": "CI failed"}

KIND = {Track.STORY: "Story", Track.SPECIFICATION: "Issue", Track.PULL_REQUEST: "Pull request"}

ORDER: Mapping[Verb, tuple[str, str]] = {
    Verb.APPROVE: ("Approve", "The agent that asked goes on. Have you read what it asks about?"),
    Verb.RETRY: ("Retry", "The next free agent goes on from where it stopped."),
    Verb.RESUME: ("Resume", "The next free agent goes on."),
    Verb.PAUSE: ("Pause", "An agent that works on it lets go within a heartbeat."),
    Verb.STOP: ("Stop", "An agent that works on it lets go within a heartbeat; its branch is kept."),
}
"""The button, and what is asked before it is carried out."""


def asks(row: ItemRow) -> str:
    """Return what a person has to do; empty if nothing has to be done."""
    if row.waiting is None or row.waiting.whom is not Whom.PERSON:
        return ""
    why = plain(row.waiting.why)
    return ASKS.get(why) or f"{why[:1].upper()}{why[1:]}."


def waits(row: ItemRow, at: datetime) -> str:
    """Return what the row waits for, other than a person; empty when an agent works on it."""
    if row.waiting is None or row.waiting.whom is Whom.PERSON:
        return ""
    until = until_text(row.waiting, at)
    return _WAITS.get(row.waiting.whom, "Waits for {}").format(plain(row.waiting.why)) + (f",{until}" if until else "")


def stage(row: ItemRow) -> str:
    """The stage in plain words."""
    return STAGE.get(row.stage, row.stage.replace("-", " "))


def facts(row: ItemRow, at: datetime) -> str:
    """Kind, stage, for how long, tries, cost and CI, as far as they are known."""
    tried = f"attempt {tries(row).replace('/', ' of ')}" if row.attempts and row.attempts[0] else ""
    parts = (
        f"{KIND[row.track]} {stage(row)} for {ago(at - row.moved_at)}",
        tried,
        f"review round {row.round}" if row.round else "",
        f"${row.usd:.2f}" if row.usd else "",
        f"CI {row.ci}" if row.ci is not None else "",
        *(f"flag {flag}" for flag in row.flags),
    )
    return ", ".join(part for part in parts if part)


def sentence(event: Event) -> str:
    """Return the sentence of an event; every kind of event has one."""
    said = finished_text(event).strip() or ended(event) or _SAYS.get(event.kind, _other)(event)
    said = plain(one_line(said, MOST))
    return f"{said[:1].upper()}{said[1:]}".rstrip(".") + "."


MOST = 240
"""Characters of one sentence; what is longer ends with an ellipsis, and `workflow-engine events` has it all."""


def _claim(event: Event) -> str:
    attempt = event.data.get("attempt")
    counted = f", attempt {attempt}" if isinstance(attempt, int) and attempt else ""
    return f"taken up at {_word(event, 'stage')}{counted}"


def _phase(event: Event) -> str:
    before = _word(event, "was")
    return f"from {before} to {event.phase or _word(event, 'stage')}" if before else f"now {event.phase}"


def _iteration(event: Event) -> str:
    data = event.data
    return f"attempt {data['attempt']} begins" if data.get("attempt") else f"review round {data.get('round', 0)} begins"


def _lock(event: Event) -> str:
    says = {
        "asked": "asks for the lock",
        "won": "got the lock",
        "refused": "did not get the lock",
        "released": "released the lock",
    }
    before = _word(event, "before")
    return says.get(_word(event, "event"), "the lock changed") + (f", which {before} held" if before else "")


def _label(event: Event) -> str:
    labels = ", ".join(map(str, event.data.get("labels", ())))
    return (
        f"labels of #{event.data.get('number', event.issue or event.pull)}: {_word(event, 'change')} {labels}".strip()
    )


def _approval(event: Event) -> str:
    by = _word(event, "by")
    states = {"requested": "is awaited", "granted": "is granted", "timed_out": "did not come in time"}
    state = states.get(_word(event, "state"), f"is {_word(event, 'state')}")
    return f"approval of the {_word(event, 'what')} {state}" + (f" by {by}" if by else "")


def _command(event: Event) -> str:
    by = _word(event, "by")
    return f"{_word(event, 'command')}" + (f" by {by}" if by else "") + f": {_word(event, 'outcome')}"


def _agent(event: Event) -> str:
    reason = _word(event, "reason")
    return f"the agent: {_spaced(event, 'state')}" + (f" ({reason})" if reason else "")


def _other(event: Event) -> str:
    words = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in event.data.items())
    return f"{event.kind.replace('_', ' ')}" + (f": {words}" if words else "")


_SAYS: Mapping[EventKind, Callable[[Event], str]] = {
    EventKind.CLAIM: _claim,
    EventKind.PHASE: _phase,
    EventKind.ITERATION: _iteration,
    EventKind.LOCK: _lock,
    EventKind.LABEL: _label,
    EventKind.CI: lambda event: f"CI is {_word(event, 'verdict') or 'looked at'}",
    EventKind.REVIEW: lambda event: f"the review says {_spaced(event, 'verdict')}",
    EventKind.APPROVAL: _approval,
    EventKind.COMMAND: _command,
    EventKind.ESCALATION: lambda event: (
        f"handed to a person ({_spaced(event, 'category')}): {_word(event, 'sentence')}"
    ),
    EventKind.AGENT: _agent,
    EventKind.PHASE_SLOW: lambda event: f"{event.phase or 'the phase'} takes longer than usual",
    EventKind.RETRY: lambda event: f"a repeated call {_word(event, 'state') or 'ended'}",
    EventKind.LLM_CALL: lambda event: (
        f"{_word(event, 'backend') or 'a backend'} was not called: {_spaced(event, 'ending')}"
    ),
}


def _spaced(event: Event, name: str) -> str:
    return _word(event, name).replace("_", " ")


def _word(event: Event, name: str) -> str:
    value: Any = event.data.get(name, "")
    return value if isinstance(value, str) else str(value)
