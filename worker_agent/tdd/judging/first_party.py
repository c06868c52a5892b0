"""Which module names belong to the repository (pure): a missing one is where test-first begins."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

SOURCE_DIRECTORIES = ("src", "lib", "python")
"""Directories that projects put on the import path instead of their root."""

PROJECT_FILES = frozenset({"pyproject.toml", "setup.py", "setup.cfg"})
"""A directory that holds one of these is a project of its own (several in one repository)."""


def first_party(paths: Collection[str]) -> frozenset[str]:
    """The importable top-level names of a repository with these paths.

    Packages and modules at the root, under `src` and its like, in nested projects, and beside
    tests in directories without `__init__.py`, which pytest puts on the import path itself.
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
