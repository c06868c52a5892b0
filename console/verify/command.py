"""`workflow-engine verify`: check a pull request's claim by running it again from fresh clones."""

from __future__ import annotations

import json
import re
import secrets
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from config.environment import child_environment, for_set_up
from config.loading import load, source
from config.repository import RepositorySettings
from config.settings import Settings
from console.verify.pull import fetched
from runtime.building.confinement import confinement
from runtime.building.sign_in import with_gh_token
from runtime.exit_codes import FAILED, MISCONFIGURED, NOT_ALLOWED, NOTHING_TO_DO, OK, code_of
from runtime.output import on_terminal
from runtime.telemetry.progress import Progress, Watched
from shared.clock import Clock
from shared.errors import EngineError, Misconfigured
from shared.filesystem import directories
from shared.git.command import Git
from shared.loop.real_clock import RealClock
from shared.sandbox.self_test import conceal
from shared.specification import Specification, SpecificationKind, read
from shared.telemetry.event_recorder import EventRecorder, Telemetry
from shared.telemetry.fold import Tallies
from shared.workflow import Role
from worker_agent.policy import SuitePolicy, suites_of
from worker_agent.repository_rules import settings_at
from worker_agent.tdd.proof.subject import Rules
from worker_agent.tdd.runners.observed_runs import ObservedBench
from worker_agent.tdd.runners.test_bench import TestBench
from worker_agent.tdd.setup.setup_step import SetUp
from worker_agent.verify.clone import brought, cloned
from worker_agent.verify.compare import Falsehood, false, unproven
from worker_agent.verify.repeat import Ask, Repeat
from worker_agent.verify.report import Report, as_text

_PULL_REQUEST = re.compile(r"([^/#\s]+/[^/#\s]+)#([1-9][0-9]{0,9})")
_LOCAL = "local/repository"
"""Stands for a repository on this machine where no configuration names one."""


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """Options of `verify`: a pull request (`owner/repo#7`), or two commits of the repository `repo`."""

    pull_request: str | None = None
    local: tuple[str, str] | None = None
    repo: Path = Path()
    json: bool = False
    config: Path | None = None
    test_command: str | None = None
    may_change: Sequence[str] = ()
    kind: str = "feature"
    specification: Path | None = None


def verified(options: VerifyOptions, environment: Mapping[str, str]) -> int:
    """Examine and print; 0 when the claim is true, 1 when it is not, 2 for arguments, 4 when nobody can tell.

    3 when the change is proven and no claim exists.
    """
    try:
        conceal()
        report = _examine(options, environment)
    except EngineError as error:
        sys.stderr.write(f"{error}\n")
        return MISCONFIGURED if code_of(error) == MISCONFIGURED else NOT_ALLOWED
    sys.stdout.write(f"{json.dumps(asdict(report)) if options.json else as_text(report)}\n")
    if not report.true:
        return FAILED
    return NOTHING_TO_DO if report.claimed is False else OK


def _examine(options: VerifyOptions, environment: Mapping[str, str]) -> Report:
    if (options.pull_request is None) == (options.local is None):
        raise Misconfigured("Name one pull request as owner/repo#7, or two commits as --local BASE HEAD.")
    if options.kind not in set(SpecificationKind):
        raise Misconfigured(f"'{options.kind}' is no kind of change; there are {', '.join(SpecificationKind)}.")
    if options.local is not None:
        return anyio.run(examined_locally, options, _settings_for_local(options, environment), environment)
    found = _PULL_REQUEST.fullmatch(options.pull_request or "")
    if found is None:
        raise Misconfigured(f"'{options.pull_request}' is no pull request: write it as owner/repo#7.")
    settings = load(options.config, repository=found[1], environment=environment)
    return anyio.run(_pull_request, options, settings, int(found[2]), with_gh_token(settings, environment))


def _settings_for_local(options: VerifyOptions, environment: Mapping[str, str]) -> Settings:
    named = source(options.config, environment=environment)
    return load(options.config, repository=None if named else _LOCAL, environment=environment)


async def _pull_request(
    options: VerifyOptions, settings: Settings, number: int, environment: Mapping[str, str]
) -> Report:
    (configured,) = settings.repositories
    async with work_place(settings) as place:
        material = await fetched(settings, environment, number, place)
        if isinstance(material, Report):
            return material
        backends = settings.backends(configured)
        configured = await settings_at(material.space, material.ask.base, configured, backends)
        bench = await bench_of(settings, configured, environment, place, reports=on_terminal(sys.stderr))
        ask = replace(material.ask, suites=_suites(options, configured), **_rules(configured))
        seen = await Repeat(material.mirror, material.space, bench, ask).examined()
        if material.claim is None:
            found = (*material.found, *unproven(seen))
            return Report.of(material.subject, ask, seen, found, material.remarks, claimed=False)
        found = (*material.found, *false(material.claim, seen, material.history))
        return Report.of(material.subject, ask, seen, found, material.remarks)


