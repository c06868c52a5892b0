"""One operating-system process: its clocks, its tasks, its pauses and its end, and its network."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta
from email.utils import formatdate
from random import Random
from typing import Any

from structlog.testing import capture_logs

from shared.errors import EngineError, Transient, Unauthorized, UnknownOutcome
from shared.github.server_time import ServerTime

from .github import GitHub, nonce_of, server_time
from .journal import Journal, Seen, Sent
from .kernel import Call, Ended, Kernel, Sleep, Task
from .worlds import HEAL, PAUSES, REQUEST_SECONDS, TWICE_SECONDS, World

READINGS = frozenset({"reads fence", "reads comment", "reads the comments of", "reads item"})
"""Requests that show a lock, or a person's order: each answer is recorded."""


OF_GIT = frozenset({"reads fence", "fetches", "pushes", "probes"})
"""Requests that git answers: without a date."""


class Fate:
    """The common parts of one schedule: chance, time, weather, the server and the record."""

    __slots__ = ("commands", "flying", "github", "journal", "kernel", "rng", "world")

    def __init__(self, kernel: Kernel, rng: Random, world: World, github: GitHub, journal: Journal) -> None:
        self.kernel = kernel
        self.rng = rng
        self.world = world
        self.github = github
        self.journal = journal
        self.flying = 0
        """Requests that have not been carried out yet."""
        self.commands: list[int] = []
        """The ids of people's commands, none of which says anything about the work."""


