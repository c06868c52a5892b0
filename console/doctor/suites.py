"""The tests of a repository: suites found and suites run, and the keys to write where others are meant."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import Any

from console.doctor.finding import Finding, RepositoryContext, failed, passed, warned
from console.manual import link
from shared.errors import Gone, Misconfigured
from shared.github import wire
from shared.github.address import segment
from shared.workflow import Role
from worker_agent.policy import SuitePolicy, suites_of
from worker_agent.tdd.proof.layout import chosen_suites
from worker_agent.tdd.runners.detected_suites import detected_suites
from worker_agent.tdd.runners.runner import RUNNER_FILES, Read, Suite

SUBJECT = "tests"

FILES_READ = 40
"""Files that name a runner and are read, at most; those nearest to the root come first."""


async def tests(visit: RepositoryContext) -> Sequence[Finding]:
    """Report the suites that the worker finds on the base branch, and those it runs; nothing without a base branch."""
    paths = await paths_of(visit) if Role.WORKER in visit.roles else None
    if paths is None:
        return []
    wanted = [path for path in paths if PurePosixPath(path).name in RUNNER_FILES]
    nearest = sorted(wanted, key=lambda path: (path.count("/"), path))[:FILES_READ]
    known = {path: await content(visit, path) for path in nearest}
    return [suites_finding(suites_of(visit.configured), paths, known.get, visit.name)]


def suites_finding(policies: Sequence[SuitePolicy], paths: Collection[str], read: Read, name: str) -> Finding:
    """Judge the configured suites (`policies`) against those that the repository has."""
    found = detected_suites(paths, read)
    try:
        used = chosen_suites(policies, paths, read)
    except Misconfigured as error:
        return _unusable_finding(policies, found, str(error), name)
    told = f"Run: {_list_of_suites(used)}."
    left = [suite for suite in found if suite.directory not in {one.directory for one in used}]
    if not left:
        return passed(SUBJECT, f"{told}{'' if _is_configured(policies) else _ANOTHER}", name)
    told = f"{told} Found as well, and not run: {_list_of_suites(left)}."
    if _is_configured(policies):
        return passed(SUBJECT, told, name)
    places = {suite.directory for suite in found}
    kept = [suite for suite in used if suite.directory in places]  # else only what lies below it has tests
    return warned(SUBJECT, told, f"To run them where they lie, write {_configuration_key([*kept, *left])}.", name)


_ANOTHER = " For another command there is the key test_command."


def _unusable_finding(policies: Sequence[SuitePolicy], found: Sequence[Suite], fault: str, name: str) -> Finding:
    if _is_configured(policies):
        step = f"Correct working_directory, suites or test_command ({link('docs/configuration.md#tests')})."
        return failed(SUBJECT, fault, f"{step} Found are: {_list_of_suites(found)}." if found else step, name)
    if not found:
        step = "Write test_command and test_report, or add a first test; without tests nothing can be implemented."
        return failed(SUBJECT, fault, step, name)
    sentence = f"None are found in the root. Found elsewhere: {_list_of_suites(found)}."
    return failed(SUBJECT, sentence, f"To run them where they lie, write {_configuration_key(found)}.", name)


def _is_configured(policies: Sequence[SuitePolicy]) -> bool:
    return tuple(policies) != (SuitePolicy(),)


def _list_of_suites(suites: Sequence[Suite]) -> str:
    return ", ".join(
        f"{suite.runner.name} in {suite.directory or 'the root'} (`{suite.test_command}`)" for suite in suites
    )


def _configuration_key(suites: Sequence[Suite]) -> str:
    """Return the key of the configuration that names exactly these suites."""
    if len(suites) == 1:
        return f"working_directory: {_yaml_name(suites[0].directory)}"
    return f"suites: [{', '.join(f'{{directory: {_yaml_name(suite.directory)}}}' for suite in suites)}]"


def _yaml_name(directory: str) -> str:
    """Return the directory as YAML takes it in a list, for any name."""
    plain = re.fullmatch(r"[A-Za-z][\w./-]*", directory, re.ASCII) and directory.casefold() not in _YAML_WORDS
    return directory if plain else json.dumps(directory)


_YAML_WORDS = frozenset({"null", "true", "false"})
"""Words that are no text in YAML."""


async def paths_of(visit: RepositoryContext) -> tuple[str, ...] | None:
    """Return every file of the base branch; of a very large repository as many as GitHub lists."""
    at = f"/repos/{visit.name}/git/trees/{segment(visit.base_branch)}"
    try:
        return wire.read(_files, await visit.me.github.get(at, recursive=1))
    except Gone:
        return None


async def content(visit: RepositoryContext, path: str) -> bytes | None:
    """Return a file of the base branch; None if it is too large for GitHub's answer, or gone meanwhile."""
    at = f"/repos/{visit.name}/contents/{segment(path)}"
    try:
        return wire.read(_decode_content, await visit.me.github.get(at, ref=visit.base_branch))
    except Gone:
        return None


def _decode_content(value: Any) -> bytes | None:
    return base64.b64decode(value["content"]) if value["encoding"] == "base64" else None


def _files(value: Any) -> tuple[str, ...]:
    return tuple(str(entry["path"]) for entry in value["tree"] if entry["type"] == "blob")
