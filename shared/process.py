"""The only starter of child processes.

argv is a tuple, the environment is given whole, the child leads its own session, and leaving the
block ends the whole group: TERM, then KILL. Deadlines belong to the caller (`anyio.fail_after`).
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT

import anyio
from anyio.abc import ByteReceiveStream, Process

OUTPUT_CAP = 16 * 2**20
"""Bytes of each stream that are kept; the rest is read and dropped, and `truncated` is set."""

CHUNK_BYTES = 65_536
"""Bytes of a child's output that are read at a time."""

TERM_GRACE_SECONDS = 5.0
"""Seconds that a process group may take to end after TERM."""

RUNNING: set[int] = set()
"""Ids of the process groups that this process has started and not yet ended."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A child process that has ended: its command line, exit code and output."""

    argv: tuple[str, ...]
    code: int
    stdout: bytes
    stderr: bytes
    truncated: bool = False

    @property
    def text(self) -> str:
        """Standard output, decoded with replacement, without the last newline."""
        return self.stdout.decode("utf-8", "replace").rstrip("\n")


class Cut(StrEnum):
    """The reason why the engine ended a child."""

    DEADLINE = "deadline"
    SILENCE = "silence"
    LIMIT = "limit"


@dataclass(frozen=True, slots=True)
class Patience:
    """Limits of a child's run: total seconds, seconds without output on either stream, and a guard that may end it."""

    deadline_seconds: float
    silence_seconds: float
    guard: Guard | None = None


Sink = Callable[[bytes], None]
"""Takes a child's output, chunk by chunk, as it comes."""


Guard = Callable[[Process], Awaitable[str | None]]
"""Watches a child until it ends and returns None, or returns at once the forbidden thing that the child has done."""


class CommandFailed(Exception):
    """A command ended with a code that its caller did not expect."""

    def __init__(self, finished: Finished) -> None:
        tail = (finished.stderr or finished.stdout).decode("utf-8", "replace").strip()[-2000:]
        super().__init__(f"{' '.join(finished.argv[:3])} ... exited {finished.code}: {tail}")
        self.finished = finished


async def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes = b"",
    cap: int = OUTPUT_CAP,
) -> Finished:
    """Run a command to its end and return the result, whatever its exit code; cancelling ends the whole group."""
    outputs = (_Capped(cap), _Capped(cap))
    async with (
        _group(argv, cwd=cwd, env=env, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process,
        anyio.create_task_group() as pumps,
    ):
        pumps.start_soon(_feed, process, stdin)
        for stream, output in zip((process.stdout, process.stderr), outputs, strict=True):
            pumps.start_soon(output.drain, stream)
        code = await process.wait()
        _send(process.pid, signal.SIGKILL)  # what the command left behind would keep the pipes open
    out, err = outputs
    return Finished(tuple(argv), code, bytes(out.kept), bytes(err.kept), out.dropped or err.dropped)


async def check(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], stdin: bytes = b"") -> Finished:
    """Like `run`, but raise `CommandFailed` for an exit code other than 0."""
    finished = await run(argv, cwd=cwd, env=env, stdin=stdin)
    if finished.code != 0:
        raise CommandFailed(finished)
    return finished


async def streamed(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    stdin: bytes,
    sinks: tuple[Sink, Sink],
    patience: Patience,
) -> tuple[int, Cut | None]:
    """Run until the end or until a limit of `patience`; return the exit code, and the limit reached or None.

    `sinks` take standard output and standard error. The code of a child that we ended means nothing. Its standard
    output is a socket: unlike a pipe it cannot be opened by `/proc`. Any process that may debug the child (ptrace,
    pidfd_getfd) can still write there, so a child's output proves nothing.
    """
    limit: list[str] = []
    hard = anyio.current_time() + patience.deadline_seconds

    def on_output() -> None:
        scope.deadline = min(hard, anyio.current_time() + patience.silence_seconds)

    async def watch(process: Process, guard: Guard) -> None:
        if found := await guard(process):
            limit.append(found)
            scope.cancel()

    ours, theirs = socket.socketpair()
    with anyio.CancelScope() as scope, ours, theirs:
        on_output()
        async with (
            _group(argv, cwd=cwd, env=env, stdin=PIPE, stdout=theirs.fileno(), stderr=PIPE) as process,
            anyio.create_task_group() as pumps,
        ):
            theirs.close()
            pumps.start_soon(_feed, process, stdin)
            pumps.start_soon(_receive, ours, sinks[0], on_output)
            pumps.start_soon(_pour, process.stderr, sinks[1], on_output)
            if patience.guard is not None:
                pumps.start_soon(watch, process, patience.guard)
            await process.wait()
            _send(process.pid, signal.SIGKILL)
    reason = Cut.LIMIT if limit else Cut.DEADLINE if scope.deadline >= hard else Cut.SILENCE
    return process.returncode or 0, reason if scope.cancelled_caught else None


