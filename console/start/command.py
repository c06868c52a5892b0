"""`workflow-engine start`: every step from nothing to the first issue in work, each printed, each repeatable."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import anyio

from config.loading import checked
from config.state import StateDirectory
from console.doctor import machine
from console.doctor.command import total
from console.doctor.finding import Finding, Machine, Status, healthy
from console.doctor.probes import findings_of
from console.doctor.programs import sandbox
from console.init.command import InitOptions, initialise
from console.option_values import API_URL, BACKEND, SANDBOX, SETUP_COMMAND, TEST_COMMAND, usable
from console.start import coder, first_issue, project, signing_in
from console.start.draft import Choices, Draft
from console.start.questions import INTERRUPTED, NotReady, Person, refusal, steps_text
from runtime.arguments import Arguments
from runtime.building.sign_in import git_server
from runtime.daemon.start import Job
from runtime.exit_codes import FAILED, OK, complain, engine_error_of
from runtime.launch import launch_all
from runtime.output import keep_streams, say, show
from shared.clock import Clock
from shared.errors import EngineError, Misconfigured, Transient
from shared.workflow import Role, Stage
from worker_agent.build import build as worker

STEPS = ("This machine", "GitHub", "Reviewer", "Coding backend", "Tests", "Files and labels", "Doctor", "First issue")


@dataclass(frozen=True, slots=True)
class StartOptions:
    """Options of `start`; `issue` is a number or a sentence, `prepare_only` begins no issue."""

    choices: Choices
    config: Path | None = None
    backend: str | None = None
    issue: str = ""
    comments: bool = False
    prepare_only: bool = False


Work = Callable[[Draft, Mapping[str, str]], int]
"""Works on the issue that was ordered; returns an exit code."""


def started(
    options: StartOptions,
    person: Person,
    environment: Mapping[str, str],
    work: Work | None = None,
    clock: Clock | None = None,
) -> int:
    """Do it; the exit code is the worker's where one was started, else 0, and 1, 2, 4 or 130 for what stopped it.

    `work` stands for a worker of this process's own, `clock` for the machine's.
    """
    keep_streams()
    try:
        _check_options(options)
        draft = Draft.of(options.choices, options.config, environment, clock)
        draft, environment = _prepare_repository(draft, options, person, environment)
        if (number := _order_issue(options, draft, person, environment)) == 0:
            return OK
        return _work_on(options, draft, number, partial(work or _work, draft, environment))
    except EngineError as error:
        return complain(error)
    except ExceptionGroup as group:
        return complain(engine_error_of(group))
    except KeyboardInterrupt:
        show("\nInterrupted. What was done stays; the same command goes on.")
        return INTERRUPTED


def _check_options(options: StartOptions) -> None:
    """Raise `Misconfigured` for options that no configuration takes, before anything is looked at."""
    checked(options.choices.repository)
    usable(
        {
            "--backend": (BACKEND, options.backend),
            "--test-command": (TEST_COMMAND, options.choices.test_command),
            "--setup-command": (SETUP_COMMAND, options.choices.setup_command),
            "--sandbox": (SANDBOX, options.choices.sandbox),
            "--api-url": (API_URL, options.choices.api_url),
        }
    )


def _prepare_repository(
    draft: Draft, options: StartOptions, person: Person, environment: Mapping[str, str]
) -> tuple[Draft, Mapping[str, str]]:
    """Everything but the issue; raises what only the person can put right."""
    if draft.known:
        show(f"{draft.path} has {options.choices.repository} already: it counts, and only what is missing is made.")
    _step(1)
    settings = draft.settings(environment)
    _check_machine(draft.machine(environment))
    StateDirectory(settings.state_dir).open()  # before anything is made below it with other rights
    _step(2)
    draft, environment, writer = signing_in.signed_in(draft, environment, person)
    if not options.prepare_only:
        first_issue.looked_up(draft, environment, options.issue)
    _step(3)
    draft = signing_in.reviewer(draft, environment, person, writer)
    _step(4)
    draft, environment = coder.chosen(draft, environment, person, options.backend)
    _step(5)
    draft = project.tried(draft, environment, person)
    _step(6)
    draft = _write_files(draft, environment, comments=options.comments)
    _step(7)
    _run_doctor(draft.machine(environment, quick=True))
    return draft, environment


def _step(number: int) -> None:
    show(f"{number}/{len(STEPS)}  {STEPS[number - 1]}")


def _check_machine(patient: Machine) -> None:
    """Check this machine before any question, because no answer can repair it; raises the error of `refusal`."""
    found = anyio.run(_machine_findings, patient)
    if not healthy(found):
        raise refusal(found)
    show("\n".join(one.sentence for one in found if one.status is Status.PASS and one.subject in _TOLD))
    show(steps_text(found) or "Nothing is missing here.")


_TOLD = frozenset({"git", "sandbox"})


async def _machine_findings(patient: Machine) -> list[Finding]:
    return [*await machine.git_version(patient), *await machine.disk(patient), *await sandbox(patient)]


def _write_files(draft: Draft, environment: Mapping[str, str], *, comments: bool) -> Draft:
    """The configuration file, then what `init` makes; raises `Misconfigured`, `NotReady` and `Transient`."""
    if not draft.known:
        _write_configuration(draft, comments=comments)
        draft = replace(draft, known=True)
    name = draft.choices.repository
    code = initialise(InitOptions(name, draft.path, yes=True), None, environment, draft.clock)
    if code != OK:
        sentence = "The labels could not be made; see above."
        raise Transient(sentence) if code == FAILED else NotReady(sentence)
    return draft


def _write_configuration(draft: Draft, *, comments: bool) -> None:
    file = draft.file(comments=comments)
    if draft.before is None:
        if not file.write():
            raise Misconfigured(f"{draft.path} was written by somebody else meanwhile: start again.")
        lines = "".join(f"    {line}\n" for line in file.content().splitlines() if not line.startswith("#"))
        show(f"Wrote {draft.path}:")
        say(lines.rstrip())  # as it stands there
        return
    file.rewrite()
    show(f"Added {draft.choices.repository} to {draft.path}; all else in it is as it was.")


def _run_doctor(patient: Machine) -> None:
    """The doctor; its test run is left out, because the tests have just run. Raises what failed."""
    show("Examining everything once ...")
    found: Sequence[Finding] = anyio.run(findings_of, patient)
    found = [one for one in found if one.status is not Status.SKIP and one.subject != "CI"]  # that was told before
    if not healthy(found):
        raise refusal(list(found))
    show("\n".join(filter(None, (steps_text(found), total(found)))))


def _order_issue(options: StartOptions, draft: Draft, person: Person, environment: Mapping[str, str]) -> int:
    """Return the number of the issue that is to be worked on; 0: none."""
    settings = draft.settings(environment)
    _step(8)
    if not options.prepare_only:
        budgets = settings.budgets
        show(
            f"The first paid step: at most ${budgets.run:g} a run, ${budgets.issue:g} an issue, ${budgets.day:g} a day."
        )
        if number := first_issue.chosen_issue(draft, environment, person, options.issue):
            page = f"{git_server(settings.github.api_url)}/{draft.choices.repository}/issues/{number}"
            show(f"A worker takes it up now: {page}")
            return number
    ready = settings.repositories[0].labels.names().of(Stage.READY)
    show(f"Nothing was begun. Later: label an issue {ready}, then run\n  {_again(options, draft)}")
    return 0


def _work_on(options: StartOptions, draft: Draft, number: int, work: Callable[[], int]) -> int:
    name, file = draft.choices.repository, _config(options, draft)
    show(f"Ctrl-C stops it and loses nothing; go on with\n  {_again(options, draft)}")
    code = work()
    show(f"What happened to #{number}, and what comes next:")
    show(f"  workflow-engine status {name}{file}")
    show(f"  reviewer-agent {name} --once{file}")
    show(f"All agents, as long as they run:\n  workflow-engine run {name}{file}")
    return code


def _again(options: StartOptions, draft: Draft) -> str:
    return f"worker-agent {draft.choices.repository} --once{_config(options, draft)}"


def _config(options: StartOptions, draft: Draft) -> str:
    """Return the option by which commands find the configuration; empty if they find it without one."""
    return "" if options.config is None else f" --config {shlex.quote(str(draft.path))}"


def _work(draft: Draft, environment: Mapping[str, str]) -> int:
    """One worker, for one item to its end; what it does is told line by line."""
    name, path = draft.choices.repository, draft.path
    arguments = Arguments(name, path, once=True, wait=True, verbose=False, agent_id=None, tells=True)
    job = Job(Role.WORKER, worker)
    return launch_all((job,), arguments, lambda: draft.settings(environment), environment, clock=draft.clock)
