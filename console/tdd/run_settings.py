"""The configuration of a task: what is configured for the project, and what a GitHub of the engine's own needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from config.engine import GitHubSettings, LockSettings, NotifySettings
from config.environment import child_environment
from config.loading import load, source
from config.observability import EventSettings, HealthSettings
from config.repository import (
    CeilingSettings,
    CISettings,
    FeedbackSettings,
    LabelSettings,
    RepositorySettings,
    StartSettings,
    TitleSettings,
)
from config.settings import Settings
from console.tdd.task import TaskRequest
from shared.llm import cli_backends
from shared.llm.cli.programs import newest, program

POLL_SECONDS = 0.5
"""Seconds between two looks of the agents; all of it is on this machine."""


def local_name(top: Path) -> str:
    """Return the name of a work tree's repository where no remote names it."""
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", top.name).strip(".-").removesuffix(".git")[:80]
    return f"local/{words or 'project'}"


def configured(order: TaskRequest, environment: Mapping[str, str]) -> Settings:
    """The configuration for the order's repository, with this one repository; raises `Misconfigured`.

    A file that names another repository only is taken at its word if there is but one.
    """
    named = Path(order.config) if order.config else None
    file = source(named, environment=environment)
    settings = load(named, repository=None if file else order.name, environment=environment)
    known = [repository for repository in settings.repositories if repository.name.casefold() == order.name.casefold()]
    if not known and len(settings.repositories) == 1:
        known = list(settings.repositories)
    repository = known[0] if known else RepositorySettings(name=order.name)
    options = {
        "llm_backend": order.llm,
        "test_command": order.test_command,
        "setup_command": order.setup_command,
    }
    repository = repository.model_copy(update={key: value for key, value in options.items() if value is not None})
    if order.test_command is not None:
        repository = repository.model_copy(update={"suites": ()})  # the command that was asked for is the only one
    sandbox = {} if order.sandbox is None else {"sandbox": order.sandbox}
    return settings.model_copy(update={"repositories": (repository,), **sandbox})


def programs(settings: Settings, environment: Mapping[str, str]) -> dict[str, str]:
    """By configuration key the program of each backend that has one, found now; raises `Misconfigured`."""
    found: dict[str, str] = {}
    path = child_environment(environment)["PATH"]
    for name in sorted(settings.backends() & cli_backends().keys()):
        found[f"{name}_cli"] = str(program(name, settings.cli(name), settings.state_dir, path))
    return found


async def chosen(settings: Settings, environment: Mapping[str, str]) -> tuple[Settings, tuple[str, ...]]:
    """`settings` with the newest program found of each backend, and what is said of the choices."""
    found: dict[str, str] = {}
    said: list[str] = []
    for name in sorted(settings.backends() & cli_backends().keys()):
        one = await newest(name, settings.cli(name), settings.state_dir, child_environment(environment))
        found[f"{name}_cli"] = str(one.path)
        said += [one.sentence] if one.sentence else []
    return settings.model_copy(update=found), tuple(said)


def on_own_github(
    settings: Settings, order: TaskRequest, url: str, place: Path, environment: Mapping[str, str]
) -> Settings:
    """The same coder, tests and limits on the engine's own GitHub at `url`, with everything it writes below `place`.

    Nobody else is there: it polls fast, asks nobody, and merges nothing.
    """
    clis = settings.state_dir / "cli"
    return settings.model_copy(
        update={
            **programs(settings, environment),
            "repositories": (_among_themselves(settings.repositories[0], order),),
            "state_dir": place / "state",
            "work_dir": place / "state" / "workspaces",
            "github": GitHubSettings(api_url=url, write_interval_seconds=0),
            "lock": LockSettings(settle=0.2, key_files=(place / "lock.key",)),
            "notify": NotifySettings(),
            "events": EventSettings(),
            "health": HealthSettings(port=None),
            "cooldown": 0.0,
            "quiet_hours": (),
            "max_concurrent": 1,
            "max_iterations": 0,
            "sandbox_readable": (*settings.sandbox_readable, *((clis,) if clis.is_dir() else ())),
        }
    )


def _among_themselves(repository: RepositorySettings, order: TaskRequest) -> RepositorySettings:
    """Return the project's own settings, without those about people, CI and merging."""
    return repository.model_copy(
        update={
            "name": order.name,
            "base_branch": None,
            "poll_interval": POLL_SECONDS,
            "labels": LabelSettings(),
            "pr_labels": (),
            "reviewers": (),
            "assign": None,
            "merge": "never",
            "refactor": "auto" if repository.refactor == "approve" else repository.refactor,
            "ci": CISettings(none_is_green=True, timeout=2),
            "titles": TitleSettings(),
            "review": repository.review.model_copy(update={"max_rounds": order.max_reviews}),
            "feedback": FeedbackSettings(),
            "start": StartSettings(),
            "ceilings": CeilingSettings(),
            "own_rules": repository.own_rules and order.test_command is None and order.setup_command is None,
        }
    )


def for_origin(settings: Settings, name: str, api_url: str) -> Settings:
    """The person's own configuration, for the repository that origin names."""
    repository = settings.repositories[0].model_copy(update={"name": name})
    github = settings.github.model_copy(update={"api_url": api_url})
    return settings.model_copy(update={"repositories": (repository,), "github": github})


def keys(settings: Settings, environment: Mapping[str, str]) -> None:
    """Return when every backend that has a vendor has its key; raises `MissingCredentials`."""
    known = cli_backends()
    for name in sorted(settings.backends() & known.keys()):
        known[name].endpoint(environment)
