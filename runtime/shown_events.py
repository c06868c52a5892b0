"""Events of the log as sentences for a person, on standard error."""

from __future__ import annotations

from collections.abc import Mapping

from runtime.output import show
from shared.text import one_line

MOST_CHARACTERS = 400
"""Maximum characters of a warning that are told to a person."""

_OF_EVERY_LINE = frozenset({"event", "level", "timestamp", "agent", "outcome", "run"})
"""Fields that programs look for, and that tell a person nothing."""


def show_notice(event: Mapping[str, object]) -> bool:
    """Tell a person why items are passed over (`--verbose`), and what needs attention; return whether it was told."""
    match event["event"]:
        case "item_left_alone":
            show(f"not taken: {event['repo']}#{event['issue']}: {event['reason']}", error=True)
        case "run_failed":
            show(f"A run failed: {event['error']}", error=True)
        case "start_delayed":
            show(f"GitHub cannot be asked yet, and is tried again: {event['error']}", error=True)
        case "sandbox_off":
            show(f"warning: no sandbox (`sandbox: none`): {event['consequence']}.", error=True)
        case "unsigned_comments":
            show(f"warning: comments are not signed: {event['next_step']}.", error=True)
        case "labels_restored":
            show(f"Made {len(str(event['labels']).split(','))} missing labels in {event['repo']}.", error=True)
        case _ if event.get("level") in {"warning", "error"} and "exception" not in event:
            show(f"{event['level']}: {_event_as_text(event)}", error=True)
        case _:
            return False
    return True


def show_in_dialogue(event: Mapping[str, object]) -> bool:
    """Tell the same to one who is led step by step: no line of a log comes between."""
    return show_notice(event) or "exception" not in event


def _event_as_text(event: Mapping[str, object]) -> str:
    """Return a warning or an error for which there is no sentence: its name and its fields in words."""
    about = [f"{name.replace('_', ' ')} {value}" for name, value in event.items() if name not in _OF_EVERY_LINE]
    return one_line(f"{str(event['event']).replace('_', ' ')}: {', '.join(about)}".removesuffix(": "), MOST_CHARACTERS)
