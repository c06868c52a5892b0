"""How a person watches a task: lines with the time since the start, and on a terminal a line that lives below them.

What the agents of a task are doing, in sentences for a person who watches.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio.to_thread
from rich.console import Console
from rich.status import Status
from rich.text import Text

from runtime.building.telemetry import EVENTS
from runtime.output import say
from runtime.telemetry.cost import NOT_MADE, TaskCost, lasting, spelled
from shared.clock import Clock
from shared.llm.port import Call, Ending
from shared.telemetry.events import Event, Kind, Query
from shared.telemetry.sqlite_store import SqliteStore
from shared.text import one_line, printable

MOST = 100_000
"""Events of one reading; a task has some dozens."""


class Trail:
    """What the agents of a task tell of themselves, each event once."""

    def __init__(self, place: Path) -> None:
        """`place` is the task's own directory."""
        self._store = SqliteStore(place / "state" / EVENTS)
        self._last = 0

    async def news(self) -> list[Event]:
        """The events since the last reading, in their order."""
        rows = []
        with suppress(sqlite3.Error):  # a watcher is no reason to end the work
            rows = await anyio.to_thread.run_sync(self._store.read, Query(after=self._last), MOST)
        self._last = max((row.place for row in rows), default=self._last)
        return [row.event for row in rows]


class Progress:
    """Tells on standard error; nothing of it is a result."""

    def __init__(self, clock: Clock, *, attempts: int = 0, numbered: bool = False, detailed: bool = False) -> None:
        """`attempts` an item may have, 0: not told; `numbered`: of several items, each line names its own;
        `detailed`: the steps of the lock and of labels are told too.
        """
        self._clock = clock
        self.attempts, self._numbered, self._detailed = attempts, numbered, detailed
        self._began = clock.boot()
        self._doing = ""
        self._begun: dict[int, tuple[str, object]] = {}
        self._spent: dict[int, float] = {}
        self._live: Status | None = None

    @property
    def seconds(self) -> float:
        """How long it has been watched."""
        return self._clock.boot() - self._began

    def say(self, sentence: str) -> None:
        """One or more lines, as they are."""
        self._write(printable(sentence))

    def tell(self, sentence: str) -> None:
        """Something that has just happened, with the time since the start."""
        if sentence:
            minutes, seconds = divmod(round(self.seconds), 60)
            self._write(f"{minutes:3d}:{seconds:02d}  {printable(sentence)}")

    def follow(self, events: list[Event]) -> None:
        """Tell what agents have done and begun."""
        for event in events:
            item = event.issue or event.pull
            cost = event.data.get("cost_usd")
            if event.kind is Kind.LLM_CALL and isinstance(cost, int | float):
                self._spent[item] = self._spent.get(item, 0.0) + cost
            if self._detailed and (step := detail(event)):
                self._of_item(item, step)
            self._begin(event, item)
            for sentence in (told(event), ended(event) if self._numbered else ""):
                if sentence:
                    self._of_item(item, sentence)

    def _begin(self, event: Event, item: int) -> None:
        """Tell what a coder has begun to do, each time once."""
        begun = doing(event, usd=self._spent.get(item, 0.0), attempts=self.attempts)
        this = (event.phase, event.data.get("attempt"))
        if begun and self._begun.get(item) != this:
            self._begun[item] = this
            self._doing = begun
            self._of_item(item, begun)

    def _of_item(self, item: int, sentence: str) -> None:
        self.tell(f"#{item}: {sentence.strip()}" if self._numbered and item else sentence)

    def show(self, spent: TaskCost) -> None:
        """Renew the living line, where there is one."""
        if self._live is not None:
            self._live.update(Text(f"{self._doing or 'Beginning.'}  {spelled(spent)}"))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """A living line on a terminal for as long as the block runs; in a pipe nothing."""
        console = Console(stderr=True)
        if not console.is_terminal or console.is_dumb_terminal:
            yield
            return
        with console.status(Text("Beginning."), spinner_style="cyan") as self._live:
            console.show_cursor()  # a process that is killed cannot bring it back
            try:
                yield
            finally:
                self._live = None

    def _write(self, lines: str) -> None:
        if self._live is None:
            say(lines, error=True)
        else:
            self._live.console.print(lines, markup=False, highlight=False, emoji=False, soft_wrap=True)


class Watched:
    """A trail that a person reads as it comes; satisfies `shared.telemetry.events.Trail`."""

    dropped = 0

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def record(self, event: Event) -> None:
        """Tell it, if it is worth telling."""
        self._progress.follow([event])

    def close(self, seconds: float) -> None:
        """Everything was told already."""


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
