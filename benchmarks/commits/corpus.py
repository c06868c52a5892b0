"""The list of commits: the projects, how their tests are run, and the expected answer of the proof for each (pure)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Literal, Self

import yaml
from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from shared.errors import Misconfigured

Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$")]
Expected = Literal["accept", "refuse"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Listed(_Strict):
    """One commit, judged against its parent; `reason` is why the proof should give the expected answer.

    The files `restore` are as the parent has them: a commit whose code, or whose tests, were left out.
    """

    commit: Sha
    expected: Expected = "accept"
    reason: str
    restore: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name of the commit among those of its project."""
        return " ".join((self.commit, *(f"-{path}" for path in self.restore)))


class Project(_Strict):
    """A public repository; without `test_command` the engine finds one. Packages are by name, with a version.

    `php_classes` are the directories whose classes are loaded by their names, as composer would say.
    """

    name: Name
    language: str
    test_command: str | None = None
    python_packages: tuple[str, ...] = ()
    node_packages: tuple[str, ...] = ()
    php_classes: tuple[str, ...] = ()
    commits: tuple[Listed, ...]

    @property
    def directory(self) -> str:
        """The name of its clone and of its packages' directory."""
        return self.name.replace("/", "+")


class Corpus(_Strict):
    """All projects; no project and no commit of one stands there twice."""

    projects: tuple[Project, ...]

    @model_validator(mode="after")
    def _is_distinct(self) -> Self:
        _no_repeated([project.name for project in self.projects])
        for project in self.projects:
            _no_repeated([listed.key for listed in project.commits])
        return self

    def chosen(
        self, names: Collection[str] = (), languages: Collection[str] = (), commits: Sequence[str] = ()
    ) -> Iterator[tuple[Project, Listed]]:
        """Yield the commits of these projects (`owner/name` or `name`), languages and abbreviated hashes; () is any."""
        for project in self.projects:
            if names and not {project.name, project.name.partition("/")[2]} & set(names):
                continue
            if languages and project.language not in languages:
                continue
            for listed in project.commits:
                if not commits or listed.commit.startswith(tuple(commits)):
                    yield project, listed


def read(text: str) -> Corpus:
    """Return the corpus of a YAML text; raises `Misconfigured` with what is wrong in it."""
    try:
        return Corpus.model_validate(_tuples(yaml.safe_load(text)))
    except (yaml.YAMLError, ValueError) as error:
        raise Misconfigured(f"The list of commits cannot be read: {error}") from error


def _tuples(value: object) -> object:
    """Return YAML's lists as tuples, as strict models take them."""
    if isinstance(value, Mapping):
        return {key: _tuples(inner) for key, inner in value.items()}
    return tuple(_tuples(inner) for inner in value) if isinstance(value, list) else value


def _no_repeated(keys: Sequence[str]) -> None:
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
        raise ValueError(f"listed twice: {', '.join(twice)}")
