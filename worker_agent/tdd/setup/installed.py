"""The result of a set-up for one lock file: its place, and the ways in which a checkout finds it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

PACKAGES = "packages"
"""The directory of a set-up where package managers keep downloads outside of the project."""

LINKED = ("node_modules", "vendor", ".venv", "venv")
"""Directories that installers create in a project, where tools look for packages."""


def package_stores(root: Path) -> dict[str, str]:
    """Return the variables by which package managers find their directories outside of a project.

    Wrappers of Maven and Gradle keep the programs there that they start. Gradle writes where it reads: its tests run in
    a copy of the directory above its cache.
    """
    return {
        "GOMODCACHE": str(root / "go"),
        "CARGO_HOME": str(root / "cargo"),
        **_maven_store(root / "maven"),
        "MAVEN_USER_HOME": str(root / "maven-home"),
        "GRADLE_RO_DEP_CACHE": str(root / "gradle" / "caches"),
        "BUNDLE_PATH": str(root / "bundle"),
        "COMPOSER_HOME": str(root / "composer"),
    }


def filled_stores(root: Path) -> dict[str, str]:
    """Return the same for a set-up, which fills the directories."""
    stores = package_stores(root)
    cache = Path(stores.pop("GRADLE_RO_DEP_CACHE"))
    return {**stores, "GRADLE_USER_HOME": str(cache.parent)}


def _maven_store(store: Path) -> dict[str, str]:
    """Return the variable by which Maven finds its packages.

    `mvn` is a shell script that splits MAVEN_OPTS at blanks, quoted or not. Java itself reads quotes, but tells of its
    variable on each start: only for a path that has blanks.
    """
    option = f"-Dmaven.repo.local={store}"
    return {"MAVEN_OPTS": option} if option.split() == [option] else {"JAVA_TOOL_OPTIONS": shlex.quote(option)}


@dataclass(frozen=True, slots=True)
class Installed:
    """`root` is `env/<lock-hash>`: `venv` is its virtual environment, `project` the copy it was set up in.

    `directory` is the place in it where the set-up ran, `variables` are those that one test runner needs in the
    environment.
    """

    root: Path | None = None
    directory: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)

    def with_variables(self, variables: Mapping[str, str]) -> Installed:
        """Return the same for a command that also needs these variables."""
        return replace(self, variables={**self.variables, **variables})

    @property
    def readable(self) -> tuple[Path, ...]:
        """The paths that a sandbox has to show, read-only."""
        return () if self.root is None else (self.root,)

    def environment(self, known: Mapping[str, str], checkout: Path | None = None) -> dict[str, str]:
        """Return `known` with installed programs first on the search path, and modules of `checkout` before them.

        An editable install points to `project`, which is older than the `checkout` that is tested.
        """
        if self.root is None:
            return {**known, **self.variables}
        venv, tools = self.root / "venv", self.root / "project" / self.directory / "node_modules" / ".bin"
        own = [str(place) for place in (venv / "bin", tools) if place.is_dir()]
        found = {**known, "PATH": os.pathsep.join([*own, known.get("PATH", os.defpath)])}
        if venv.is_dir():
            found["VIRTUAL_ENV"] = str(venv)
            found |= {"UV_PROJECT_ENVIRONMENT": str(venv), "UV_NO_SYNC": "1", "UV_OFFLINE": "1"}
            if checkout is not None:
                sources = (path for path in (checkout / "src", checkout) if path.is_dir())
                found["PYTHONPATH"] = os.pathsep.join(map(str, sources))
        if (self.root / PACKAGES).is_dir() and any((self.root / PACKAGES).iterdir()):
            found |= package_stores(self.root / PACKAGES)
        return {**found, **self.variables}

    def offer(self, checkout: Path) -> None:
        """Link the installed directories into a checkout, unless the repository itself has something of that name."""
        if self.root is None:
            return
        for name in LINKED:
            target = self.root / "project" / self.directory / name
            if name == ".venv" and not target.is_dir():
                target = self.root / "venv"
            if target.is_dir():
                with suppress(FileExistsError):
                    (checkout / name).symlink_to(target)

    def withdraw(self, checkout: Path) -> None:
        """Remove our links from a checkout again, so that they do not count as a change; all others stay.

        A command has run there: if it replaced a link, the result is its own, and a directory that it has closed keeps
        its links.
        """
        if self.root is None:
            return
        for path in (checkout / name for name in LINKED):
            with suppress(OSError):
                if path.readlink().is_relative_to(self.root):
                    path.unlink()


NOTHING = Installed()
"""The set-up of a repository without `setup_command`."""
