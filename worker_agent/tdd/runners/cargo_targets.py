"""Cargo's layout of a checkout: packages, the target that a test file belongs to, and the files of a target."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath
from typing import Any

from worker_agent.tdd.runners.project import Project, directory_name

_MANIFEST = "Cargo.toml"
_HAS_TESTS = re.compile(r"#\[(?:[\w:]*test\b|cfg\((?:all\()?test\b|rstest|test_case|case\b|should_panic)|proptest!|```")

SOURCES_LIMIT = 3000
"""The most source files that are searched for the declaration of a type."""


class Manifests:
    """The packages below a checkout's root."""

    def __init__(self, project: Project) -> None:
        self._project = project

    @property
    def paths(self) -> frozenset[str]:
        """All files of the checkout, those that are announced included."""
        return self._project.paths

    @cached_property
    def packages(self) -> Mapping[str, Mapping[str, Any]]:
        """The manifest of every package by its directory; invalid TOML is left out."""
        found = {}
        for path in sorted(self._project.paths):
            name = PurePosixPath(path)
            if name.name == _MANIFEST and "target" not in name.parts:
                manifest = _load_manifest(self._project.text(path))
                if isinstance(manifest.get("package"), dict):
                    found[directory_name(name.parent)] = manifest
        return found

    @cached_property
    def is_virtual(self) -> bool:
        """True for a workspace whose root is no package: every member is tested."""
        return "" not in self.packages

    @property
    def crates(self) -> frozenset[str]:
        """The names of all own crates, as code writes them."""
        named = {_name(manifest) for manifest in self.packages.values()}
        named |= {str(_table(manifest, "lib").get("name", "")) for manifest in self.packages.values()}
        return frozenset(name.replace("-", "_") for name in named if name)

    def has(self, name: str) -> bool:
        """Return whether a name is a crate of the repository, or a module or crate that is announced for it."""
        spelled = {name, name.replace("_", "-")}
        ends = tuple(f"/{part}{end}" for part in spelled for end in (".rs", "/mod.rs", "/Cargo.toml", "/src/lib.rs"))
        return name in self.crates or (bool(name) and any(f"/{path}".endswith(ends) for path in self.paths))

    def declares(self, name: str) -> bool:
        """Return whether code of the repository declares a type or trait of this name."""
        declared = re.compile(rf"\b(?:struct|enum|union|trait|type) {re.escape(name)}\b")
        sources = [path for path in sorted(self._project.paths) if path.endswith(".rs")][:SOURCES_LIMIT]
        return any(declared.search(self._project.text(path)) for path in sources)

    @property
    def without_harness(self) -> frozenset[str]:
        """The targets with a `main` of their own: none of their output is trusted."""
        found = set()
        for manifest in self.packages.values():
            for kind in ("test", "bin", "example", "bench"):
                targets = manifest.get(kind) or ()
                found |= {str(t.get("name")) for t in targets if isinstance(t, dict) and t.get("harness") is False}
            if _table(manifest, "lib").get("harness") is False:
                found.add(_name(manifest))
        return frozenset(name for name in found if re.fullmatch(r"[\w-]+", name))

    def package_of(self, path: str) -> str | None:
        """Return the directory of the package that a file belongs to."""
        for parent in PurePosixPath(path).parents:
            if (directory := directory_name(parent)) in self.packages:
                return directory
        return None

    def targets(self, path: str) -> Sequence[tuple[str, ...]] | None:
        """Return cargo's options that build and run the target of a file; None if it is unknown."""
        package = self.package_of(path)
        if package is None:
            return None
        manifest = self.packages[package]
        within = path.removeprefix(f"{package}/") if package else path
        lead = ("-p", _name(manifest))
        return [(*lead, *options) for options in self._options(manifest, package, within)]

    def _options(self, manifest: Mapping[str, Any], package: str, within: str) -> Iterator[tuple[str, ...]]:
        declared = [t for t in manifest.get("test") or () if isinstance(t, dict) and t.get("path") == within]
        parts = PurePosixPath(within).parts
        if declared:
            yield from (("--test", str(target.get("name"))) for target in declared)
        elif parts[0] == "tests" and len(parts) == 2:
            yield ("--test", PurePosixPath(within).stem)
        elif parts[0] == "tests" and self._is_root(package, parts[1]):
            yield ("--test", parts[1])
        elif parts[:2] == ("src", "bin") and len(parts) > 2:
            yield ("--bin", PurePosixPath(parts[2]).stem)
        elif parts[0] == "examples" and len(parts) > 1:
            yield ("--example", PurePosixPath(parts[1]).stem)
        elif parts[0] == "src":
            library = self._has(package, "src/lib.rs") or "lib" in manifest
            yield from (("--lib",),) if library and within != "src/main.rs" else ()
            yield from (("--bins",),) if self._has(package, "src/main.rs") or not library else ()
        else:
            yield ("--tests",)

    def _is_root(self, package: str, name: str) -> bool:
        return self._has(package, f"tests/{name}.rs") or self._has(package, f"tests/{name}/main.rs")

    def _has(self, package: str, path: str) -> bool:
        return (f"{package}/{path}" if package else path) in self._project.paths

    def roots(self, package: str) -> Iterator[str]:
        """Yield the root files of a package's library and of its integration tests."""
        lead = f"{package}/" if package else ""
        for path in sorted(self._project.paths):
            within = path.removeprefix(lead)
            if path.startswith(lead) and re.fullmatch(r"src/lib\.rs|tests/[^/]+(?:/main)?\.rs", within):
                yield path


