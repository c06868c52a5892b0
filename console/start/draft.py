"""The configuration that `start` writes: only what differs from the defaults, or one more repository in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import BaseModel

from config.engine import GitHubSettings, LLMSettings, LockSettings
from config.environment import config_place
from config.loading import load, read, source
from config.repository import RepositorySettings
from config.settings import Settings
from config.spending_limits import BudgetSettings
from console.doctor.finding import Machine
from console.init.command import as_written, default_key
from console.init.files import NewFile, as_yaml
from console.manual import link
from shared.clock import Clock
from shared.errors import Misconfigured
from shared.loop.real_clock import RealClock

BUDGETS: Mapping[str, int] = {"run": 5, "issue": 10, "day": 20, "week": 50}
"""US dollars, lower than the defaults: a first try should not cost more than a person meant to spend."""


def _head() -> str:
    return (
        "# Written by `workflow-engine start`: only what differs from the defaults.\n"
        f"# All other keys: {link('docs/configuration.md')}\n"
        f"# All with their defaults: {link('config/repos.yml.example')}\n"
    )


_LIST = re.compile(r"^\ufeff?repositories:[ \t]*(?:#.*)?(?P<end>\r?\n)(?P<indent>[ \t]*)(?=- )", re.MULTILINE)
"""The list of repositories where it is written one item below the other."""


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices for a repository; None and empty texts stand for the defaults, and are not written."""

    repository: str
    llm_backend: str = "claude"
    test_command: str | None = None
    test_report: str | None = None
    setup_command: str | None = None
    working_directory: str = ""
    api_url: str | None = None
    token_file: Path | None = None
    reviewer_token_file: Path | None = None
    sandbox: str | None = None
    scenario: Path | None = None

    def of_repository(self) -> dict[str, object]:
        """The keys of the repository that differ from the defaults."""
        usual = RepositorySettings(name=self.repository)
        names = ("llm_backend", "test_command", "test_report", "setup_command", "working_directory")
        found = {name: getattr(self, name) for name in names}
        return {name: value for name, value in found.items() if value and value != getattr(usual, name)}


@dataclass(frozen=True, slots=True)
class Draft:
    """A configuration file as it stands (`before`, None: there is none), and what is chosen beyond it.

    `known`: the file has the repository already, and what stands there counts.
    """

    path: Path
    key: Path
    choices: Choices
    before: str | None = None
    known: bool = False
    clock: Clock = field(default_factory=RealClock)

    @classmethod
    def of(
        cls, choices: Choices, config: Path | None, environment: Mapping[str, str], clock: Clock | None = None
    ) -> Draft:
        """Return the draft for the existing file, or for a new one in the user's directory. Raises `Misconfigured`."""
        found = source(config, environment=environment)
        path = (found or config_place(environment) / "repos.yml").absolute()
        draft = cls(path, default_key(environment), choices, clock=clock or RealClock())
        if not path.exists():
            return draft
        whole = read(path, environment=environment)
        known = any(one.name.casefold() == choices.repository.casefold() for one in whole.repositories)
        return replace(draft, before=path.read_bytes().decode(), known=known)

    def choosing(self, **more: object) -> Draft:
        """Return the draft with more choices."""
        return replace(self, choices=replace(self.choices, **more))  # type: ignore[arg-type]

    def settings(self, environment: Mapping[str, str]) -> Settings:
        """Return the settings that the file gives for this repository alone; raises `Misconfigured`."""
        name = self.choices.repository
        if self.known:
            return load(self.path, repository=name, environment=environment)
        whole = as_written(self.file(), environment)
        mine = tuple(one for one in whole.repositories if one.name.casefold() == name.casefold())
        return whole.model_copy(update={"repositories": mine})

    def machine(self, environment: Mapping[str, str], *, quick: bool = False) -> Machine:
        """This machine as the file configures it; raises `Misconfigured`."""
        return Machine(self.settings(environment), environment, self.clock, quick, self.path)

    def file(self, *, comments: bool = False) -> NewFile:
        """The file as it is to be, with every key explained where `comments` are wanted; raises `Misconfigured`."""
        text = self._extended_file() if self.before is not None else _head() + "".join(self._lines(comments=comments))
        return NewFile(self.path, lambda: text)

    def _extended_file(self) -> str:
        """The file with one more repository, every other byte as it was."""
        before = self.before or ""
        found = _LIST.search(before)
        if found is None:
            lines = "".join(_item(self.choices, "  ", comments=False))
            raise Misconfigured(f"{self.path} lists its repositories in a way of its own. Add to the list:\n{lines}")
        lines = "".join(_item(self.choices, found["indent"], comments=False)).replace("\n", found["end"])
        return before[: found.start("indent")] + lines + before[found.start("indent") :]

    def _lines(self, *, comments: bool) -> Iterator[str]:
        chosen = self.choices
        yield "repositories:\n"
        yield from _item(chosen, "  ", comments=comments)
        github = {"api_url": chosen.api_url, "token_file": chosen.token_file}
        github["reviewer_token_file"] = chosen.reviewer_token_file
        yield from _section("github", {name: one for name, one in github.items() if one}, GitHubSettings, comments)
        yield from _section("lock", {"key_files": [self.key]}, LockSettings, comments)
        yield from _section("budgets", BUDGETS, BudgetSettings, comments)
        if chosen.sandbox:
            yield from _key("sandbox", chosen.sandbox, Settings, "", comments=comments)
        if chosen.scenario:
            yield from _section("llm", {"scenario": chosen.scenario}, LLMSettings, comments)


def _item(chosen: Choices, indent: str, *, comments: bool) -> Iterator[str]:
    yield f"{indent}- name: {chosen.repository}\n"
    for key, value in chosen.of_repository().items():
        yield from _key(key, value, RepositorySettings, f"{indent}  ", comments=comments)


def _section(name: str, values: Mapping[str, object], model: type[BaseModel], comments: bool) -> Iterator[str]:
    if values:
        yield f"{name}:\n"
    for key, value in values.items():
        yield from _key(key, value, model, "  ", comments=comments)


def _key(key: str, value: object, model: type[BaseModel], indent: str, *, comments: bool) -> Iterator[str]:
    if comments:
        yield f"{indent}# {' '.join((model.model_fields[key].description or '').split())}\n"
    yield f"{indent}{key}: {as_yaml(value)}\n"
