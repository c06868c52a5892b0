"""What set-up has made for the tests of one lock file: where it lies, and how a checkout finds it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

PACKAGES = "packages"
"""The directory of a set-up where package managers keep what they fetch outside of the project."""

LINKED = ("node_modules", "vendor", ".venv", "venv")
"""What installers put into a project, and tools look for there."""


def package_stores(root: Path) -> dict[str, str]:
    """The variables by which package managers find what they keep outside of a project."""
    return {
        "GOMODCACHE": str(root / "go"),
        "CARGO_HOME": str(root / "cargo"),
        "MAVEN_OPTS": f"-Dmaven.repo.local={root / 'maven'}",
        "GRADLE_RO_DEP_CACHE": str(root / "gradle"),
        "BUNDLE_PATH": str(root / "bundle"),
        "COMPOSER_HOME": str(root / "composer"),
    }


@dataclass(frozen=True, slots=True)
class Installed:
    """`root` is `env/<lock-hash>`: `venv` is its virtual environment, `project` the copy it was set up in.

    `directory` is where in it the set-up ran, `variables` are what one test runner wants to find in the environment.
    """

    root: Path | None = None
    directory: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)

    def with_variables(self, variables: Mapping[str, str]) -> Installed:
        """The same, for a command that also needs these variables."""
        return replace(self, variables={**self.variables, **variables})

    @property
    def readable(self) -> tuple[Path, ...]:
        """What a sandbox has to show, read-only."""
        return () if self.root is None else (self.root,)

    def environment(self, known: Mapping[str, str], where: Path | None = None) -> dict[str, str]:
        """`known` with what was installed first on the search path; modules of `where` go before installed ones.

        An editable install points to `project`, which is older than the checkout `where` that is tested.
        """
        if self.root is None:
            return {**known, **self.variables}
        venv, tools = self.root / "venv", self.root / "project" / self.directory / "node_modules" / ".bin"
        own = [str(place) for place in (venv / "bin", tools) if place.is_dir()]
        found = {**known, "PATH": os.pathsep.join([*own, known.get("PATH", os.defpath)])}
        if venv.is_dir():
            found["VIRTUAL_ENV"] = str(venv)
            found |= {"UV_PROJECT_ENVIRONMENT": str(venv), "UV_NO_SYNC": "1", "UV_OFFLINE": "1"}
            if where is not None:
                found["PYTHONPATH"] = os.pathsep.join(str(path) for path in (where / "src", where) if path.is_dir())
        if (self.root / PACKAGES).is_dir() and any((self.root / PACKAGES).iterdir()):
            found |= package_stores(self.root / PACKAGES)
        return {**found, **self.variables}

    def offer(self, where: Path) -> None:
        """Link what was installed into a checkout, where the repository itself has nothing of that name."""
        if self.root is None:
            return
        for name in LINKED:
            target = self.root / "project" / self.directory / name
            if name == ".venv" and not target.is_dir():
                target = self.root / "venv"
            if target.is_dir():
                with suppress(FileExistsError):
                    (where / name).symlink_to(target)

    def withdraw(self, where: Path) -> None:
        """Take our links out of a checkout again, so that nobody takes them for a change; all others stay.

        A command has been there: what it has made of a link is its own, and a directory that it has closed
        keeps them.
        """
        if self.root is None:
            return
        for path in (where / name for name in LINKED):
            with suppress(OSError):
                if path.readlink().is_relative_to(self.root):
                    path.unlink()


NOTHING = Installed()
"""Of a repository without `setup_command`."""
