"""Packages of a Go checkout: their directories, their test files, and the functions that these declare."""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cached_property
from pathlib import PurePosixPath

from worker_agent.tdd.runners.project import Project, directory_name

_MODULE = re.compile(r'^\s*module\s+"?([^\s"]+)"?', re.MULTILINE)
_FUNCTION = re.compile(r"^func ((?:Test|Example|Fuzz)\w*)\s*\(", re.MULTILINE)
_IMPORT = re.compile(r'^\s*(?:import\s+)?(?:([\w.]+)\s+)?"([^"\s]+)"\s*(?:$|;|//|\))', re.MULTILINE)
_IMPORT_BLOCK = re.compile(r"^import\s*(?:\(.*?\)|[^\n]*)", re.MULTILINE | re.DOTALL)
_VERSION = re.compile(r"v\d+")
_FOREIGN_SYSTEM = re.compile(
    r"_(?:windows|darwin|freebsd|openbsd|netbsd|plan9|js|wasm|solaris|aix|android|ios|dragonfly|illumos)(?:_|\.|$)"
)


class Packages:
    """The packages below a checkout's root, by the module paths of its `go.mod` files."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._declared: dict[str, dict[str, str]] = {}

    @cached_property
    def modules(self) -> dict[str, str]:
        """The directory of each module path, the longest path first."""
        found: dict[str, str] = {}
        for path in sorted(self._project.paths):
            name = PurePosixPath(path)
            if name.name == "go.mod" and "vendor" not in name.parts and "testdata" not in name.parts:
                module = _MODULE.search(self._project.text(path))
                if module:
                    found.setdefault(module[1], directory_name(name.parent))
        return dict(sorted(found.items(), key=lambda entry: -len(entry[0])))

    def is_own(self, package: str) -> bool:
        """Return whether an import path belongs to one of the modules."""
        return any(package == module or package.startswith(f"{module}/") for module in self.modules)

    def every(self) -> set[str]:
        """Return the import paths of all directories with Go files, by the outermost module."""
        places = {directory_name(PurePosixPath(path).parent) for path in self._project.paths if path.endswith(".go")}
        return {_join(module, place) for place in places for module in list(self.modules)[-1:]}

    def directory(self, package: str) -> str:
        """Return the directory of a package; empty for the root, and for unknown packages."""
        package = package.removesuffix(".test").removesuffix("_test") if not self.is_own(package) else package
        for module, place in self.modules.items():
            if package == module or package.startswith(f"{module}/"):
                return _join(place, package.removeprefix(module).strip("/"))
        return ""

    def test_files(self, package: str) -> tuple[str, ...]:
        """Return the test files of a package; those for another operating system last."""
        return self._files.get(self.directory(package), ())

    def functions(self, file: str) -> tuple[str, ...]:
        """Return the test functions, examples and fuzz targets that a file declares."""
        return tuple(_FUNCTION.findall(self._project.text(file)))

    def declared(self, package: str) -> dict[str, str]:
        """Map each test function of one package to its file."""
        if package not in self._declared:
            found: dict[str, str] = {}
            for file in self.test_files(package):
                for function in self.functions(file):
                    found.setdefault(function, file)
            self._declared[package] = found
        return self._declared[package]

    @cached_property
    def _files(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self._project.paths):
            if path.endswith("_test.go"):
                found[directory_name(PurePosixPath(path).parent)].append(path)
        return {place: tuple(sorted(files, key=_is_foreign)) for place, files in found.items()}


def imports(source: str) -> dict[str, str]:
    """Map the name under which a file uses a package to its import path, as far as the path tells the name."""
    found: dict[str, str] = {}
    for block in _IMPORT_BLOCK.findall(source):
        for alias, path in _IMPORT.findall(block.replace("(", "\n").replace(";", "\n")):
            found[alias or package_name(path)] = path
    return found


def package_name(path: str) -> str:
    """Return the usual name of a package with this import path: `v2` at the end, `go-` and `.v3` are no part of it."""
    parts = path.split("/")
    name = parts[-2] if len(parts) > 1 and _VERSION.fullmatch(parts[-1]) else parts[-1]
    return name.partition(".")[0].removeprefix("go-").replace("-", "_")


def _is_foreign(path: str) -> bool:
    return bool(_FOREIGN_SYSTEM.search(PurePosixPath(path).name))


def _join(directory: str, below: str) -> str:
    return "/".join(part for part in (directory, below) if part)
