"""The parts of a change: the files that differ, divided into the tests' side and code, with their content."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import PurePosixPath

from anyio import to_thread

from shared.git import changes, objects
from shared.git.names import joined
from shared.git.workspace import Workspace
from worker_agent.tdd.proof.layout import Layout

SUPPORT_FILES = 300
"""The most test files of the base that are read besides the changed ones, to find helpers and fixtures."""

REACHED_FILES = 12
"""The most files of code that are read because changed old tests name them."""

FILE_BYTES = 2**20
"""The most bytes of a file that is compared by content; a larger one is compared by its name alone."""

SOURCES = frozenset(
    {
        *(".py", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"),
        *(".go", ".rs", ".java", ".php", ".rb", ".cs", ".kt"),
    }
)
"""Ends of the names of source files."""


@dataclass(frozen=True)
class Change:
    """Two commits or trees, and what differs: content by path, as far as a file exists on that side.

    `support` are test files of the base, the changed ones among them. A file that holds code and tests at once (inline
    tests) is on both sides.
    """

    base: str
    head: str
    layout: Layout = field(default_factory=Layout)
    old: Mapping[str, bytes] = field(default_factory=dict)
    new: Mapping[str, bytes] = field(default_factory=dict)
    support: Mapping[str, bytes] = field(default_factory=dict)
    inline: Mapping[str, bytes] = field(default_factory=dict)
    """The base's file with the head's tests in it, for each changed file of code that holds tests."""
    reached: Mapping[str, bytes] = field(default_factory=dict)
    """Code that the change leaves unchanged, and that changed old tests name or are next to."""

    @cached_property
    def changed(self) -> frozenset[str]:
        """Every path that differs."""
        return frozenset({*self.old, *self.new})

    @cached_property
    def tests(self) -> frozenset[str]:
        """The paths on the tests' side that differ, files with inline tests among them."""
        return frozenset(path for path in self.changed if self.layout.is_test(path)) | frozenset(self.inline)

    @cached_property
    def code(self) -> frozenset[str]:
        """The paths of code that differ."""
        return frozenset(path for path in self.changed if self.layout.is_code(path))

    def side(self, paths: Collection[str], *, head: bool) -> dict[str, bytes]:
        """Return the content of those `paths` that exist on one side."""
        return {path: content for path, content in (self.new if head else self.old).items() if path in paths}

    @property
    def code_sides(self) -> tuple[dict[str, bytes], dict[str, bytes]]:
        """The content of the changed files of code, on the base and on the head."""
        return self.side(self.code, head=False), self.side(self.code, head=True)

    def with_old_tests(self, old: Mapping[str, bytes]) -> Change:
        """Return the change from a base whose changed files are `old`."""
        support = {**self.support, **{path: content for path, content in old.items() if path in self.support}}
        return replace(self, old=old, support=support)

    @cached_property
    def brings_dependencies(self) -> bool:
        """True if a manifest is among the changed files."""
        return any(_is_manifest(path) for path in self.changed)


def _is_manifest(path: str) -> bool:
    name = PurePosixPath(path).name
    return name in _MANIFESTS or (name.startswith("requirements") and name.endswith((".txt", ".in")))


_MANIFESTS = frozenset(
    {
        *("pyproject.toml", "setup.py", "setup.cfg", "package.json", "go.mod", "Cargo.toml", "pom.xml"),
        *("build.gradle", "build.gradle.kts", "composer.json", "Gemfile", "uv.lock", "poetry.lock"),
    }
)


