"""The progress of a task for a person who watches: lines with the time, and on a terminal a live line below them."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.status import Status
from rich.text import Text

from runtime.output import columns_of, laid_out, on_terminal, say
from runtime.telemetry.cost import TaskCost, spelled
from runtime.telemetry.progress_text import detail, doing, ended, finished_text
from shared.clock import Clock
from shared.newest import Newest
from shared.telemetry.events import Event, EventKind
from shared.text import printable
from shared.workflow import Role

MOST_COMMITS = 1024
"""Maximum number of commits of which it is remembered what was last told of their checks."""

_BESIDE_TIME = 10
"""Columns of the time and of what is set in beside it, by which a continuation line is indented."""


class Progress:
    """Prints progress on standard error; nothing of it is a result."""

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
        """Choose what is told.

        `attempts`: how many an item may have; 0 is not told. `numbered`: there are several items, each line names its
        own. `detailed`: the steps of the lock and of labels are told too. `awaited`: it is told when all these have
        started. `ci`: a CI is waited for.
        """
        self._clock = clock
        self.attempts, self._numbered, self._detailed = attempts, numbered, detailed
        self._awaited, self._ci = set(awaited), ci
        self._checked: Newest[str, object] = Newest(MOST_COMMITS)
        self._began = clock.boot()
        self._doing = ""
        self._begun: Newest[int, tuple[str, object]] = Newest()
        self._spent: Newest[int, float] = Newest()
        self._live: Status | None = None

    @property
    def seconds(self) -> float:
        """Seconds since the start of the watch."""
        return self._clock.boot() - self._began

    def say(self, sentence: str) -> None:
        """Print one or more lines, without the time."""
        self._write(printable(sentence))

    def tell(self, sentence: str) -> None:
        """Print something that has just happened, with the time since the start."""
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
            for sentence in (finished_text(event), ended(event) if self._numbered else ""):
                if sentence:
                    self._of_item(item, sentence)

            self._join(event)

    def _is_known(self, event: Event) -> bool:
        """Return whether another agent has told the same of CI: the worker and the reviewer look at one commit."""
        commit, verdict = event.data.get("commit"), event.data.get("verdict")
        if event.kind is not EventKind.CI or not isinstance(commit, str):
            return False
        known = self._checked.get(commit) == verdict
        self._checked[commit] = verdict
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
        """Update the live line, if there is one."""
        if self._live is not None:
            self._live.update(Text(f"{self._doing or 'Beginning.'}  {spelled(spent)}"))

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Show a live line on a terminal while the block runs; in a pipe nothing."""
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
        """Do nothing, because everything was told already."""
