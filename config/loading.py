"""Reading of the configuration file; all errors are reported at once, each with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from config.document import Document, Unreadable, misconfigured, parse
from config.engine import DEFAULT_STATE_DIR
from config.environment import config_place
from config.repository import repository_name
from config.settings import Settings
from config.validation import validate
from shared.errors import Misconfigured

VARIABLE = "WORKFLOW_ENGINE_CONFIG"
"""Environment variable that names the configuration file."""


def load(
    path: Path | None, *, repository: str | None, environment: Mapping[str, str], directory: Path = Path()
) -> Settings:
    """The configuration of one process.

    `path` is `--config`, `repository` the positional `owner/repo`: it selects from the file or,
    without any file, is the configuration. Relative places count from `directory`. Raises
    `Misconfigured`; its message has one line per error: `file:line:column: key: sentence`.
    """
    if repository is not None:
        checked(repository)
    found = source(path, environment=environment, directory=directory)
    if found is not None:
        if path is None and environment.get(VARIABLE) and not found.exists():
            raise Misconfigured(f"{found}: there is no such configuration file; the variable {VARIABLE} names it")
        return _select_repository(read(found, environment=environment), repository, found)
    if repository is None:
        raise Misconfigured(
            "There is no configuration: name a repository (owner/repo), or let `workflow-engine init owner/repo` "
            "write a file and edit it, or give --config FILE."
        )
    document = Document(value={"repositories": [{"name": repository}]})
    return _validate(document, Path("arguments"), environment)


def load_several(
    path: Path | None, repositories: Sequence[str], *, environment: Mapping[str, str], directory: Path = Path()
) -> Settings:
    """Load several repositories in the order of the arguments; none means all configured ones. Raises as `load`."""
    if not repositories:
        return load(path, repository=None, environment=environment, directory=directory)
    each = [load(path, repository=one, environment=environment, directory=directory) for one in repositories]
    found = {one.name: one for settings in each for one in settings.repositories}  # named twice is meant once
    return each[0].model_copy(update={"repositories": tuple(found.values())})


def source(path: Path | None, *, environment: Mapping[str, str], directory: Path = Path()) -> Path | None:
    """The file that `load` reads: `path`, else `$WORKFLOW_ENGINE_CONFIG`, else the first that exists."""
    named = path or environment.get(VARIABLE)
    if named:
        return directory / named
    places = (directory / "config/repos.yml", directory / "repos.yml", config_place(environment) / "repos.yml")
    return next((place for place in places if place.is_file()), None)


def read(path: Path, *, environment: Mapping[str, str]) -> Settings:
    """Return the configuration of one file; raises `Misconfigured` with all errors."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise Misconfigured(f"{path}: there is no such configuration file") from None
    except OSError as error:
        raise Misconfigured(f"{path}: the configuration cannot be read: {error.strerror}") from None
    return understood(content, path, environment=environment)


def understood(content: bytes, path: Path, *, environment: Mapping[str, str]) -> Settings:
    """Return the settings that `path` has with this content, written or not; raises `Misconfigured`, naming `path`."""
    try:
        document = parse(content)
    except Unreadable as error:
        raise misconfigured(path, [error.problem]) from None
    if document.value is None:
        raise Misconfigured(f"{path}:1:1: the file is empty; it needs at least 'repositories: [{{name: owner/repo}}]'")
    return _validate(document, path, environment)


def _validate(document: Document, path: Path, environment: Mapping[str, str]) -> Settings:
    if isinstance(document.value, dict):
        state_dir = environment.get("STATE_DIRECTORY", "").partition(":")[0]  # set by systemd's StateDirectory
        document.value.setdefault("state_dir", state_dir or str(DEFAULT_STATE_DIR))
    places = {"home": environment.get("HOME", ""), "credentials": environment.get("CREDENTIALS_DIRECTORY", "")}
    settings, problems = validate(document, places=places)
    if problems or settings is None:
        raise misconfigured(path, problems)
    return _place_scenario(path, settings)


def _place_scenario(path: Path, settings: Settings) -> Settings:
    """A scenario's place counts from the file that names it, wherever it is read."""
    scenario = settings.llm.scenario
    if scenario is None or scenario.is_absolute():
        return settings
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"scenario": path.parent / scenario})})


def checked(repository: str) -> None:
    """Return when this is a name as `owner/repo`; raises `Misconfigured` otherwise."""
    try:
        repository_name(repository)
    except ValueError as error:
        raise Misconfigured(f"'{repository}' {error}.") from None


def _select_repository(settings: Settings, repository: str | None, path: Path) -> Settings:
    if repository is None:
        return settings
    found = tuple(r for r in settings.repositories if r.name.casefold() == repository.casefold())
    if not found:
        names = ", ".join(r.name for r in settings.repositories)
        raise Misconfigured(
            f"{path}: '{repository}' is not configured here; there is {names}. Add it under `repositories:`, "
            "or name another file with --config."
        )
    return settings.model_copy(update={"repositories": found})