def _suites(options: VerifyOptions, configured: RepositorySettings) -> tuple[SuitePolicy, ...]:
    """Return the suites to run: the given command, else the configured ones, else what is found at the top."""
    if options.test_command:
        return (SuitePolicy(configured.working_directory, options.test_command, configured.test_report),)
    return suites_of(configured)


def _rules(configured: RepositorySettings) -> dict[str, Any]:
    """The rest of what the configuration says to a proof, as fields of `Ask`."""
    rules = Rules(configured.tdd.damages, configured.old_tests, configured.local_suite)
    return {"rules": rules, "test_files": tuple(configured.test_files)}


async def examined_locally(
    options: VerifyOptions, settings: Settings, environment: Mapping[str, str], bench: TestBench | None = None
) -> Report:
    """Judge two commits of a repository on this machine; on `bench`, or on one as the configuration says."""
    configured = settings.repositories[0] if len(settings.repositories) == 1 else RepositorySettings(name=_LOCAL)
    here = Git(git_dir(options.repo), {**child_environment(), **environment})
    base, head = [await _commit(here, name) for name in options.local or ()]
    async with work_place(settings) as place:
        mirror, space = await cloned(here, str(here.git_dir), place)
        for commit in (base, head):
            if not await brought(mirror, commit):
                raise Misconfigured(f"The commit {commit} of {options.repo} cannot be fetched.")
        configured = await settings_at(space, base, configured, settings.backends(configured))
        bench = bench or await bench_of(settings, configured, environment, place, reports=on_terminal(sys.stderr))
        allowed = await to_thread.run_sync(_specification, options)
        ask = Ask(base, head, _suites(options, configured), allowed, **_rules(configured))
        seen = await Repeat(mirror, space, bench, ask).examined()
        found = unproven(seen)
        if not await mirror.is_ancestor(base, head):
            found = (Falsehood("history", f"The head {head[:12]} is not built on the base {base[:12]}."), *found)
        return Report.of(f"{base[:12]}..{head[:12]}", ask, seen, found, claimed=None)


def _specification(options: VerifyOptions) -> Specification:
    """Return the specification of the change, as far as the options give one."""
    text = ""
    if options.specification is not None:
        try:
            text = options.specification.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise Misconfigured(f"The specification {options.specification} cannot be read: {error}") from None
    asked = read(text) if text.strip() else Specification("")
    kind = asked.kind if options.kind == SpecificationKind.FEATURE else SpecificationKind(options.kind)
    return replace(asked, may_change=(*asked.may_change, *options.may_change), kind=kind)


async def bench_of(
    settings: Settings,
    configured: RepositorySettings,
    environment: Mapping[str, str],
    place: Path,
    *,
    reports: bool = False,
) -> TestBench:
    """Return a bench that runs tests in the configured sandbox; with `reports` a person is told of each run.

    What is set up lies below `place` and goes with it: a stranger's commit never fills the worker's own.
    """
    confined = await confinement(settings, environment)
    setup = SetUp(configured.name, configured.setup_command, place / "env", for_set_up(), confined)
    deadline = 60 * configured.run_timeout_minutes
    if not reports:
        return TestBench(child_environment(), deadline, confinement=confined, setup=setup)
    recorder = run_recorder(configured.name, RealClock())
    return ObservedBench(child_environment(), deadline, recorder, confinement=confined, setup=setup)


def run_recorder(repository: str, clock: Clock) -> EventRecorder:
    """Return a recorder that keeps nothing, and prints each run of the tests on standard error as it ends."""
    watched = Watched(Progress(clock, ci=False))
    return EventRecorder(Telemetry("verify", Role.WORKER, clock, (watched,), Tallies(), str), repository)


@asynccontextmanager
async def work_place(settings: Settings) -> AsyncIterator[Path]:
    """A directory where the sandbox can show it, removed at the end."""
    place = settings.work_dir / f"verify-{secrets.token_hex(8)}"
    try:
        place.mkdir(parents=True)
    except OSError as error:
        raise Misconfigured(f"work_dir {settings.work_dir} cannot be used: {error.strerror}.") from None
    try:
        yield place
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(directories.remove, place)


def git_dir(repo: Path) -> Path:
    """The git directory of a checkout, a worktree or a bare repository."""
    inner = repo.absolute() / ".git"
    if inner.is_file():
        named = inner.read_text(encoding="utf-8", errors="replace").partition("gitdir: ")[2].strip()
        common = (inner.parent / named / "commondir").resolve()
        return (common.parent / common.read_text().strip()).resolve() if common.is_file() else inner.parent / named
    if inner.is_dir():
        return inner
    if (repo / "HEAD").is_file() and (repo / "objects").is_dir():
        return repo.absolute()
    raise Misconfigured(f"{repo} is no git repository: give the one that has both commits with --repo PATH.")


async def _commit(git: Git, name: str) -> str:
    arguments = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    found = (await git.run(*arguments, ok=(0, 1, 128))).text
    if not re.fullmatch(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", found):
        raise Misconfigured(f"'{name}' names no commit of {git.git_dir}.")
    return found
