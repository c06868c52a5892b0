"""The live board of a demonstration: issues and pull requests as they move, for a terminal or as plain lines."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from lab.demo.outcome import Merged
from lab.demo.setup import REPOSITORY
from lab.github.server import Lab
from lab.github.world.issues import EventRecord, IssueRecord
from shared.text import shown

_COLOURS = {
    "story": "magenta",
    "specification": "cyan",
    "pull request": "yellow",
}
_ACK = re.compile(r"^ACK:\w+:([a-z0-9-]+):\d+\n<!-- ack/3 .* state=active ", re.MULTILINE)

EVENTS = 12
"""Last moves that are shown."""


@dataclass
class Board:
    """The board that the audience sees; `refresh` reads GitHub's own events, so that no move is missed."""

    lab: Lab
    console: Console
    _read: int = 0
    _moves: deque[str] = field(default_factory=lambda: deque(maxlen=EVENTS))

    def say(self, sentence: str) -> None:
        """Tell something that has happened."""
        self._moves.append(sentence)
        if not self.console.is_terminal:
            self.console.print(sentence, markup=False, highlight=False)

    def refresh(self) -> None:
        """Tell every label that was set and every thread that was closed since the last look."""
        issues = self.lab.at(REPOSITORY).issues
        for event in issues.events[self._read :]:
            sentence = _sentence(event)
            if sentence:
                self.say(f"#{event.number} {_kind(issues.require(event.number))} {sentence} by {event.actor}")
        self._read = len(issues.events)

    def __rich__(self) -> Group:
        self.refresh()
        table = Table(expand=True)
        for name in ("", "what", "title", "stage", "held by"):
            table.add_column(name, no_wrap=name != "title")
        for thread in self.lab.at(REPOSITORY).issues.records.values():
            kind = _kind(thread)
            stage = Text(self._stage(thread), style="green" if not thread.open else "")
            what = Text(kind, style=_COLOURS[kind])
            table.add_row(
                f"#{thread.number}", what, Text(shown(thread.title)), stage, Text(self._holder(thread.number))
            )
        return Group(table, Panel(Text(shown("\n".join(self._moves))), title="what happened", expand=True))

    def _stage(self, thread: IssueRecord) -> str:
        pulls = self.lab.at(REPOSITORY).pulls.records
        pull = pulls.get(thread.number) if thread.is_pull else None
        if pull is not None and pull.merged_at is not None:
            return "merged"
        if not thread.open:
            return "closed"
        stages = sorted(label.partition(":")[2] for label in thread.labels if label.startswith("status:"))
        flags = sorted(label for label in thread.labels if label.startswith("flag:"))
        return ", ".join(stages + flags) or "open"

    def _holder(self, number: int) -> str:
        threads = self.lab.at(REPOSITORY).comments.of(number)
        holders = [found[1] for comment in threads if (found := _ACK.search(comment.body))]
        return holders[-1] if holders else ""


def _sentence(event: EventRecord) -> str:
    label = event.detail.get("name", "")
    if event.event == "labeled" and label == "story":
        return "opened"
    if event.event == "labeled" and label.startswith(("status:", "flag:")):
        return f"-> {label.removeprefix('status:')}"
    return event.event if event.event in {"closed", "merged", "reopened"} else ""


def _kind(thread: IssueRecord) -> str:
    if thread.is_pull:
        return "pull request"
    return "story" if "story" in thread.labels else "specification"


def evidence_table(merged: Merged) -> Table:
    """The proof of one pull request: each new test, red on the base and green on the head."""
    table = Table(title="Evidence", caption=Text("\n".join(merged.figures)), caption_justify="left", expand=True)
    for name in ("new test", "on the base", "on the head"):
        table.add_column(name, overflow="fold")
    for test, red, green in merged.proofs:
        table.add_row(Text(test.rpartition("::")[2]), Text(red, style="red"), Text(green, style="green"))
    return table
