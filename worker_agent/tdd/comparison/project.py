"""The test files of one side of a change: their tests, and the names that they take from one another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath
from posixpath import normpath

from worker_agent.tdd.syntax.source import Language, Source, language_of, parse
from worker_agent.tdd.syntax.units import TestUnit, bodies_in, found_in, units_of
from worker_agent.tdd.syntax.units_found import FoundTest
from worker_agent.tdd.syntax.units_meaning import hashed
from worker_agent.tdd.syntax.units_reach import Definitions, definitions, reached

_DEPTH = 4
"""The most files that imports are followed through, one after the other."""

_IMPORT = re.compile(
    rb"^\s*from\s+(?P<py>[.\w]+)\s+import|^\s*import\s+(?P<name>[.\w]+)"
    rb"|(?:from|import|require\()\s*\(?['\"](?P<js>\.[^'\"]*)['\"]|^\s*(?:pub\s+)?mod\s+(?P<mod>\w+)\s*;"
    rb"|require_relative\s+['\"](?P<rb>[^'\"]+)['\"]",
    re.MULTILINE,
)
_SCRIPTS = ("", ".ts", ".js", ".tsx", ".jsx", ".mjs", ".cjs", ".mts", "/index.ts", "/index.js")
_CLASSES = frozenset({Language.JAVA, Language.CSHARP, Language.PHP})
_EVERYWHERE = frozenset({"spec_helper.rb", "rails_helper.rb", "test_helper.rb"})


class File:
    """One parsed file with its names; `source` is None if the language is unknown or the text does not parse."""

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content

    @cached_property
    def source(self) -> Source | None:
        """The syntax tree."""
        return parse(self.path, self.content)

    @cached_property
    def tests(self) -> tuple[FoundTest, ...]:
        """The file's tests as nodes."""
        return () if self.source is None else found_in(self.source)

    @cached_property
    def definitions(self) -> Definitions:
        """All named definitions."""
        return {} if self.source is None else definitions(self.source, [found.node for found in self.tests])

    @property
    def has_tests(self) -> bool:
        """True if the file contains a test."""
        return bool(self.tests)

    @cached_property
    def bodies(self) -> Mapping[str, tuple[int, ...]]:
        """The meaning of each body in the file, with the places where it starts."""
        return {} if self.source is None else bodies_in(self.source)

    @cached_property
    def imports(self) -> tuple[str, ...]:
        """The modules and paths that the file imports, as written."""
        found = (match.lastgroup and match[match.lastgroup] for match in _IMPORT.finditer(self.content))
        return tuple(sorted({name.decode("utf-8", "replace") for name in found if name}))


class Project:
    """All test files of one side."""

    def __init__(self, files: Mapping[str, File]) -> None:
        self.files = files
        self._meanings: dict[str, Mapping[str, str]] = {}
        self._elsewhere: dict[str, Mapping[str, str]] = {}
        self._units: dict[str, tuple[TestUnit, ...]] = {}

    def units(self, path: str) -> tuple[TestUnit, ...]:
        """Return the tests of a file, with the names that they reach in other files."""
        if path not in self._units:
            file = self.files[path]
            around = self.elsewhere(path) if file.has_tests else {}
            self._units[path] = (
                () if file.source is None else units_of(file.source, file.tests, file.definitions, around)
            )
        return self._units[path]

    def elsewhere(self, path: str, depth: int = _DEPTH) -> Mapping[str, str]:
        """Return the meaning of names that other files define for this one."""
        if path not in self._elsewhere:
            self._elsewhere[path] = {}  # a cycle of imports ends here
            found: dict[str, str] = {}
            for other in self.sources_of(path) if depth else ():
                found.update(self._meaning(other, depth - 1))
            self._elsewhere[path] = found
        return self._elsewhere[path]

    def sources_of(self, path: str) -> Iterator[str]:
        """Yield the files from which a file takes names: its imports, and files that its runner loads for it."""
        yielded = {path}
        for other in (
            *self._implicit_sources(path),
            *(target for name in self.files[path].imports for target in self._import_targets(path, name)),
        ):
            if other in self.files and other not in yielded:
                yielded.add(other)
                yield other

    def _meaning(self, path: str, depth: int) -> Mapping[str, str]:
        """Map each name of a file to its meaning, with all that it reaches; the file's name means the whole file."""
        if path not in self._meanings:
            file, around = self.files[path], self.elsewhere(path, depth)
            names = file.definitions
            found = {
                name: hashed(f"{key} {meaning}" for key, meaning in sorted(reached([name], names, around).items()))
                for name in names
            }
            whole = hashed(f"{name} {meaning}" for name, meaning in sorted(found.items()))
            self._meanings[path] = {**dict.fromkeys(_stems(path), whole), **found}
        return self._meanings[path]

    def _implicit_sources(self, path: str) -> Iterator[str]:
        """Yield files whose names are available without an import."""
        language = language_of(path)
        directory = PurePosixPath(path).parent
        if language is Language.PYTHON:
            for parent in [*reversed(directory.parents), directory]:
                yield str(parent / "conftest.py")
        elif language is Language.GO:
            yield from (other for other in self.files if PurePosixPath(other).parent == directory)
        elif language in _CLASSES:
            content = self.files[path].content
            for other in self.files:
                if language_of(other) is language and PurePosixPath(other).stem.encode() in content:
                    yield other
        elif language is Language.RUBY:
            yield from (p for p in self.files if PurePosixPath(p).name in _EVERYWHERE or "/support/" in p)

    def _import_targets(self, path: str, name: str) -> Iterator[str]:
        """Yield the files that an import may mean."""
        directory = PurePosixPath(path).parent
        if language_of(path) is Language.PYTHON:
            yield from self._modules(directory, name)
        elif language_of(path) is Language.RUST:
            yield from (str(directory / f"{name}.rs"), str(directory / name / "mod.rs"))
        elif language_of(path) is Language.RUBY:
            yield normpath(str(directory / name)).removesuffix(".rb") + ".rb"
        else:
            whole = normpath(str(directory / name))
            yield from (whole + ending for ending in _SCRIPTS)
            yield re.sub(r"\.[cm]?js$", ".ts", whole)

    def _modules(self, directory: PurePosixPath, name: str) -> Iterator[str]:
        dots = len(name) - len(name.lstrip("."))
        parts = [part for part in name.split(".") if part]
        if dots:
            start = directory
            for _ in range(dots - 1):
                start = start.parent
            yield from _module_files(start.joinpath(*parts))
            yield from (path for path in self.files if PurePosixPath(path).parent == start and not parts)
            return
        for start in [directory, *directory.parents]:
            yield from _module_files(start.joinpath(*parts))


def _module_files(module: PurePosixPath) -> Iterator[str]:
    yield from (f"{module}.py", f"{module}/__init__.py")


def _stems(path: str) -> tuple[str, ...]:
    file = PurePosixPath(path)
    return (file.parent.name,) if file.stem in {"__init__", "index", "mod"} else (file.stem,)