@asynccontextmanager
async def started(argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path) -> AsyncIterator[Process]:
    """Start a long-running child whose output is appended to `log`; leaving the block ends its group."""
    with log.open("ab") as sink:
        async with _group(argv, cwd=cwd, env=env, stdin=DEVNULL, stdout=sink, stderr=STDOUT) as process:
            yield process


@asynccontextmanager
async def piped(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], log: Path = Path(os.devnull)
) -> AsyncIterator[Process]:
    """Start a child with `stdin` and `stdout` as pipes to use while it runs; its stderr is appended to `log`."""
    with log.open("ab") as sink:
        async with _group(argv, cwd=cwd, env=env, stdin=PIPE, stdout=PIPE, stderr=sink) as process:
            yield process


async def run_attached(argv: Sequence[str], *, env: Mapping[str, str]) -> int:
    """Run a person's own program, such as an editor, in our terminal, session and directory; return its exit code."""
    process = await anyio.open_process(list(argv), env=dict(env), stdin=None, stdout=None, stderr=None)
    try:
        return await process.wait()
    finally:
        if process.returncode is None:
            process.terminate()
        with anyio.CancelScope(shield=True):
            await process.wait()


@asynccontextmanager
async def _group(
    argv: Sequence[str], *, cwd: Path, env: Mapping[str, str], **streams: object
) -> AsyncIterator[Process]:
    with anyio.CancelScope(shield=True):  # a start that is cut off leaves pipes, or a child, that nobody ends
        process = await anyio.open_process(
            list(argv),
            cwd=cwd,
            env=dict(env),
            start_new_session=True,
            **streams,  # type: ignore[arg-type]  # the three streams, typed at both call sites
        )
    RUNNING.add(process.pid)
    try:
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            await end(process)
            await process.aclose()
        RUNNING.discard(process.pid)


async def end(process: Process, *, grace_seconds: float = TERM_GRACE_SECONDS) -> None:
    """End a process group that `started` or `run` made; returns when its leader is gone."""
    if process.returncode is None:
        _send(process.pid, signal.SIGTERM)
        with anyio.move_on_after(grace_seconds):
            await process.wait()
    _send(process.pid, signal.SIGKILL)
    await process.wait()


def kill_all() -> None:
    """Kill every running group without waiting: for a process that is about to end itself."""
    for group in tuple(RUNNING):
        _send(group, signal.SIGKILL)


def _send(group: int, number: int) -> None:
    """Send a signal to every process of a group; ignore a group that no longer exists."""
    with suppress(ProcessLookupError):
        os.killpg(group, number)


async def _feed(process: Process, data: bytes) -> None:
    if process.stdin is None:
        return
    try:
        if data:
            await process.stdin.send(data)
        await process.stdin.aclose()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, BrokenPipeError, ConnectionResetError):
        return  # the child closed its input first; its exit code tells whether that was a fault


async def _pour(stream: ByteReceiveStream | None, sink: Sink, on_output: Callable[[], None]) -> None:
    if stream is None:
        return
    async for chunk in stream:
        on_output()
        sink(chunk)


async def _receive(ours: socket.socket, sink: Sink, on_output: Callable[[], None]) -> None:
    ours.setblocking(False)
    loop = asyncio.get_running_loop()
    with suppress(ConnectionResetError):
        while chunk := await loop.sock_recv(ours, CHUNK_BYTES):
            on_output()
            sink(chunk)


class _Capped:
    """One stream, read to its end and kept up to a limit."""

    def __init__(self, cap: int) -> None:
        self.kept = bytearray()
        self.dropped = False
        self._cap = cap

    async def drain(self, stream: ByteReceiveStream | None) -> None:
        if stream is None:
            return
        async for chunk in stream:
            room = self._cap - len(self.kept)
            self.kept += chunk[:room]
            self.dropped = self.dropped or len(chunk) > room
