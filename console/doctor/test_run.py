"""Probes of the tests and of CI: the tests of the base are run once in the sandbox; is there a CI."""

from __future__ import annotations

from collections.abc import Sequence

from console.doctor.finding import Finding, RepositoryContext, failed, passed, skipped, warned
from console.doctor.suites import paths_of
from console.history.repository_reader import branch_commit
from console.verify.command import bench_of, work_place
from shared.ci.presence import has_workflow
from shared.errors import EngineError, Misconfigured
from shared.github.checks import Checks
from shared.process import CommandFailed
from shared.workflow import Role
from worker_agent.phase_commits import reader
from worker_agent.policy import suites_of
from worker_agent.repository_rules import settings_at
from worker_agent.tdd.judging.judge import judge_baseline
from worker_agent.tdd.proof.execution import Execution
from worker_agent.tdd.proof.layout import chosen_suites
from worker_agent.tdd.runners.test_run import TestRun
from worker_agent.verify.clone import brought, cloned

SUBJECT = "test run"

_LINES, _LINE_CHARS = 3, 200
"""Lines, and characters of each, that are shown of the output of a failed run."""


async def test_run(visit: RepositoryContext) -> Sequence[Finding]:
    """Report whether the tests of the base run on this machine as the worker runs them, set-up included."""
    if Role.WORKER not in visit.roles:
        return []
    if visit.machine.quick:
        sentence = "Left out by --quick: nobody knows whether test_command runs here."
        return [skipped(SUBJECT, sentence, "Try it once without --quick before agents are started.", visit.name)]
    if visit.configured.local_suite == "changed":
        step = "Nothing has to be done; with `local_suite: full` it would run here, too."
        return [skipped(SUBJECT, "local_suite: changed leaves the whole suite to CI.", step, visit.name)]
    tip = await branch_commit(visit.me.github, visit.configured.name, visit.base_branch)
    if tip is None:
        return []  # a base branch that is not there is told elsewhere
    try:
        return [run_finding(await _run_base_tests(visit, tip), tip, visit.name)]
    except Misconfigured as error:
        return [failed(SUBJECT, f"The tests of the base cannot be started: {error}", _STEP, visit.name)]
    except (EngineError, CommandFailed, OSError) as error:
        return [failed(SUBJECT, f"The tests of the base could not be run: {error}", _STEP, visit.name)]


_STEP = "Correct test_command, setup_command or sandbox; until then nothing can be implemented here."


async def _run_base_tests(visit: RepositoryContext, tip: str) -> TestRun:
    machine, configured = visit.machine, visit.configured
    async with work_place(machine.settings) as place:
        mirror, space = await cloned(visit.git, visit.url, place)
        if not await brought(mirror, tip):
            raise Misconfigured(f"the commit {tip[:12]} cannot be fetched")
        await space.bring(tip)
        configured = await settings_at(space, tip, configured, machine.settings.backends(configured))
        bench = await bench_of(machine.settings, configured, machine.environment, place)
        paths = await mirror.paths(tip)
        suites = chosen_suites(suites_of(configured), paths, await reader(space, tip, paths))
        return await Execution(bench, suites, space).run(tip)


def run_finding(run: TestRun, tip: str, name: str) -> Finding:
    """Judge one run of the base as the worker judges it before it pays for anything."""
    verdict = judge_baseline(run)
    if not verdict.ok:
        said = " ".join(" ".join(one.split())[:_LINE_CHARS] for one in verdict.details[: 1 + _LINES])
        return failed(SUBJECT, f"The tests of the base {tip[:12]} do not run here: {said}", _STEP, name)
    told = f"The tests of the base {tip[:12]} run here: {run.one_line()}."
    if run.failed or run.broken_files:
        step = "Repair them first if they should pass: what fails on the base counts for nothing in a proof."
        return warned(SUBJECT, told, step, name)
    return passed(SUBJECT, told, name)


async def ci(visit: RepositoryContext) -> Sequence[Finding]:
    """Report whether the repository has any CI, and what follows where it has none."""
    github, name = visit.me.github, visit.configured.name
    paths, tip = await paths_of(visit), await branch_commit(github, name, visit.base_branch)
    if paths is None or tip is None:
        return []
    found = has_workflow(paths) or await Checks(github, name).ever(tip)
    return [ci_finding(found=found, none_is_green=visit.configured.ci.none_is_green, name=visit.name)]


def ci_finding(*, found: bool, none_is_green: bool, name: str) -> Finding:
    """Judge whether there is a CI, by what is configured for a commit without checks."""
    if found:
        return passed("CI", "There are workflows or checks.", name)
    if none_is_green:
        return passed("CI", "There is none, and ci.none_is_green takes a commit without checks for green.", name)
    sentence = "There is none: pull requests go to review without any check, and only a person's word merges them."
    return warned("CI", sentence, "Add a workflow, or `ci: {none_is_green: true}` to the repository's entry.", name)
