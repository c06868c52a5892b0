"""Java's layout of a checkout: modules, source files by class, and its own packages and classes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath

from worker_agent.tdd.runners.project import Project, directory_name
from worker_agent.tdd.runners.test_run import Case

SUFFIXES = (".java", ".kt", ".groovy", ".scala")
_BUILD_FILES = frozenset({"pom.xml", "build.gradle", "build.gradle.kts"})
_ROOT = re.compile(r"^(?:.*/)?src/\w+/(?:java|kotlin|groovy|scala)/")
_TEST_ROOT = re.compile(r"(?:^|/)src/(?:test\w*|\w+Test|it)/")
_TEST_NAME = re.compile(r"(?:Test\w*|\w*(?:Test|Tests|TestCase|IT|ITCase|Spec))\.(?:java|kt|groovy|scala)")
_PARAMETERS = re.compile(r"([\w$]+)\s*(?:\([^()]*\)|\{[^{}]*\})(\[.*\])?")
"""`rows(int, String)[1]`, or with braces as Surefire 2 writes it: the types of parameters are no part of a name."""

_SHARED_SEGMENTS = 2
"""The number of a package's first segments that tell its owner, as in `com.example`."""


def is_test_file(path: str) -> bool:
    """Return whether a file is below `src/test` or its like, or its class is named like a test."""
    return bool(_TEST_ROOT.search(path) or _TEST_NAME.fullmatch(PurePosixPath(path).name))


def class_of(path: str) -> str:
    """Return the full name of the class that a source file is named for."""
    return re.sub(r"\.\w+$", "", _ROOT.sub("", path)).replace("/", ".")


class JavaSources:
    """The source files of a checkout."""

    def __init__(self, project: Project) -> None:
        self._project = project

    @cached_property
    def modules(self) -> frozenset[str]:
        """The directories with a build file; empty for the root."""
        files = (PurePosixPath(path) for path in self._project.paths)
        return frozenset(directory_name(file.parent) for file in files if file.name in _BUILD_FILES)

    def module_of(self, path: str) -> str:
        """Return the innermost module that a file belongs to."""
        parents = (directory_name(parent) for parent in PurePosixPath(path).parents)
        return next((parent for parent in parents if parent in self.modules), "")

    def test_files(self, module: str) -> tuple[str, ...]:
        """Return the sources of a module's tests."""
        return tuple(path for path in self._sources if is_test_file(path) and self.module_of(path) == module)

    def file_of(self, name: str, module: str = "") -> str:
        """Return the file of a class, in this module if it is there; derived from its name if it is nowhere."""
        outer = name.partition("$")[0]
        wanted = tuple(f"/{outer.replace('.', '/')}{suffix}" for suffix in SUFFIXES)
        found = [path for path in self._sources if f"/{path}".endswith(wanted)]
        found = found or list(self._declaring_files(outer))
        lead = f"{module}/" if module else ""
        best = sorted(found, key=lambda path: (not path.startswith(lead), not is_test_file(path), path))
        return best[0] if best else f"{lead}{outer.replace('.', '/')}.java"

    def has_class(self, name: str) -> bool:
        """Return whether a class, by its full or simple name, has a file of its own here or is declared in one."""
        plain = re.sub(r"[<\[].*", "", name).strip()
        if not plain or plain.startswith(("java.", "javax.", "kotlin.")):
            return False
        wanted = tuple(f"/{plain.replace('.', '/')}{suffix}" for suffix in SUFFIXES)
        return any(f"/{path}".endswith(wanted) for path in self._sources) or any(self._declaring_files(plain))

    def has_package(self, name: str) -> bool:
        """Return whether a package is one of this checkout, or would be next to one."""
        parts = name.split(".")
        for own in self._packages:
            segments = own.split(".")
            if parts[: len(segments)] == segments or (
                len(segments) >= _SHARED_SEGMENTS and parts[:_SHARED_SEGMENTS] == segments[:_SHARED_SEGMENTS]
            ):
                return True
        return False

    def locate(self, case: Case, module: str) -> Case:
        """Return a case with its file, its classes by simple names, and its name without types of parameters."""
        parts = _PARAMETERS.fullmatch(case.name)
        name = f"{parts[1]}{parts[2] or ''}" if parts else case.name
        scope = case.classname.rpartition(".")[2].replace("$", "::")
        return replace(case, name=name or "class", classname=scope, file=self.file_of(case.classname, module))

    @cached_property
    def _sources(self) -> tuple[str, ...]:
        return tuple(sorted(path for path in self._project.paths if path.endswith(SUFFIXES)))

    @cached_property
    def _packages(self) -> frozenset[str]:
        classes = (class_of(path) for path in self._sources)
        return frozenset(name.rpartition(".")[0] for name in classes if "." in name)

    def _declaring_files(self, name: str) -> Iterator[str]:
        """Yield files of the package of `name` that declare a class of its simple name."""
        package, _, simple = name.rpartition(".")
        declared = re.compile(rf"\b(?:class|interface|enum|record|object) {re.escape(simple)}\b")
        for path in self._sources:
            within = class_of(path).rpartition(".")[0]
            if (not package or within == package or path.endswith(f"/{simple}.kt")) and declared.search(
                self._project.text(path)
            ):
                yield path
