"""How a person watches a task: lines with the time since the start, and on a terminal a line that lives below them.

What the agents of a task are doing, in sentences for a person who watches.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio.to_thread
from rich.console import Console
from rich.status import Status
from rich.text import Text

from runtime.building.telemetry import EVENTS
from runtime.output import columns_of, laid_out, on_terminal, say
from runtime.telemetry.cost import NOT_MADE, TaskCost, lasting, spelled
from shared.ci.verdict import CiVerdict
from shared.clock import Clock
from shared.llm.port import CoderCall, Ending
from shared.telemetry.events import Event, EventKind, Query
from shared.telemetry.sqlite_store import SqliteStore
from shared.text import one_line, printable
from shared.workflow import Role, Stage

MOST = 100_000
"""Events of one reading; a task has some dozens."""

MOST_COMMITS = 1024
"""Commits of which it is remembered what was last told of their checks."""

_BESIDE_TIME = 10
"""Columns of the time and of what is set in beside it: what goes on in the next line stands below the words."""


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

    def __init__(
        self,
        clock: Clock,
        *,
        attempts: int = 0,
        numbered: bool = False,
        detailed: bool = False,
        awaited: Collection[Role] = (),
        ci: bool = True,
    ) -> None:
        """`attempts` an item may have, 0: not told; `numbered`: of several items, each line names its own;
        `detailed`: the steps of the lock and of labels are told too; `awaited`: when all these have started is told;
        `ci`: a CI is waited for.
        """
        self._clock = clock
        self.attempts, self._numbered, self._detailed = attempts, numbered, detailed
        self._awaited, self._ci = set(awaited), ci
        self._checked: dict[str, object] = {}
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
        """One or more lines, without the time."""
        self._write(printable(sentence))

    def tell(self, sentence: str) -> None:
        """Something that has just happened, with the time since the start."""
        if sentence:
            minutes, seconds = divmod(round(self.seconds), 60)
            self._write(f"{minutes:3d}:{seconds:02d}  {printable(sentence)}", indent=_BESIDE_TIME)

    def follow(self, events: list[Event]) -> None:
        """Tell what agents have done and begun."""
        for event in events:
            if self._is_known(event):
                continue
            item = event.issue or event.pull
            cost = event.data.get("cost_usd")
            if event.kind is EventKind.LLM_CALL and isinstance(cost, int | float):
                self._spent[item] = self._spent.get(item, 0.0) + cost
            if self._detailed and (step := detail(event)):
                self._of_item(item, step)
            self._begin(event, item)
            for sentence in (told(event), ended(event) if self._numbered else ""):
                if sentence:
                    self._of_item(item, sentence)

            self._join(event)

    def _is_known(self, event: Event) -> bool:
        """Whether another agent has told the same of CI already: the worker and the reviewer look at one commit."""
        commit, verdict = event.data.get("commit"), event.data.get("verdict")
        if event.kind is not EventKind.CI or not isinstance(commit, str):
            return False
        known = self._checked.get(commit) == verdict
        self._checked = dict([*self._checked.items(), (commit, verdict)][-MOST_COMMITS:])
        return known

    def _join(self, event: Event) -> None:
        """Tell when the last of several agents has started."""
        if event.kind is EventKind.AGENT and event.data.get("state") == "started" and event.role in self._awaited:
            self._awaited.discard(event.role)
            self.tell("" if self._awaited else "Looking for work.")

    def _begin(self, event: Event, item: int) -> None:
        """Tell what a coder has begun to do, each time once."""
        begun = doing(event, usd=self._spent.get(item, 0.0), attempts=self.attempts, ci=self._ci)
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

    def _write(self, lines: str, indent: int | None = None) -> None:
        if on_terminal(sys.stderr):
            lines = laid_out(lines, columns_of(sys.stderr), indent=indent)
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
    """What a coder has begun to do; empty when the event is no such beginning.

    `usd` is what the item has cost so far, `attempts` how many it may have; 0 is not told. Without `ci` none is waited
    for.
    """
    sentence = _begun(event, ci=ci) if event.kind in {EventKind.PHASE, EventKind.CLAIM, EventKind.ITERATION} else ""
    about = [*_tries(event, attempts), *([f"${usd:.2f}"] if usd else [])]
    return f"{sentence.removesuffix('.')} ({', '.join(about)})." if sentence and about else sentence


def _begun(event: Event, *, ci: bool) -> str:
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


def told(event: Event) -> str:
    """What has been done; empty for what a person need not know."""
    match event.kind:
        case EventKind.LLM_CALL:
            return _call(event.data)
        case EventKind.TEST_RUN:
            return _tests(event.data)
        case EventKind.REVIEW:
            return _review(event.data)
        case EventKind.CI if event.data.get("verdict") == CiVerdict.RUNNING and event.data.get("unfinished"):
            where = f" on #{event.pull}" if event.pull else ""
            return f"  CI runs{where}: {_named(event.data['unfinished'])}"
        case EventKind.CI if event.data.get("verdict") in _CHECKED:
            return _ci(event.data)
        case EventKind.RETRY if event.data.get("state") == "failed":
            return _repeated(event.data)
        case _:
            return ""


def _repeated(data: Mapping[str, object]) -> str:
    """What failed, and when it is tried again; the words of a wait are those of the fence."""
    reason, until = one_line(str(data.get("reason", "")), 80), str(data.get("until", ""))
    why = "" if reason in {"", "backoff"} else f" ({reason})"
    when = f" at {until[11:19]} UTC" if until[10:11] == "T" else ""
    return f"GitHub, git or the coding backend did not answer as it should{why}; it is tried again{when}."


_CHECKED = {"green": "passed", "red": "failed", "infrastructure": "failed for a reason of its own"}


def _ci(data: Mapping[str, object]) -> str:
    names = _named(data.get("failed"))
    return f"  CI {_CHECKED[str(data['verdict'])]}{f' ({names})' if names else ''}"


def _named(checks: object) -> str:
    return one_line(", ".join(map(str, checks)), 80) if isinstance(checks, list | tuple) else ""


def detail(event: Event) -> str:
    """A step that a person hears of who asks why; empty for all others."""
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
    """How an item ended; empty for every other event."""
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
"""What was damaged, to see whether the tests notice."""

_NOTICED = {"failed": "the tests notice it", "timed out": "the tests notice it", "passed": "no test notices it"}
"""What is damaged is well tested when tests fail."""

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
