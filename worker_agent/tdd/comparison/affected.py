"""The files that a comparison has to look at: changed ones, and those that name something that changed."""

from __future__ import annotations

import re

from worker_agent.tdd.comparison.project import File, Project


def affected(before: Project, after: Project) -> frozenset[str]:
    """Return the paths of changed files and of tests that may reach the changes in them, over any number of files."""
    paths = set(before.files) | set(after.files)
    found = {path for path in paths if before.files.get(path) is not after.files.get(path)}
    names = {name for path in found for name in _changed_names(before.files.get(path), after.files.get(path))}
    waiting = paths - found
    while names and waiting:
        words = re.compile(rb"\b(?:" + b"|".join(sorted(re.escape(name.encode()) for name in names)) + rb")\b")
        touched = {path for path in waiting if words.search(before.files[path].content)}
        waiting -= touched
        found |= touched
        names = {name for path in touched if not before.files[path].has_tests for name in _names(before.files[path])}
    return frozenset(found)


def _changed_names(old: File | None, new: File | None) -> set[str]:
    """Return the names in a file whose meaning differs, and the names that use them there."""
    before = {} if old is None else _names(old)
    after = {} if new is None else _names(new)
    found = {name for name, meaning in before.items() if after.get(name) != meaning}
    more = set(found)
    while more:
        more = {name for file in (old, new) if file is not None for name in _users(file, more)} - found
        found |= more
    return found


def _users(file: File, names: set[str]) -> set[str]:
    """Return the names in a file that use at least one of `names`."""
    return {
        _plain_name(name)
        for name, each in file.definitions.items()
        if any(_plain_name(used) in names for definition in each for used in definition.uses)
    }


def _names(file: File) -> dict[str, str]:
    meanings = {_plain_name(name): "".join(each.digest for each in found) for name, found in file.definitions.items()}
    return {name: meaning for name, meaning in meanings.items() if name.isidentifier()}


def _plain_name(name: str) -> str:
    return name.lstrip(".'")
