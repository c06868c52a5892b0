"""Notices about running agents for a person at a terminal: at their start, of events that need attention, at Ctrl-C."""

from __future__ import annotations

import signal
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from config.settings import Settings
from runtime.output import on_terminal, show
from shared.text import one_line
from shared.workflow import Role

if TYPE_CHECKING:  # `workflow-engine run` says what begins before it loads what is large
    from runtime.signals import Orders

MOST_NAMES = 4
"""Maximum number of repositories or items that are named; of the rest the number is told."""


def announce(roles: Sequence[Role], settings: Settings) -> None:
    """Print on a terminal what begins, and for which repositories."""
    if on_terminal(sys.stderr):
        show(opening(roles, settings), error=True)


def opening(roles: Sequence[Role], settings: Settings) -> str:
    """Return what begins, in two sentences (pure)."""
    who = _joined([str(role) for role in roles])
    names = _named_some([one.name for one in settings.repositories])
    intervals = {one.poll_interval for one in settings.repositories}
    often = f" every {min(intervals):g} s" if len(intervals) == 1 else ""
    return f"{who[:1].upper()}{who[1:]} for {names}: looking for work{often}, until Ctrl-C. Signing in ..."


class Holder(Protocol):
    """An agent or a loop that works on items."""

    @property
    def held(self) -> tuple[str, ...]:
        """Items that are in work or wait, as `owner/repo#3`."""
        ...


class Interruption:
    """The notices of a stop by Ctrl-C; none if `shown` is false."""

    def __init__(self, orders: Orders, *, shown: bool) -> None:
        self._orders, self._shown = orders, shown
        self.holders: list[Holder] = []
        """Asked for their items when the stop begins, because it releases what they hold."""
        self._left: Sequence[str] = ()
        orders.on_stop.append(self._begin)

    def _begin(self) -> None:
        self._left = tuple(one for holder in self.holders for one in holder.held)
        if self._shown and self._orders.stopped_by == signal.SIGINT:
            show("Stopping, and releasing what is in work. Ctrl-C again ends it at once.", error=True)

    def end(self) -> None:
        """Print what is left, and how to go on."""
        if self._shown and self._orders.stopped_by == signal.SIGINT:
            show(interruption_text(self._left), error=True)


def interruption_text(items: Sequence[str]) -> str:
    """Return what an interruption leaves, in one sentence (pure)."""
    if not items:
        return "Interrupted; nothing was in work: the same command goes on."
    several = len(items) > 1
    keeps, them = ("keep", "them") if several else ("keeps", "it")
    return (
        f"Interrupted; {_named_some(items)} {keeps} what was built, and any agent may take {them} up: "
        "the same command goes on."
    )


def _named_some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return _joined(names) if more <= 1 else _joined([*names[:MOST_NAMES], f"{more} more"])


def _joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


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
