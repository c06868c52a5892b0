"""The commands for the project's tests: found, tried on the base in the sandbox, and asked for where that fails."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

import anyio

from console.doctor import suites, test_run
from console.doctor.finding import Finding, Machine, RepositoryContext, Status, healthy
from console.doctor.probes import visited_repository
from console.start.draft import Draft
from console.start.questions import Person, ask, refusal
from runtime.output import show
from shared.workflow import Role
from worker_agent.policy import suites_of

QUESTION = "Command that runs the tests, as in `pytest -q`, or set-up first, as in `uv sync && uv run pytest -q`"

_AND = " && "

_TESTED = "pytest"
"""Installed beside what requirements name: they seldom name it."""


@dataclass(frozen=True, slots=True)
class Tried:
    """Findings about a project's tests and its CI, and the set-up that its files suggest."""

    findings: Sequence[Finding]
    suggested: str | None = None


def tried(draft: Draft, environment: Mapping[str, str], person: Person) -> Draft:
    """The draft with commands by which the tests of the base run here; raises what `refusal` makes of a failure."""
    result = _test_base(draft, environment)
    if not healthy(result.findings) and not draft.known and not draft.choices.setup_command and result.suggested:
        show(f"They do not run as they are. With the set-up `{result.suggested}` ...")
        draft = draft.choosing(setup_command=result.suggested)
        result = _test_base(draft, environment)
    if not healthy(result.findings) and not draft.known and _asking_helps(result.findings):
        show(_findings_text(result.findings))
        answer = ask(person, QUESTION, lambda text: "" if text else "Without tests nothing can be implemented.")
        setup, _, command = answer.rpartition(_AND)
        draft = draft.choosing(test_command=command.strip(), setup_command=setup.strip() or draft.choices.setup_command)
        result = _test_base(draft, environment)
    if not healthy(result.findings):
        raise refusal(list(result.findings))
    show(_findings_text(result.findings))
    return draft


def _findings_text(findings: Sequence[Finding]) -> str:
    return "\n".join(f"{one.subject}: {' -> '.join(filter(None, (one.sentence, one.next_step)))}" for one in findings)


def _asking_helps(findings: Sequence[Finding]) -> bool:
    """Return whether the tests themselves failed, and not GitHub."""
    return not any(one.passing for one in findings if one.status is Status.FAIL)


def _test_base(draft: Draft, environment: Mapping[str, str]) -> Tried:
    return anyio.run(_run_tests_once, draft.machine(environment))


async def _run_tests_once(machine: Machine) -> Tried:
    async with visited_repository(machine, frozenset({Role.WORKER})) as visit:
        found = [*await test_run.ci(visit), *await suites.tests(visit)]
        if not healthy(found):
            return Tried(found)
        confined = "without a sandbox" if machine.settings.sandbox == "none" else "in the sandbox"
        show(f"Running them once on the base, {confined} ...")
        return Tried([*found, *await test_run.test_run(visit)], await _suggested_set_up(visit))


async def _suggested_set_up(visit: RepositoryContext) -> str | None:
    """The set-up command that the files beside the tests suggest."""
    paths = await suites.paths_of(visit) or ()
    directory = suites_of(visit.configured)[0].directory
    lead = f"{directory}/" if directory else ""
    inside = {path.removeprefix(lead) for path in paths if path.startswith(lead)}
    manifest = await suites.content(visit, f"{lead}pyproject.toml") if "pyproject.toml" in inside else None
    return set_up(inside, (manifest or b"").decode("utf-8", "replace"), shutil.which)


def set_up(files: Set[str], manifest: str, which: Callable[[str], str | None]) -> str | None:
    """The set-up that a project's files suggest (pure); `which` says whether a program is here.

    `manifest` is its pyproject.toml. None where there is nothing to install, or no program for it.
    """
    for file, program, command in _BY_LOCK:
        if file in files and which(program):
            return command
    requirements = sorted(name for name in files if re.fullmatch(r"requirements[\w.-]*\.txt", name))
    if requirements:
        return " ".join(["pip install", _TESTED, *(f"-r {name}" for name in requirements)])
    if files & {"pyproject.toml", "setup.py", "setup.cfg"}:
        extra = next((name for name in ("test", "tests", "dev") if _is_extra(name, manifest)), None)
        return f"pip install {_TESTED} -e .[{extra}]" if extra else f"pip install {_TESTED} -e ."
    return "npm install" if "package.json" in files and which("npm") else None


_BY_LOCK = (
    ("uv.lock", "uv", "uv sync"),
    ("poetry.lock", "poetry", "poetry install"),
    ("pdm.lock", "pdm", "pdm install"),
    ("package-lock.json", "npm", "npm ci"),
    ("pnpm-lock.yaml", "pnpm", "pnpm install --frozen-lockfile"),
    ("yarn.lock", "yarn", "yarn install --immutable"),
    ("go.mod", "go", "go mod download"),
    ("Cargo.toml", "cargo", "cargo fetch"),
    ("composer.lock", "composer", "composer install"),
    ("Gemfile.lock", "bundle", "bundle install"),
)
"""A file, the program that reads it, and the command that installs what it names."""


def _is_extra(name: str, manifest: str) -> bool:
    section = manifest.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    return re.search(rf"^{name}\s*=", section, re.MULTILINE) is not None