async def load(space: Workspace, base: str, head: str, layout: Layout, paths: Collection[str]) -> Change:
    """Return the change between two commits or trees of a workspace; `paths` are all files of the base."""
    entries = await changes.entries(space.git, base, head)
    old = await _contents(space, {entry.path: entry.old for entry in entries})
    new = await _contents(space, {entry.path: entry.new for entry in entries})
    unchanged = set(paths).difference(entry.path for entry in entries)
    known = sorted(path for path in unchanged if layout.is_test(path) and _is_source(path))
    near = sorted(known, key=lambda path: (not _serves(path), len(PurePosixPath(path).parts), path))[:SUPPORT_FILES]
    support = await objects.existing(space.git, base, near) | {
        path: content for path, content in old.items() if layout.is_test(path)
    }
    change = Change(base, head, layout, old, new, support)
    reached = await objects.existing(space.git, base, _reached_paths(change, unchanged))
    return replace(change, inline=await to_thread.run_sync(_inline, change), reached=reached)


async def tree_with_tests(space: Workspace, change: Change) -> str:
    """Return the base's tree with the tests' side of the change as the head has it; deleted files are gone."""
    rows = {entry.path: entry for entry in await changes.entries(space.git, change.base, change.head)}
    wanted = [f"{row.new_mode} {row.new}\t{path}" for path, row in rows.items() if change.layout.is_test(path)]
    for path, content in change.inline.items():
        blob = (await space.git.run("hash-object", "-w", "--stdin", stdin=content)).text
        wanted.append(f"{rows[path].new_mode} {blob}\t{path}")
    index = space.root / "tests.index"
    await space.git.run("read-tree", change.base, index=index)
    await space.git.run("update-index", "-z", "--index-info", stdin=joined(wanted), index=index)
    return (await space.git.run("write-tree", index=index)).text


async def _contents(space: Workspace, blobs: Mapping[str, str]) -> dict[str, bytes]:
    """Map each path to its content, for files of ordinary size; larger ones are left out."""
    wanted = {path: oid for path, oid in blobs.items() if set(oid) != {"0"}}
    sizes = await objects.sizes(space.git, set(wanted.values()))
    small = {path: oid for path, oid in wanted.items() if sizes.get(oid, FILE_BYTES + 1) <= FILE_BYTES}
    found = await objects.read(space.git, list(small.values()))
    read = {path: content for path, content in zip(small, found, strict=True) if content is not None}
    large = {path: oid.encode() for path, oid in wanted.items() if path not in small}
    return read | large


def _reached_paths(change: Change, paths: Collection[str]) -> list[str]:
    """Return unchanged files of code that changed old tests name, by file or package; then those next to them."""
    tests = [path for path in change.old if change.layout.is_test(path)]
    words = {word.decode() for path in tests for word in re.findall(rb"\w+", change.old[path])}
    beside = {(PurePosixPath(path).parent, PurePosixPath(path).suffix) for path in tests}
    code = sorted(path for path in paths if _is_source(path) and change.layout.is_code(path))
    named = [path for path in code if module_name(path) in words]
    near = [path for path in code if (PurePosixPath(path).parent, PurePosixPath(path).suffix) in beside]
    return list(dict.fromkeys([*named, *near]))[:REACHED_FILES]


def module_name(path: str) -> str:
    """Return the name by which tests use a file of code: its stem, or its package."""
    file = PurePosixPath(path)
    return file.parent.name if file.stem in {"__init__", "index", "mod", "lib"} and file.parent.name else file.stem


def _inline(change: Change) -> dict[str, bytes]:
    from worker_agent.tdd.syntax import source  # grammars are loaded when there is a change
    from worker_agent.tdd.syntax.units_rust import with_tests_of

    found: dict[str, bytes] = {}
    for path, content in change.new.items():
        if change.layout.is_test(path):
            continue
        head, old = source.parse(path, content), change.old.get(path)
        base = source.parse(path, old) if old is not None else None
        laid = with_tests_of(base, head) if head is not None else None
        if laid is not None and laid != old:
            found[path] = laid
    return found


def _is_source(path: str) -> bool:
    return PurePosixPath(path).suffix in SOURCES


def _serves(path: str) -> bool:
    """Return whether a file serves many tests: these are read first."""
    return PurePosixPath(path).name in {"conftest.py", "__init__.py", "spec_helper.rb", "test_helper.rb"}
