"""A repository's own rules, in `.workflow-engine.yml` of its base branch: a subset of keys, with limits only lowered.

The operator's configuration holds for everything that it does not say. No key can name a secret, a path outside of
the repository, a person, or a backend that the operator has not configured.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from pydantic import Field, ValidationError

from config.document import Problem, Unreadable, misconfigured, parse
from config.repository import Ladder, RepositorySettings
from config.section import Section, Text
from config.suites import Directory, Pattern, SuiteSettings
from config.validation import problems_of

FILE = ".workflow-engine.yml"
"""Path of the file in the repository; only people change it."""

_SUITE = ("test_command", "test_report", "working_directory")
"""Keys that `suites` replaces."""

_LIMITS = ("max_turns", "run_timeout_minutes", "stall_timeout_minutes")
"""Keys whose values a repository can only lower."""


class RepositoryRules(Section):
    """The keys that a repository may set; the same words as in the operator's configuration."""

    test_command: Text | None = None
    """The command that runs the tests."""
    test_report: Text | None = None
    """Glob of the JUnit XML files that `test_command` writes."""
    working_directory: Directory = ""
    """Directory in the repository where the test, set-up and quality commands run."""
    suites: tuple[SuiteSettings, ...] = ()
    """Several suites, as in `[{directory: api}, {directory: web}]`."""
    test_files: tuple[Pattern, ...] = ()
    """Globs of files that are tests or serve them."""
    setup_command: Text | None = None
    """The command that installs what the tests need."""
    quality_commands: tuple[Text, ...] | None = None
    """Linters and type checkers that must stay clean."""
    conventions: tuple[Pattern, ...] = ()
    """Files that coders are told besides AGENTS.md, CLAUDE.md and CONTRIBUTING.md, as in `["docs/style.md"]`."""
    ladder: Ladder = ()
    """Models or backends that further attempts use in turn; backends only of those that the operator has configured."""
    pr_labels: tuple[Text, ...] = ()
    """Labels that every pull request of the engine gets."""
    max_turns: int | None = Field(None, ge=1)
    """Turns of one run, at most the operator's."""
    run_timeout_minutes: float | None = Field(None, gt=0)
    """Minutes of one run, at most the operator's."""
    stall_timeout_minutes: float | None = Field(None, gt=0)
    """Minutes without output, at most the operator's."""


NO_RULES = RepositoryRules()
"""The rules of a repository without the file."""


def read_rules(content: bytes, backends: Collection[str]) -> RepositoryRules:
    """The rules that the file's `content` spells; `backends` are those that the operator has configured.

    Raises `Misconfigured` with the place of everything that is wrong.
    """
    try:
        document = parse(content)
    except Unreadable as error:
        raise misconfigured(FILE, [error.problem]) from None
    if document.value is None:
        return NO_RULES
    try:
        rules = RepositoryRules.model_validate_json(json.dumps(document.value))
    except ValidationError as error:
        raise misconfigured(FILE, [*document.problems, *problems_of(document, error, RepositoryRules)]) from None
    if document.problems:
        raise misconfigured(FILE, document.problems)
    for number, one in enumerate(rules.ladder):
        if one.backend is not None and one.backend not in backends:
            line, column = document.place(("ladder", number))
            said = f"ladder[{number}]: the backend '{one.backend}' is not configured by the engine's operator"
            raise misconfigured(FILE, [Problem(line, column, said)])
    return rules


def overlaid(configured: RepositorySettings, rules: RepositoryRules) -> RepositorySettings:
    """Return the operator's settings of a repository, replaced where its own rules say something else."""
    said = rules.model_fields_set & RepositorySettings.model_fields.keys()
    update: dict[str, Any] = {name: getattr(rules, name) for name in said}
    for name in _LIMITS:
        if update.get(name) is not None:
            update[name] = min(update[name], getattr(configured, name))
        else:
            update.pop(name, None)
    if rules.suites:
        update |= {name: RepositorySettings.model_fields[name].default for name in _SUITE}
    elif configured.suites and any(name in said for name in _SUITE):
        update["suites"] = ()
    return configured.model_copy(update=update)
