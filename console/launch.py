"""Running one agent process: from the command line to an exit code, with one clear sentence for every failure."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import assert_never

import anyio
import structlog

from config.environment import snapshot
from config.loading import load
from config.rules import unsupported
from config.state import StateDirectory
from console.arguments import Arguments
from console.assembly import Parts, Process, opened
from console.fitness import prove
from console.sign_in import completed, known_secrets
from console.signals import cancel_on_signal
from console.start import patiently
from shared.clock import Clock
from shared.errors import EngineError, Misconfigured, NotAllowed, Unauthorized
from shared.items import Agent, Ended, Rest, Result
from shared.loop import Loop, RealClock
from shared.reconcile.definitions import restore
from shared.room import Room
from shared.sandbox.fitness import conceal
from shared.slots import Slots
from shared.telemetry.logging import bind_agent, configure
from shared.workflow import Role

log = structlog.get_logger()

Build = Callable[[Parts], Agent]
"""Makes an agent from the parts of one repository."""

Prepare = Callable[[Parts, Arguments], Awaitable[Parts]]
"""What an agent does once, per repository, before it is built."""

OK, FAILED, MISCONFIGURED, NOTHING_TO_DO, NOT_ALLOWED = range(5)
"""Exit codes."""

MOST_REASONS = 20
"""So many items are named for which there was nothing to do; a person reads this."""


def launch(
    role: Role, build: Build, arguments: Arguments, *, prepare: Prepare | None = None, clock: Clock | None = None
) -> int:
    """Run one agent until it is stopped or, with `--once`, until one item has ended; returns the exit code.

    `clock` is the machine's own unless given: trials with clocks that differ give another one.
    """
    environment = snapshot()
    try:
        settings = load(arguments.config, repository=arguments.repository, environment=environment)
        refused = unsupported(settings)
        if refused:
            raise Misconfigured("\n".join(refused))
        conceal()
        with StateDirectory(settings.state_dir).open().claim_identity(role, arguments.agent_id) as agent:
            process = Process(
                settings, role, clock or RealClock(), agent, completed(settings, environment), arguments.roles
            )
            _log(process, arguments)
            return anyio.run(_run, process, arguments, build, prepare)
    except EngineError as error:
        return complain(error)
    except ExceptionGroup as group:
        failures = list(_leaves(group))
        if not all(isinstance(failure, EngineError) for failure in failures):
            raise
        return complain(failures[0])


def complain(error: Exception) -> int:
    """Say it in one sentence on standard error; the exit code that goes with it."""
    sys.stderr.write(f"{error}\n")
    if isinstance(error, Misconfigured):
        return MISCONFIGURED
    return NOT_ALLOWED if isinstance(error, Unauthorized | NotAllowed) else FAILED


def _leaves(group: ExceptionGroup[Exception]) -> Iterator[Exception]:
    for error in group.exceptions:
        if isinstance(error, ExceptionGroup):
            yield from _leaves(error)
        else:
            yield error


def _log(process: Process, arguments: Arguments) -> None:
    configure(json=not sys.stderr.isatty(), verbose=arguments.verbose, secrets=known_secrets(process))
    bind_agent(process.agent.id)
    if process.settings.sandbox == "none":
        log.warning("sandbox_off", consequence="tests and coding backends run with this user's rights")
    if not process.settings.lock.key_files:
        log.warning(
            "unsigned_comments", next_step="set lock.key_files; until then the engine's marker alone is trusted"
        )


async def _run(process: Process, arguments: Arguments, build: Build, prepare: Prepare | None) -> int:
    """The process inside its event loop. A signal ends a daemon well (0), but `--once` before its end (128 + n)."""
    seen: list[int] = []
    code = OK
    async with anyio.create_task_group() as group:
        scope = anyio.CancelScope()
        group.start_soon(cancel_on_signal, scope, seen)
        with scope:
            code = await _work(process, arguments, build, prepare)
        group.cancel_scope.cancel()
    return 128 + seen[0] if seen and arguments.once else code


async def _work(process: Process, arguments: Arguments, build: Build, prepare: Prepare | None) -> int:
    attempt = partial(_opened, process, arguments, prepare)
    stack, all_parts = await (attempt() if arguments.once else patiently(attempt, process.clock))
    async with stack:
        loops = _loops(process, [build(parts) for parts in all_parts])
        log.info("started", repositories=[parts.configured.name for parts in all_parts])
        for loop in loops:
            await stack.enter_async_context(loop.open())
        if arguments.once:
            return await _once(loops, wait=arguments.wait)
        async with anyio.create_task_group() as group:
            ticking = partial(Loop.run, most_ticks=process.settings.max_iterations)
            for parts in all_parts:
                group.start_soon(restore, parts.labels, parts.configured.name)
            for loop in loops:
                group.start_soon(ticking, loop, anyio.Event())
    return OK


async def _opened(
    process: Process, arguments: Arguments, prepare: Prepare | None
) -> tuple[AsyncExitStack, Sequence[Parts]]:
    """What one process works with, as far as GitHub has a say in it, and what closes it again."""
    async with AsyncExitStack() as stack:
        all_parts: Sequence[Parts] = await stack.enter_async_context(opened(process))
        await prove(all_parts)
        if prepare is not None:
            all_parts = [await prepare(parts, arguments) for parts in all_parts]
        return stack.pop_all(), all_parts


def _loops(process: Process, agents: Sequence[Agent]) -> list[Loop]:
    settings = process.settings
    slots = Slots(settings.max_concurrent, per_loop=settings.max_per_repository)
    room = Room((settings.state_dir, settings.work_dir))
    intervals = [repository.poll_interval for repository in settings.repositories]
    return [
        Loop(
            agent, process.clock, slots=slots, interval_seconds=interval, cooldown_seconds=settings.cooldown, room=room
        )
        for agent, interval in zip(agents, intervals, strict=True)
    ]


async def _once(loops: Sequence[Loop], *, wait: bool) -> int:
    """One item of the first repository that has any."""
    for loop in loops:
        outcome = await loop.once(anyio.Event(), wait=wait)
        if outcome is not None:
            code, sentence = answer(outcome)
            sys.stdout.write(f"{sentence}\n")
            return code
        _say_why(loop.skipped)
    sys.stdout.write("Nothing to do.\n")
    return NOTHING_TO_DO


def answer(outcome: Ended | Rest) -> tuple[int, str]:
    """The exit code of `--once` and what it prints, for how its item ended or what it waits for."""
    match outcome:
        case Ended(result, sentence):
            return FAILED if result in {Result.FAILED, Result.LOST} else OK, f"{result}: {sentence}"
        case Rest(sentence=sentence) if sentence:
            return FAILED, f"failed, to be tried again: {sentence}"
        case Rest(reason):
            return OK, f"waiting for {reason}"
        case _:
            assert_never(outcome)


def _say_why(skipped: Sequence[str]) -> None:
    """What kept each candidate from being claimed, one line for each."""
    for sentence in skipped[:MOST_REASONS]:
        sys.stdout.write(f"not taken: {sentence}\n")
    if len(skipped) > MOST_REASONS:
        sys.stdout.write(f"not taken: {len(skipped) - MOST_REASONS} more\n")
