"""Virtual time: a heap of events, and coroutines that are resumed by hand. There is no event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from heapq import heappop, heappush
from typing import Any, Protocol

from shared.errors import EngineError

MOST_EVENTS = 100_000
"""Events after which a schedule counts as endless."""


class Runaway(Exception):
    """Nothing comes to an end."""


class Kernel:
    """The events and their times; events of the same moment happen in the order in which they were planned."""

    __slots__ = ("_heap", "_sequence", "events", "now", "over")

    def __init__(self) -> None:
        self.now = 0.0
        self.events = 0
        self.over = False
        """True if nothing more shall happen."""
        self._sequence = 0
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []

    def at(self, when: float, happens: Callable[..., None], *args: Any) -> None:
        """Plan an event for a virtual time."""
        self._sequence += 1
        heappush(self._heap, (when, self._sequence, happens, args))

    def run(self, until: float) -> None:
        """Run all events up to `until` seconds, or until it is `over`."""
        heap = self._heap
        while heap and heap[0][0] <= until and not self.over:
            self.now, _, happens, args = heappop(heap)
            self.events += 1
            happens(*args)
            if self.events > MOST_EVENTS:
                raise Runaway


class Sleep:
    """A coroutine's wish to go on after a number of seconds."""

    __slots__ = ("seconds",)

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __await__(self) -> Generator[Sleep, None, None]:
        yield self


class Call:
    """A coroutine's wish for one answer of a server.

    `run` gets the moment that the answer shows: now for writes and for git, earlier for a stale read.
    """

    __slots__ = ("detail", "name", "run", "stale", "write")

    def __init__(
        self, name: str, run: Callable[[float], object], *, write: bool = False, stale: bool = True, detail: object = ""
    ) -> None:
        self.name = name
        self.run = run
        self.write = write
        self.stale = stale and not write
        self.detail = detail

    def __await__(self) -> Generator[Call, Any, Any]:
        return (yield self)


class Host(Protocol):
    """The process in which a task runs."""

    kernel: Kernel
    paused_until: float

    def disturbed(self) -> bool:
        """Return whether a pause or crash strikes at this moment: then the task is not resumed now."""
        ...

    def send(self, task: Task, call: Call) -> None:
        """Put a call on its way; the answer comes by `task.resume`."""
        ...


Ended = Callable[[object, BaseException | None], None]
"""Gets the result of a task, or its error."""


class Task:
    """One coroutine of one process. `ended` is true after its end, and after `close`."""

    __slots__ = ("_coroutine", "_on_end", "_waits", "ended", "host")

    def __init__(self, host: Host, coroutine: Coroutine[Any, Any, object], on_end: Ended | None = None) -> None:
        self.host = host
        self.ended = False
        self._coroutine = coroutine
        self._on_end = on_end
        self._waits = 0

    @property
    def ticket(self) -> int:
        """Number of its present wish; answers to earlier wishes are ignored."""
        return self._waits

    def resume(self, ticket: int, value: object = None, error: EngineError | None = None) -> None:
        """Take the answer to a wish, as soon as the process runs."""
        if self.ended or ticket != self._waits:
            return
        host = self.host
        if host.paused_until > host.kernel.now or host.disturbed():
            if not self.ended:
                host.kernel.at(host.paused_until, self.resume, ticket, value, error)
            return
        self.step(value, error)

    def step(self, value: object = None, error: EngineError | None = None) -> None:
        """Run to the next wish, or to the end."""
        self._waits += 1
        try:
            wish = self._coroutine.send(value) if error is None else self._coroutine.throw(error)
        except StopIteration as stop:
            self._end(stop.value, None)
        except EngineError as raised:
            self._end(None, raised)
        else:
            if isinstance(wish, Sleep):
                self.host.kernel.at(self.host.kernel.now + wish.seconds, self.resume, self._waits)
            else:
                self.host.send(self, wish)

    def close(self) -> None:
        """Cancel the task where it stands."""
        if not self.ended:
            self.ended = True
            self._coroutine.close()

    def _end(self, value: object, error: BaseException | None) -> None:
        self.ended = True
        if self._on_end is not None:
            self._on_end(value, error)