class Process:
    """One life of one agent. `sender` names this life; `fell` is called when it crashes."""

    __slots__ = (
        "_boot_zero", "_dated_at", "_dates", "_fate", "_read_at", "_refused", "_skew", "_tasks", "ended",
        "faults", "fell", "kernel", "name", "ops", "paused_until", "sender",
    )  # fmt: skip

    def __init__(self, fate: Fate, name: str, sender: int, fell: Callable[[], None]) -> None:
        self.kernel = fate.kernel
        self.name = name
        self.sender = sender
        self.fell = fell
        self.paused_until = 0.0
        self.faults = 0
        self.ops: list[str] = []
        self._fate = fate
        self._tasks: list[Task] = []
        self._boot_zero = fate.rng.random() * 1e6
        self._skew = (fate.rng.random() * 2 - 1) * fate.world.skew
        self._dated_at = self.kernel.now
        self._read_at = self.kernel.now
        special = fate.world.special
        self._dates = ServerTime(self) if special.burst or special.wrong_dates else None
        self._refused = self._draw_refusal()
        self.ended = False

    def _draw_refusal(self) -> tuple[float, float]:
        """Draw the times between which its token is refused."""
        if not self._fate.world.special.expires or self._fate.rng.random() < 0.3:
            return 0.0, 0.0
        began = self.kernel.now + 1500 * self._fate.rng.random()
        return began, min(began + 60 + 3000 * self._fate.rng.random(), HEAL)

    # The clock of `Gateway`

    def now(self) -> float:
        """Return the wall clock, which is wrong."""
        return 1_767_603_600.0 + self.kernel.now + self._skew

    def boot(self) -> float:
        """Return the boot clock, which counts pauses."""
        return self.kernel.now + self._boot_zero

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await Sleep(seconds)

    def server_time(self) -> datetime:
        """Return the last `Date` plus the boot clock since; where dates are wrong, the engine's estimate."""
        if self._dates is not None:
            return self._dates.now()
        return server_time(self._dated_at) + timedelta(seconds=self.kernel.now - self._read_at)

    def sure(self) -> bool:
        """Return whether the server's time can be trusted."""
        return self._dates is None or self._dates.sure

    # Tasks

    def spawn(self, coroutine: Coroutine[Any, Any, object], on_end: Ended | None = None) -> Task:
        """Begin a task; it runs to its first wish at once."""
        self._tasks = [task for task in self._tasks if not task.ended]
        task = Task(self, coroutine, on_end)
        self._tasks.append(task)
        task.step()
        return task

    def end(self) -> None:
        """Stop every task where it stands; nobody is told."""
        self.ended = True
        for task in self._tasks:
            task.close()

    def disturbed(self) -> bool:
        """Draw a pause or a crash."""
        world = self._fate.world
        odds = world.pause + world.crash
        if not odds:
            return False
        chance = self._fate.rng.random()
        if chance >= odds:
            return False
        journal, now = self._fate.journal, self.kernel.now
        journal.trouble(now, self.sender)
        if chance < world.crash:
            self.fell()
            return True
        shortest, longest = PAUSES
        self.paused_until = now + shortest + (longest - shortest) * self._fate.rng.random() ** 2
        journal.trouble(self.paused_until, self.sender)
        journal.pauses.setdefault(self.sender, []).append((now, self.paused_until))
        journal.counts["pause"] += 1
        journal.say(now, self.name, f"stands still for {self.paused_until - now:.0f} s")
        return True

    # The network

    def send(self, task: Task, call: Call) -> None:
        """Put a call on its way, with the faults of the world."""
        fate = self._fate
        self.ops.append(call.name)
        now, random = self.kernel.now, fate.rng.random
        if call.write:
            fate.journal.sent.append(Sent(now, self.sender, call.name, call.detail))
        up, down = now + 0.3 * random(), 0.3 * random()
        trouble, odd = fate.world.trouble, fate.world.special.odd_edits
        if self._refused[0] <= now < self._refused[1]:
            fate.journal.trouble(now, self.sender)
            fate.journal.counts["token refused"] += 1
            self.kernel.at(up + down, task.resume, task.ticket, None, Unauthorized())
        elif odd and call.name == "edits" and random() < odd:
            self._odd(task, call, up, down)
        elif trouble and (chance := random()) < trouble:
            self._trouble(task, call, chance, up, down)
        elif call.stale:  # it shows the past anyway: looked up when the answer arrives, it is the same
            self.kernel.at(up + down, self._read, task, task.ticket, call, up)
        else:
            fate.flying += 1
            self.kernel.at(up, self._arrive, task, task.ticket, call, now, down)

    def _odd(self, task: Task, call: Call, up: float, down: float) -> None:
        """Carry an edit out late, or twice: its sender learns of the first time at most."""
        fate, now = self._fate, self.kernel.now
        self.faults += 1
        fate.journal.trouble(now, self.sender)
        fate.journal.counts["edit carried out late or twice"] += 1
        if fate.rng.random() < 0.5:
            self._execute_at(now + REQUEST_SECONDS + fate.world.late_seconds * fate.rng.random() ** 2, call, "late")
            self.kernel.at(now + REQUEST_SECONDS, task.resume, task.ticket, None, UnknownOutcome())
            return
        self._execute_at(up + fate.world.late_seconds * fate.rng.random() ** 2, call, "second time")
        fate.flying += 1
        self.kernel.at(up, self._arrive, task, task.ticket, call, now, down)

    def _read(self, task: Task, ticket: int, call: Call, at: float) -> None:
        if task.ended:
            return
        lag = self._fate.world.lag
        try:
            value = call.run(at - lag * self._fate.rng.random() ** 2)
        except EngineError as error:
            value = error
        if self._fate.journal.told is not None:
            self._say(call, f"-> {_short(value)}")
        self._answer(task, ticket, call, value, at)

    def _trouble(self, task: Task, call: Call, chance: float, up: float, down: float) -> None:
        fate, world, now = self._fate, self._fate.world, self.kernel.now
        fate.journal.trouble(now, self.sender)
        fate.journal.counts["request that met a fault"] += 1
        self.faults += 1
        ticket, gives_up = task.ticket, now + REQUEST_SECONDS
        fate.journal.counts["lost reply of a push looked up"] += call.name == "pushes" and chance >= world.failed
        if chance < world.failed or not call.write:
            soon = up + down if chance < world.failed else gives_up
            self._say(call, "fails")
            self.kernel.at(soon, task.resume, ticket, None, Transient())
            return
        if (chance := chance - world.failed) < world.lost:
            self._say(call, "is lost")
        elif (chance := chance - world.lost) < world.reply_lost:
            fate.journal.counts["reply lost"] += 1
            self._execute_at(up, call, "reply lost")
        elif (chance - world.reply_lost) < world.late:
            fate.journal.counts["request executed late"] += 1
            self._execute_at(gives_up + world.late_seconds * fate.rng.random() ** 2, call, "late")
        else:
            fate.journal.counts["request executed twice"] += 1
            fate.journal.counts["duplicate ACK"] += call.name == "posts"
            self._execute_at(up + TWICE_SECONDS * fate.rng.random(), call, "second time")
            fate.flying += 1
            self.kernel.at(up, self._arrive, task, ticket, call, now, down)
            return
        self.kernel.at(gives_up, task.resume, ticket, None, UnknownOutcome())

    def _execute_at(self, when: float, call: Call, how: str) -> None:
        self._fate.flying += 1
        self.kernel.at(when, self._execute_unseen, call, self.kernel.now, how)

    def _execute_unseen(self, call: Call, sent_at: float, how: str) -> None:
        """Carry out a call whose answer nobody waits for."""
        self._execute(call, sent_at, how)

    def _execute(self, call: Call, sent_at: float, how: str) -> object:
        fate = self._fate
        fate.flying -= 1
        now = self.kernel.now
        github = fate.github
        github.now, github.sender, github.sent_at = now, self.sender, sent_at
        try:
            value = call.run(now)
        except EngineError as error:
            value = error
        if how and call.name == "posts" and not isinstance(value, EngineError):
            fate.journal.unheard_posts.append(now)
        if fate.journal.told is not None:
            self._say(call, f"({how}) -> {_short(value)}" if how else f"-> {_short(value)}")
        return value

    def _arrive(self, task: Task, ticket: int, call: Call, sent_at: float, down: float) -> None:
        value = self._execute(call, sent_at, "")
        self.kernel.at(self.kernel.now + down, self._answer, task, ticket, call, value, self.kernel.now)

    def _answer(self, task: Task, ticket: int, call: Call, value: object, at: float) -> None:
        if task.ended:
            return
        if self.paused_until > self.kernel.now:  # read when it runs again: then the `Date` is an old one
            self.kernel.at(self.paused_until, self._answer, task, ticket, call, value, at)
            return
        if call.name == "pushes" and value is None:
            self._fate.journal.refused.append((self.kernel.now, self.sender, nonce_of(str(call.detail))))
        self._dated_at, self._read_at = at, self.kernel.now
        if self._dates is not None and call.name not in OF_GIT:
            ahead = self._fate.github.weather.ahead(at, self._fate.rng)
            with capture_logs():  # that this process's clock is wrong needs no word
                self._dates.note({"date": formatdate(server_time(at + ahead).timestamp(), usegmt=True)})
        if isinstance(value, EngineError):
            self._fate.journal.trouble(at, self.sender)
            task.resume(ticket, None, value)
            return
        if not call.write and call.name in READINGS:
            self._fate.journal.seen.append(Seen(at, self.kernel.now, self.sender, call.name, call.detail, value))
        task.resume(ticket, value)

    def _say(self, call: Call, what: str) -> None:
        if self._fate.journal.told is not None:
            detail = str(call.detail).replace("\n", " ")
            self._fate.journal.say(self.kernel.now, self.name, f"{call.name} {detail} {what}")


def _short(value: object) -> str:
    text = str(sorted(value) if isinstance(value, frozenset) else value).replace("\n", " ")
    return text if len(text) <= 160 else f"{text[:157]}..."
