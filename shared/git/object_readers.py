"""The `git cat-file` processes that stay open: one for each git directory that is read just now, few at a time.

Each is a task of its own that ends with its process if nobody asks for a while. If anything goes wrong with one, its
caller asks git anew and gets the answer, or the error, of a process of its own.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from shared.git.failures import TooMuchOutput
from shared.git.settled_answers import standing

COMMAND = ("cat-file", "--batch-command", "-z")
"""Without `--buffer`, so that each question is answered at once."""

IDLE_SECONDS = 10.0
"""Seconds after which a process without questions ends."""

MOST = 4
"""Most processes open at once; the one that was asked longest ago goes first."""

QUESTION_BYTES = 32 * 2**10
"""Bytes that are asked before the answers are read: a pipe takes them all, so neither side waits for the other."""

LINE_BYTES = 64 * 2**10
"""Most bytes of the first line of an answer: it repeats the question."""

_FOUND = re.compile(rb"([0-9a-f]{40,64}) [a-z]+ ([0-9]{1,19})")

_DEAD = (
    *(OSError, ValueError, anyio.BrokenResourceError, anyio.ClosedResourceError),
    *(anyio.EndOfStream, anyio.IncompleteRead, anyio.DelimiterNotFound),
)
"""Errors that show that a process has ended, or gives an unexpected answer."""

Start = Callable[[], AbstractAsyncContextManager[Process]]
"""Starts the process, and ends it with the block."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about objects: their kinds and sizes, or their `contents` too; at most `cap` bytes in all."""

    names: Sequence[bytes]
    contents: bool
    cap: int


class ObjectReaders:
    """The open readers of one agent; `opened` closes them."""

    def __init__(self, *, idle_seconds: float = IDLE_SECONDS, most: int = MOST) -> None:
        self._idle_seconds = idle_seconds
        self._most = most
        self._open: dict[Path, _Reader] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def ask(self, git_dir: Path, start: Start, question: Question) -> bytes | None:
        """Return the output of `git cat-file --batch` (or `--batch-check`); None: git has to be run for it.

        Raises `TooMuchOutput` before anything of it is read.
        """
        if any(len(name) > QUESTION_BYTES or b"\0" in name for name in question.names):
            return None
        reader = self._reader_of(git_dir, start)
        return None if reader is None else await reader.ask(question)

    async def leave(self, git_dir: Path) -> None:
        """End the reader of a directory that is about to be removed; returns when its process is gone."""
        if reader := self._open.pop(git_dir, None):
            await _end_readers([reader])

    async def close(self) -> None:
        """End all of them, for good."""
        self._most = 0
        readers, self._open = list(self._open.values()), {}
        await _end_readers(readers)
        if self._tasks:  # those that were let go of just now
            with anyio.CancelScope(shield=True):
                await asyncio.wait(self._tasks)

    def _reader_of(self, git_dir: Path, start: Start) -> _Reader | None:
        """Return the reader of the present directory; None if there is no directory, or no room for a reader."""
        self._open = {place: opened for place, opened in self._open.items() if opened.is_open}
        made, reader = standing(git_dir), self._open.pop(git_dir, None)
        if reader is not None and reader.made != made:
            reader.shut()
            reader = None
        if reader is None and made is not None and self._has_room():
            reader = _Reader(start, made, self._idle_seconds)
            self._tasks.add(reader.task)
            reader.task.add_done_callback(self._tasks.discard)
        if reader is not None:
            self._open[git_dir] = reader
        return reader

    def _has_room(self) -> bool:
        """Return whether one more may be open, after ending one that nobody waits for if need be."""
        resting = [place for place, one in self._open.items() if not one.is_asked]
        if len(self._open) >= self._most and resting:
            self._open.pop(resting[0]).shut()
        return len(self._open) < self._most


async def _end_readers(readers: Sequence[_Reader]) -> None:
    for reader in readers:
        reader.shut()
    if readers:
        with anyio.CancelScope(shield=True):
            await asyncio.wait([reader.task for reader in readers])


@asynccontextmanager
async def opened() -> AsyncIterator[ObjectReaders]:
    """Open readers that end with the block."""
    readers = ObjectReaders()
    try:
        yield readers
    finally:
        await readers.close()


RequestQueue = asyncio.Queue[tuple[Question, asyncio.Future[bytes | None]]]
"""The open questions of a reader, each with the future for its answer."""


