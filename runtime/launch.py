"""Running one agent process: from the command line to an exit code, with one clear sentence for every failure."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from typing import assert_never

import anyio
import structlog

from config.environment import snapshot
from config.loading import load, source
from config.rules import unsupported
from config.settings import Settings
from config.state import StateDirectory
from runtime import memory
from runtime.arguments import Arguments
from runtime.building.assembly import observed
from runtime.building.connections import Connections
from runtime.building.process import Process
from runtime.building.sign_in import with_gh_token
from runtime.daemon.agent_lifecycle import DRAINED, AgentLifecycle, admission_of
from runtime.daemon.configuration import Configuration
from runtime.daemon.repository_loops import WebhookHints, tell
from runtime.daemon.serving import serve
from runtime.daemon.start import Build, Job, Prepare, loop_of, open_usable, slots_of
from runtime.exit_codes import FAILED, NOTHING_TO_DO, OK, complain, engine_error_of
from runtime.output import keep_streams, on_terminal, say
from runtime.session_notices import Interruption, announce, show_in_dialogue, show_notice
from runtime.signals import Orders, ShutdownNotice, attend, ignore_until_attended
from shared.clock import Clock
from shared.errors import EngineError, Misconfigured
from shared.loop.polling_loop import Loop
from shared.loop.real_clock import RealClock
from shared.sandbox.self_test import conceal
from shared.scheduling.agent_contract import Ended, Rest, Result
from shared.telemetry.events import EventLog
from shared.telemetry.logging import bind_agent, configure
from shared.workflow import Role, Stage
from shared.workflow.labels import Labels

log = structlog.get_logger()

MOST_REASONS = 20
"""Maximum number of items without work that are named; a person reads this."""


def launch(
    role: Role, build: Build, arguments: Arguments, *, prepare: Prepare | None = None, clock: Clock | None = None
) -> int:
    """Run one agent until it is stopped or, with `--once`, until one item has ended; returns the exit code.

    `clock` is the machine's own unless given: trials with clocks that differ give another one.
    """
    environment = snapshot()

    def read() -> Settings:
        return load(arguments.config, repository=arguments.repository, environment=environment)

    if not arguments.once:
        with suppress(EngineError):  # the start says what is wrong
            announce((role,), read())
    return launch_all((Job(role, build, prepare),), arguments, read, environment, clock=clock)


def launch_all(
    jobs: Sequence[Job],
    arguments: Arguments,
    read: Callable[[], Settings],
    environment: Mapping[str, str],
    *,
    clock: Clock | None = None,
) -> int:
    """Run these agents in this process, with what `read` gives for each start and reload; returns the exit code."""

    def supported() -> Settings:
        settings = read()
        if refused := unsupported(settings):
            raise Misconfigured("\n".join(refused))
        return settings

    keep_streams()
    ignore_until_attended()
    farewell = ShutdownNotice()
    try:
        settings = supported()
        _set_up_log(arguments, ())
        watcher = _watcher(arguments, settings, clock or RealClock(), [job.role for job in jobs])
        conceal()
        state, file = StateDirectory(settings.state_dir).open(), source(arguments.config, environment=environment)
        with ExitStack() as stack:
            processes, connections = [], Connections()
            for job in jobs:
                agent = stack.enter_context(state.claim_identity(job.role, arguments.agent_id))
                known = with_gh_token(settings, environment)
                at_hand = settings, job.role, clock or RealClock(), agent, known, arguments.roles
                processes.append(Process(*at_hand, watcher=watcher, connections=connections))
            _set_up_log(arguments, processes)
            if len(processes) == 1:  # of several, each binds its own
                bind_agent(processes[0].agent.id)
            _log_warnings(settings)
            configuration = Configuration(settings, supported, file)
            if not arguments.once:
                memory.settle()
            return anyio.run(_run_process, list(zip(jobs, processes, strict=True)), arguments, configuration, farewell)
    except EngineError as error:
        return complain(error)
    except ExceptionGroup as group:
        return complain(engine_error_of(group))
    finally:
        farewell.over()


def _set_up_log(arguments: Arguments, processes: Sequence[Process]) -> None:
    """Set up the log as was asked for; what `processes` keep secret is hidden."""
    tells, level = _is_told(arguments), arguments.log_level
    verbose = level == "debug" or (level is None and arguments.verbose)
    # A person is told what is worth knowing in sentences.
    quiet = level == "warning" or (level is None and (arguments.interactive or tells))
    told = (show_in_dialogue if arguments.tells else show_notice) if tells and level is None else None
    secrets = [secret for process in processes for secret in process.secrets.known()]
    configure(json=not on_terminal(sys.stderr), verbose=verbose, secrets=secrets, quiet=quiet, event_sink=told)


def _is_told(arguments: Arguments) -> bool:
    """Return whether a person reads events as they happen; in a dialogue at a terminal they are told there."""
    return arguments.tells or (on_terminal(sys.stderr) and not arguments.interactive)


def _watcher(arguments: Arguments, settings: Settings, clock: Clock, roles: Sequence[Role]) -> EventLog | None:
    """Return the log that tells a person on standard error what happens; loaded only if somebody reads it."""
    if not _is_told(arguments):
        return None
    from runtime.telemetry.progress import Progress, Watched

    attempts = max(one.max_attempts for one in settings.repositories)
    daemon = not arguments.once
    awaited = roles if daemon else ()
    return Watched(Progress(clock, attempts=attempts, numbered=daemon, detailed=arguments.verbose, awaited=awaited))


def _log_warnings(settings: Settings) -> None:
    if settings.sandbox == "none":
        log.warning("sandbox_off", consequence="tests and coding backends run with this user's rights")
    if not settings.lock.key_files:
        log.warning(
            "unsigned_comments", next_step="set lock.key_files; until then the engine's marker alone is trusted"
        )


async def _run_process(
    jobs: Sequence[tuple[Job, Process]], arguments: Arguments, configuration: Configuration, farewell: ShutdownNotice
) -> int:
    """Run the process inside its event loop; return the exit code.

    SIGTERM ends a daemon well (0), every other stop before an end is 128 + n.
    """
    (_, process), *_ = jobs
    orders, code = Orders(), OK
    interruption = Interruption(orders, shown=_is_told(arguments))
    async with anyio.create_task_group() as group:
        scope = anyio.CancelScope()
        daemon, patience = not arguments.once, process.settings.stop_seconds
        group.start_soon(partial(attend, orders, scope, process.clock, daemon=daemon, stop_seconds=patience))
        with scope:
            if arguments.once:
                code = await _run_once(jobs[0], arguments, orders, interruption)
            else:
                hints = WebhookHints()
                agents = [AgentLifecycle(job, each, arguments, orders, hints) for job, each in jobs]
                interruption.holders += agents
                await serve(agents, configuration, orders, hints, process)
        group.cancel_scope.cancel()
    farewell.begin(orders, process.clock, patience)
    interruption.end()
    early = arguments.once or orders.stopped_by == signal.SIGINT
    return 128 + orders.stopped_by if orders.stopped_by and early else code


async def _run_once(one: tuple[Job, Process], arguments: Arguments, orders: Orders, interruption: Interruption) -> int:
    """Work on one item of the first repository that has any; return the exit code."""
    job, process = one
    stack, usable = await open_usable(process, arguments, job.prepare)
    async with stack:
        for name, error in usable.aside.items():
            log.error("repository_set_aside", outcome="skipped", repo=name, error=str(error))
        admission, slots = admission_of(process, partial(tell, usable.parts)), slots_of(process.settings, process.clock)
        orders.on_drain.append(partial(admission.shut, DRAINED))
        loops = [loop_of(one, observed(job.build(one), one), slots, admission) for one in usable.parts]
        interruption.holders += loops
        log.info("started", repositories=[parts.configured.name for parts in usable.parts])
        for loop in loops:
            await stack.enter_async_context(loop.open())
        asks = asking(job.role, usable.parts[0].github.names) if usable.parts else ""
        code = await _one_item(loops, asks, wait=arguments.wait)
        await process.outbox.deliver()
        return code


async def _one_item(loops: Sequence[Loop], asks: str, *, wait: bool) -> int:
    for loop in loops:
        outcome = await loop.once(anyio.Event(), wait=wait)
        if outcome is not None:
            code, sentence = answer(outcome)
            say(sentence)
            return code
        _say_why(loop.skipped)
    say("Nothing to do." if any(loop.skipped for loop in loops) else f"Nothing to do. {asks}".strip())
    return NOTHING_TO_DO


def asking(role: Role, names: Labels) -> str:
    """Return how a person asks an agent of this role for work."""
    match role:
        case Role.PLANNER:
            return f"To have a story planned, label an issue `{names.story}`."
        case Role.WORKER:
            return f"To begin an issue, set `{names.of(Stage.READY)}` on it, or comment `/start`."
        case Role.REVIEWER:
            return f"To have a pull request reviewed, set `{names.of(Stage.REVIEWING)}` on it, or comment `/start`."
        case _:
            return ""


def answer(outcome: Ended | Rest) -> tuple[int, str]:
    """Return the exit code of `--once` and what it prints, for how its item ended or what it waits for."""
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
    for sentence in skipped[:MOST_REASONS]:
        say(f"not taken: {sentence}")
    if len(skipped) > MOST_REASONS:
        say(f"not taken: {len(skipped) - MOST_REASONS} more")
