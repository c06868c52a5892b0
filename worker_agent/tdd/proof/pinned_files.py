"""Files that control how tests run: every run takes their base versions, whatever a change made of them.

These are the configuration of runners, start-up files of interpreters, and all files that the test command names. If
the specification lists such a file, the change's own version counts.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from worker_agent.tdd.runners import command_line
from worker_agent.tdd.test_file_names import is_only_tests

_WHOLE = re.compile(
    r"\.?pytest\.(?:ini|toml)|(?:sitecustomize|usercustomize|pytest)\.py|.*\.pth"
    r"|(?:jest|vitest|vite|ava|karma|wtr|playwright)\.(?:config|setup|workspace|projects)\..+|\.mocharc.*|\.nycrc.*|\.taprc"
    r"|phpunit\.xml(?:\.dist)?|\.rspec(?:-local)?|\.minitest|testng\.xml|junit-platform\.properties|nextest\.toml"
    r"|\.runsettings|xunit\.runner\.json"
)
_IN_CARGO = re.compile(r"(?:^|.*/)\.cargo/config(?:\.toml)?|(?:^|.*/)\.config/nextest\.toml")
_SHADOWED = frozenset({"pytest", "_pytest", "pluggy", "iniconfig", "unittest"})
"""Packages that a directory of the same name on the import path would replace."""

_PACKAGE_KEYS = frozenset({"jest", "vitest", "mocha", "ava", "nyc", "c8", "tap"})
_TABLE = re.compile(rb"^\[", re.MULTILINE)
_TEST_TABLE = re.compile(rb"\[+\s*(?:tool\.(?:pytest|coverage)\b|tool:pytest|pytest\b|coverage:)")
_TABLES = frozenset({"pyproject.toml", "setup.cfg", "tox.ini"})

Contents = Mapping[str, bytes]


def pinned(
    base: Contents, head: Contents, commands: Sequence[tuple[str, str]], allowed: Collection[str] = ()
) -> dict[str, bytes | None]:
    """Return the files to put over each run for the base's control files: content by path, None for a new one.

    `base` and `head` hold the changed files as far as they exist, `commands` the test commands, each with the directory
    in which it runs, `allowed` the files that the specification lists.
    """
    named = {
        posixpath.normpath(posixpath.join(place, word)) for command, place in commands for word in _named_files(command)
    }
    found: dict[str, bytes | None] = {}
    for path in sorted({*base, *head} - set(allowed)):
        old, new = base.get(path), head.get(path)
        if _steers(path, named):
            found[path] = old
        elif old is not None and new is not None:
            kept = _keep_control_parts(path, old, new)
            if kept != new:
                found[path] = kept
    return found


def _named_files(command: str) -> Iterator[str]:
    """Yield the paths that a test command names, with the files of make, package scripts or tasks behind it."""
    words = command_line.split(command)
    for word in words:
        yield word.rpartition("=")[2]
    programs = {PurePosixPath(word).name for word in words}
    for program, files in _TASK_FILES.items():
        if program in programs:
            yield from files


_TASK_FILES = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "just": ("justfile", "Justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "tox": ("tox.ini",),
    "nox": ("noxfile.py",),
    "rake": ("Rakefile",),
    "gradlew": ("gradlew",),
}


def _steers(path: str, named: Collection[str]) -> bool:
    file = PurePosixPath(path)
    if is_only_tests(file.name) and not (path in named and file.suffix in {".sh", ".cfg", ".ini", ".toml"}):
        return False
    shadows = file.parts[0].removesuffix(".py") in _SHADOWED
    return bool(path in named or shadows or _WHOLE.fullmatch(file.name) or _IN_CARGO.fullmatch(path))


def _keep_control_parts(path: str, old: bytes, new: bytes) -> bytes:
    """Return the head's file with the parts that control tests taken from the base."""
    name = PurePosixPath(path).name
    if name == "package.json":
        return _package(old, new)
    if name in _TABLES:
        return _tables(old, new)
    return new


def _tables(old: bytes, new: bytes) -> bytes:
    """Return a TOML or INI file with the base's tables about tests, and the head's for all others."""
    before, after = _test_tables(old), _test_tables(new)
    if b"".join(before).split() == b"".join(after).split():
        return new
    rest = [table for table in _split(new) if not _TEST_TABLE.match(table)]
    ended = [table if table.endswith(b"\n") else table + b"\n" for table in (*rest, *before)]
    return b"".join(ended)


def _test_tables(content: bytes) -> list[bytes]:
    return [table for table in _split(content) if _TEST_TABLE.match(table)]


def _split(content: bytes) -> list[bytes]:
    starts = [found.start() for found in _TABLE.finditer(content)]
    edges = [0, *starts, len(content)]
    return [content[a:b] for a, b in pairwise(edges) if a < b]


def _package(old: bytes, new: bytes) -> bytes:
    try:
        before, after = json.loads(old), json.loads(new)
        merged = {**after, **{key: before[key] for key in _PACKAGE_KEYS if key in before}}
        for key in _PACKAGE_KEYS & after.keys() - before.keys():
            del merged[key]
        scripts = {**after.get("scripts", {}), **before.get("scripts", {})}
        kept = {name: text for name, text in scripts.items() if name in before.get("scripts", {}) or "test" not in name}
        merged |= {"scripts": kept} if "scripts" in after else {}
    except (ValueError, AttributeError, TypeError, RecursionError):
        return new
    return new if merged == after else json.dumps(merged, indent=2).encode()
