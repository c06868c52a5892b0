"""The facts about a repository that a runner needs to tell its own names from others'.

Also the module names that belong to the repository: test-first begins with a missing one.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from shared.filesystem.directories import open_regular

SIZE_LIMIT = 2 * 2**20
"""The most bytes of one file that are read; larger ones are generated or data."""

_NOT_SOURCE = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__", ".tox", ".nox"})
_DEPTH = 32
"""The most nested directories that are read; packages need far fewer."""


@dataclass(frozen=True, slots=True)
class Project:
    """A checkout: its directory, its files, and the names that belong to it.

    `paths` are relative to `root`, with those of `announced`: files that do not exist yet but that the specification or
    the change will add. `modules` are Python's importable top-level names.
    """

    root: Path
    paths: frozenset[str] = frozenset()
    modules: frozenset[str] = frozenset()

    @classmethod
    def of(cls, root: Path, paths: Collection[str], announced: Collection[str] = ()) -> Project:
        """Return the project of a checkout with these `paths`; `announced` paths will be its own."""
        every = frozenset(paths) | frozenset(announced)
        return cls(root, every, first_party(every))

    def below(self, name: str) -> str:
        """Return the repository's name of a file, given absolute or relative; a file outside keeps its name."""
        path = Path(name)
        if not path.is_absolute():
            return path.as_posix().removeprefix("./")
        for root in (self.root, self.root.resolve()):
            if path.is_relative_to(root):
                return path.relative_to(root).as_posix()
        return name

    def text(self, path: str) -> str:
        """Return the beginning of a file of the checkout; empty if it does not exist, or is no regular file.

        Tests have run there: no link is followed, no pipe waited for, sizes are capped.
        """
        try:
            with open_regular(self.root / path) as file:
                return file.read(SIZE_LIMIT).decode("utf-8", "replace")
        except (OSError, ValueError):
            return ""


def source_paths(checkout: Path, limit: int) -> list[str]:
    """Return the files of a checkout, at most about `limit`, without those that are no source."""
    found: list[str] = []
    for directory, below, files in os.walk(checkout):
        place = Path(directory).relative_to(checkout)
        below[:] = sorted(set(below) - _NOT_SOURCE) if len(place.parts) < _DEPTH else []
        found += [(place / file).as_posix() for file in files]
        if len(found) >= limit:
            break
    return found


def directory_name(directory: PurePosixPath) -> str:
    """Return a directory of a repository as text; empty for the root."""
    return "" if directory == PurePosixPath() else str(directory)


SOURCE_DIRECTORIES = ("src", "lib", "python")
"""Directories that projects put on the import path instead of their root."""

PROJECT_FILES = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
"""Files that mark a directory as a project of its own (several in one repository)."""


def first_party(paths: Collection[str]) -> frozenset[str]:
    """Return the importable top-level names of a repository with these paths.

    Packages and modules at the root, under `src` and its like, in nested projects, and next to tests in directories
    without `__init__.py`, which pytest puts on the import path itself.
    """
    files = [PurePosixPath(path) for path in paths]
    roots = _roots(files)
    return frozenset(_names([file for file in files if file.suffix == ".py"], roots)) - {"__init__", "conftest"}


def _roots(files: Collection[PurePosixPath]) -> frozenset[PurePosixPath]:
    projects = {PurePosixPath()} | {file.parent for file in files if file.name in PROJECT_FILES}
    packages = {file.parent for file in files if file.name == "__init__.py"}
    beside_tests = {file.parent for file in files if _is_test(file)} - packages
    return frozenset(projects | {project / name for project in projects for name in SOURCE_DIRECTORIES} | beside_tests)


def _names(modules: Collection[PurePosixPath], roots: Collection[PurePosixPath]) -> Iterator[str]:
    for module in modules:
        parts = module.parts
        for root in (module.parents[up] for up in range(len(parts))):
            if root in roots:
                name = parts[len(root.parts)]
                yield name.removesuffix(".py")


def _is_test(file: PurePosixPath) -> bool:
    return file.suffix == ".py" and (
        file.name == "conftest.py" or file.name.startswith("test_") or file.stem.endswith("_test")
    )
