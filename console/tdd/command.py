"""`workflow-engine tdd`: from the command line to an exit code."""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import anyio

from console.tdd import preflight, report
from console.tdd.checkout import Checkout
from console.tdd.inputs import Unready
from console.tdd.preflight import Ready
from console.tdd.task import Records, State, Task, TddOptions
from console.tdd.task_run import TaskRun
from runtime.exit_codes import MISCONFIGURED, NOT_ALLOWED, OK, code_of, engine_error_of
from runtime.output import keep_streams, on_terminal, say, show
from runtime.signals import until_stopped
from runtime.telemetry.progress import Progress
from shared import llm
from shared.errors import EngineError, Misconfigured
from shared.loop.real_clock import RealClock
from shared.sandbox.self_test import conceal
from shared.telemetry.logging import configure
from shared.text import printable

INTERRUPTED = "Interrupted."


def done(options: TddOptions, environment: Mapping[str, str]) -> int:
    """Run and print. 0 done, 1 failed, 2 arguments, 4 credentials, 5 rounds used up, 130 or 143 interrupted."""
    keep_streams()
    _log(environment, environment.get("GITHUB_TOKEN", ""))
    try:
        options.check()
        conceal()
        return anyio.run(_interruptible, _Command(options, environment, Path.cwd()))
    except EngineError as error:
        return _print_refusal(options, _code(error), error)
    except KeyboardInterrupt:  # before anybody attended to signals
        return _print_refusal(options, 128 + signal.SIGINT, EngineError(INTERRUPTED))


def _log(environment: Mapping[str, str], token: str) -> None:
    """Warnings alone: what happens is told in sentences."""
    secrets = [*llm.secrets(environment), *filter(None, [token])]
    configure(json=not on_terminal(sys.stderr), verbose=False, secrets=secrets, quiet=True)


class _Command:
    """One call of the command; `task` is what it has begun or goes on with."""

    def __init__(self, options: TddOptions, environment: Mapping[str, str], directory: Path) -> None:
        self.options = options
        self._environment = environment
        self._directory = directory
        self.task: Task | None = None
        self._records = Records(directory)
        self._warnings: tuple[str, ...] = ()
        self._progress = Progress(RealClock(), ci=False)

    async def run(self) -> int:
        """Run the command and return the exit code; raises `EngineError` if nothing was begun."""
        options, checkout = self.options, await self._checkout()
        if options.listing:
            return self._list()
        if options.resume is not None:
            self.task = self._records.read(options.resume)
            if self.task.state is State.DONE:
                return self._end(self._check_unchanged(self.task))
            await self._check_place(self.task)
            ready = await preflight.again(self.task, options, checkout, self._environment)
        else:
            ready = await preflight.ready(options, checkout, self._environment)
            self.task = await self._begin_task(ready, checkout)
        _log(self._environment, ready.environment.get(ready.settings.github.token_env, ""))
        self._introduce(ready, self.task)
        return await self._run_task(ready, checkout)

    def _check_unchanged(self, task: Task) -> Task:
        """Return the task, which is done; raises `Misconfigured` if the options differ from what it was made from."""
        file = self.options.specification
        if file is not None or self.options.kind is not None:
            again = shlex.join(("workflow-engine", "tdd", str(file or task.order.specification)))
            raise Misconfigured(f"{task.id} is done, in {task.order.branch}. For more begin another task: {again}")
        return task

    async def _check_place(self, task: Task) -> None:
        """Say that there is nothing to go on with; raises `Misconfigured` when the work was there already."""
        if await anyio.Path(task.place).exists():
            return
        if task.head:
            raise Misconfigured(f"The files of {task.id} ({task.place}) are gone; its work is {task.head[:12]}.")
        self.say(f"The files of {task.id} ({task.place}) are gone or were never made: it begins anew.")

    async def _checkout(self) -> Checkout:
        """The work tree around; where there is none, everything else that is wrong is said with it."""
        try:
            checkout = await Checkout.around(self._directory, self._environment)
        except Misconfigured as error:
            if self.options.listing or self.options.resume is not None:
                raise
            await preflight.without_checkout(self.options, str(error), self._environment)
        self._records = Records(checkout.top)
        return checkout

    async def _begin_task(self, ready: Ready, checkout: Checkout) -> Task:
        place = ready.settings.state_dir.absolute() / "tdd" / ready.task_id
        task = Task(ready.task_id, datetime.fromtimestamp(RealClock().now(), UTC).isoformat(), str(place), ready.order)
        await checkout.exclude()
        self._records.write(task)
        return task

    async def _run_task(self, ready: Ready, checkout: Checkout) -> int:
        course = TaskRun(ready, checkout, self._records, self._progress)
        if self.task is None:
            raise AssertionError("a course has a task")
        try:
            self.task = await course.run(self.task)
        except EngineError as error:
            return self.left(_code(error), str(error))
        except ExceptionGroup as group:
            first = engine_error_of(group)
            return self.left(_code(first), str(first))
        return self._end(self.task)

    def say(self, sentence: str) -> None:
        """Print progress for a person who watches; never on standard output."""
        self._progress.say(sentence)

    def left(self, code: int, why: str) -> int:
        """It stopped before its end: say why, and how to go on. Without a task there is nothing to go on with."""
        task = self._records.read(self.task.id) if self.task else None
        if self.options.json:
            begun = task and report.as_json(task, self._records, code, self._warnings, why)
            say(begun or report.refused_as_json(code, (why,), self._warnings))
        self.say(why if task is None else f"{why}\n{report.again(task)}")
        return code

    def _introduce(self, ready: Ready, task: Task) -> None:
        self._warnings = ready.warnings
        order, budgets = ready.order, ready.settings.budgets
        self._progress.attempts = ready.settings.repositories[0].max_attempts
        for warning in ready.warnings:
            self.say(f"warning: {warning}")
        coder = ready.settings.repositories[0].llm_backend
        self.say(f"Task {task.id}: '{order.title}', from {order.base} at {order.commit[:12]}, by {coder}.")
        if not order.asks_as(task.order):
            self.say(
                f"{order.specification} has changed: what was built stays; from now on the new text is what counts."
            )
        if coder != "scripted":
            self.say(f"One run may cost ${budgets.run:g}, the whole task ${budgets.issue:g} (key `budgets`).")
        self.say(f"Ctrl-C stops it. Go on with: {report.resuming(task)}")

    def _list(self) -> int:
        tasks = self._records.all()
        shown = report.listed_as_json(tasks, self._records) if self.options.json else report.listed(tasks)
        say(shown)
        return OK

    def _end(self, task: Task) -> int:
        code = report.code_of(task)
        if self.options.json:
            say(report.as_json(task, self._records, code, self._warnings))
        else:
            show(report.ending_text(task))
        return code


async def _interruptible(command: _Command) -> int:
    def failed(error: EngineError) -> int:
        return _print_refusal(command.options, _code(error), error)

    code, stopped_by = await until_stopped(command.run, failed, RealClock())
    return command.left(128 + stopped_by, INTERRUPTED) if code is None else code


def _print_refusal(options: TddOptions, code: int, error: Exception) -> int:
    """Print what kept the task from beginning; return `code`."""
    if options.json:
        errors = error.errors if isinstance(error, Unready) else (str(error),)
        warnings = error.warnings if isinstance(error, Unready) else ()
        say(report.refused_as_json(code, errors, warnings))
    else:
        show(printable(str(error)), error=True)
    return code


def _code(error: Exception) -> int:
    if isinstance(error, Unready):
        return NOT_ALLOWED if error.credentials else MISCONFIGURED
    return code_of(error)