class _Reader:
    """One process and the task that talks to it."""

    def __init__(self, start: Start, made: tuple[int, int], idle_seconds: float) -> None:
        self.made = made
        self.is_open = True
        self._requests: RequestQueue = asyncio.Queue()
        self._unanswered: set[asyncio.Future[bytes | None]] = set()
        self._scope = anyio.CancelScope()  # its cancellation, unlike a task's, leaves the end of a process undisturbed
        self.task = asyncio.create_task(self._live(start, idle_seconds))

    @property
    def is_asked(self) -> bool:
        """True while somebody waits for an answer."""
        return bool(self._unanswered)

    async def ask(self, question: Question) -> bytes | None:
        """Return the answer, or None. A cancelled caller ends the reader: nobody else may get the rest of an answer."""
        answer: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        self._unanswered.add(answer)
        self._requests.put_nowait((question, answer))
        try:
            return await answer
        except asyncio.CancelledError:
            self.shut()
            raise
        finally:
            self._unanswered.discard(answer)

    def shut(self) -> None:
        """Begin to end the process; waiting callers get no answer."""
        self.is_open = False
        self._scope.cancel()

    async def _live(self, start: Start, idle_seconds: float) -> None:
        try:
            with self._scope:
                async with start() as process:
                    await _Talk(process).answer_all(self._requests, idle_seconds)
        except _DEAD:
            return  # whoever asked does so again, of a process of its own, whose error is told
        finally:
            self.is_open = False
            for answer in self._unanswered:
                if not answer.done():
                    answer.set_result(None)


class _Talk:
    """The exchange with one process."""

    def __init__(self, process: Process) -> None:
        if process.stdin is None or process.stdout is None:
            raise ValueError("a reader is asked and answers by pipes")
        self._to, self._from = process.stdin, BufferedByteReceiveStream(process.stdout)

    async def answer_all(self, requests: RequestQueue, idle_seconds: float) -> None:
        """Answer one question after the other until none comes for a while."""
        while True:
            with anyio.move_on_after(idle_seconds) as patience:
                question, answer = await requests.get()
            if patience.cancelled_caught:
                return
            try:
                found = await self._answer(question)
            except TooMuchOutput as error:
                if not answer.done():
                    answer.set_exception(error)
                continue
            if not answer.done():
                answer.set_result(found)

    async def _answer(self, question: Question) -> bytes:
        headers: list[bytes] = []
        for some in _portions(question.names):
            await self._send(b"info", some)
            headers += [await self._read_line(name + b" missing") for name in some]
        sizes = {match[1]: int(match[2]) for line in headers if (match := _FOUND.fullmatch(line))}
        whole = sum(sizes.get(line.partition(b" ")[0], -1) + 1 for line in headers) if question.contents else 0
        if sum(len(line) + 1 for line in headers) + whole > question.cap:
            raise TooMuchOutput(f"git cat-file printed more than {question.cap // 2**20} MiB.")
        return (
            await self._with_contents(headers, sizes) if question.contents else b"".join(one + b"\n" for one in headers)
        )

    async def _with_contents(self, headers: Sequence[bytes], sizes: Mapping[bytes, int]) -> bytes:
        output = bytearray()
        for some in _portions(headers):
            here = [oid for line in some if (oid := line.partition(b" ")[0]) in sizes]
            if here:
                await self._send(b"contents", here)
            for line in some:
                output += line + b"\n"
                if (oid := line.partition(b" ")[0]) in sizes:
                    if await self._read_line(b"") != line:
                        raise ValueError("another object than was asked for")
                    output += await self._from.receive_exactly(sizes[oid] + 1)
        return bytes(output)

    async def _send(self, verb: bytes, names: Sequence[bytes]) -> None:
        await self._to.send(b"".join(verb + b" " + name + b"\0" for name in names))

    async def _read_line(self, missing: bytes) -> bytes:
        """Return the first line of an answer; a missing name may take more lines, because it is repeated whole."""
        line = await self._from.receive_until(b"\n", LINE_BYTES)
        if _FOUND.fullmatch(line):
            return line
        if len(line) < len(missing):
            line += b"\n" + (await self._from.receive_exactly(len(missing) - len(line)))[:-1]
        if line != missing:
            raise ValueError("an answer that is none")
        return line


def _portions(names: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Yield the names in portions that may be asked at once."""
    portion: list[bytes] = []
    left = QUESTION_BYTES
    for name in names:
        cost = len(b"contents " + name + b"\0")
        if portion and cost > left:
            yield portion
            portion, left = [], QUESTION_BYTES
        portion.append(name)
        left -= cost
    if portion:
        yield portion
