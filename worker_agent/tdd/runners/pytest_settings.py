"""What a command and configuration files tell pytest of how test files are named (pure)."""

from __future__ import annotations

import configparser
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from worker_agent.tdd.runners.runner import Read

_INI = (("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_DOCTEST_FILES = "test*.txt"
"""What `--doctest-glob` is by itself; pytest takes such files for doctests whenever it meets them."""


def patterns(argv: Sequence[str], read: Read) -> tuple[str, ...]:
    """Names of test files besides the usual ones: `python_files`, and `--doctest-glob` where it is given."""
    settings = _settings(read)
    words = [*_words(settings.get("addopts")), *argv]
    return tuple(dict.fromkeys([*_words(settings.get("python_files")), *_globs(words), _DOCTEST_FILES]))


def _globs(words: Iterable[str]) -> Iterator[str]:
    before = ""
    for word in words:
        if word.startswith("--doctest-glob="):
            yield word.partition("=")[2]
        elif before == "--doctest-glob":
            yield word
        before = word


def _settings(read: Read) -> Mapping[str, Any]:
    """pytest's section of the first file that has one, in pytest's own order."""
    for path, section in _INI[:2]:
        if found := _section(read(path), section):
            return found
    pyproject = _toml(read("pyproject.toml"))
    if pyproject:
        return pyproject
    return next((found for path, section in _INI[2:] if (found := _section(read(path), section))), {})


def _section(content: bytes | None, section: str) -> Mapping[str, Any]:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string((content or b"").decode("utf-8", "replace"))
    except configparser.Error:
        return {}
    return dict(parser[section]) if parser.has_section(section) else {}


def _toml(content: bytes | None) -> Mapping[str, Any]:
    try:
        found = tomllib.loads((content or b"").decode("utf-8", "replace"))["tool"]["pytest"]
        return dict(found.get("ini_options") or found)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError, ValueError, RecursionError):
        return {}


def _words(value: object) -> list[str]:
    """The words of a setting, written as one text or as a list."""
    if isinstance(value, list):
        return [word for word in value if isinstance(word, str)]
    try:
        return shlex.split(value) if isinstance(value, str) else []
    except ValueError:
        return []