def files_of(root: str, project: Project) -> list[str]:
    """Return the files with tests of the target with this root file, and the root file itself."""
    place, name = str(PurePosixPath(root).parent), PurePosixPath(root).name
    lead = f"{place}/" if place != "." else ""
    if "tests" in PurePosixPath(root).parts and name != "main.rs":
        text = project.text(root)
        modules = re.findall(r"^\s*(?:pub )?mod (\w+);", text, re.MULTILINE)
        below = (f"{lead}{module}{end}" for module in modules for end in (".rs", "/mod.rs"))
        candidates = [path for path in below if path in project.paths]
        candidates += [p for p in project.paths if p.startswith(f"{lead}{PurePosixPath(root).stem}/")]
    else:
        own = (p for p in project.paths if p.startswith(lead) and p.endswith(".rs"))
        candidates = [p for p in own if not p.startswith(f"{lead}bin/") and (lead or p.count("/") == 0)]
    tested = {path for path in candidates if path.endswith(".rs") and has_tests(project.text(path))}
    return sorted({root} | tested)


def has_tests(source: str) -> bool:
    """Return whether a file seems to hold tests."""
    return bool(_HAS_TESTS.search(source))


def module_file(root: str, name: str, project: Project) -> tuple[str, str]:
    """Return the file of a test, by its module path from the root file on, and the rest of that path inside it."""
    file, place = root, str(PurePosixPath(root).parent)
    parts = name.split("::")
    for index, module in enumerate(parts[:-1]):
        place = f"{place}/{module}".removeprefix("./")
        found = next((path for path in (f"{place}.rs", f"{place}/mod.rs") if path in project.paths), None)
        if found is None:
            deeper = any(path.startswith(f"{place}/") for path in project.paths)
            if not deeper:
                return file, "::".join(parts[index:])
        else:
            file, parts = found, ["" for _ in parts[: index + 1]] + parts[index + 1 :]
    return file, "::".join(part for part in parts if part)


def _load_manifest(text: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def _table(manifest: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = manifest.get(key)
    return found if isinstance(found, dict) else {}


def _name(manifest: Mapping[str, Any]) -> str:
    return str(_table(manifest, "package").get("name", ""))
