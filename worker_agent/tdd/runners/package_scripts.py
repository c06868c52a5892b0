"""The commands behind `npm test` and its like: the scripts of package.json, divided into their commands (pure).

Scripts that run before or after it (`pretest`) are left out: builds belong into `setup_command`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from worker_agent.tdd.runners.command_line import ASSIGNMENT, OPERATOR, shell_words

_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_RUN = frozenset({"run", "run-script", "rum", "urn"})
_TEST = frozenset({"test", "t", "tst"})
_SEVERAL = frozenset({"npm-run-all", "run-s", "run-p", "npm-run-all2"})
_ENVIRONMENT = frozenset({"cross-env", "cross-env-shell", "env"})
_NESTED = 6
"""The most levels of scripts calling each other that are followed."""


def commands(argv: Sequence[str], package: bytes | None) -> tuple[str, ...]:
    """Return the commands of the scripts that `argv` runs, in order; empty if it runs no script of this package."""
    scripts = _scripts(package)
    return tuple(joined(words) for words in _called_commands(argv, scripts, 0) if words)


def joined(words: Sequence[str]) -> str:
    """Return the command as it would be written; variables before it are kept."""
    count = next((index for index, word in enumerate(words) if not ASSIGNMENT.match(word)), len(words))
    variables = (f"{name}={shlex.quote(value)}" for name, _, value in (word.partition("=") for word in words[:count]))
    return " ".join((*variables, shlex.join(words[count:])))


def _called_commands(argv: Sequence[str], scripts: Mapping[str, str], depth: int) -> Iterator[list[str]]:
    if depth > _NESTED:
        return
    for name, more in _names(argv, scripts):
        parts = _parts(scripts.get(name, ""))
        for index, part in enumerate(parts):
            whole = [*part, *(more if index == len(parts) - 1 else ())]
            yield from _called_commands(whole, scripts, depth + 1) if _names(whole, scripts) else [_bare(whole)]


def _names(argv: Sequence[str], scripts: Mapping[str, str]) -> list[tuple[str, Sequence[str]]]:
    """Return the scripts that a call runs, each with its arguments."""
    words = _bare([word for word in argv if not ASSIGNMENT.match(word)])
    if not words:
        return []
    program, rest = PurePosixPath(words[0]).name, words[1:]
    if program in _SEVERAL:
        return [(word, ()) for word in rest if word in scripts]
    if program not in _MANAGERS:
        return []
    while rest and rest[0].startswith("-"):
        rest = rest[1:]
    if rest and rest[0] in _RUN:
        rest = [word for index, word in enumerate(rest) if index and (not word.startswith("-") or "--" in rest[:index])]
    elif rest and rest[0] in _TEST:
        if program == "bun":
            return []  # bun's own test runner
        rest = ["test", *rest[1:]]
    if not rest or rest[0] not in scripts:
        return []
    more = rest[1:]
    return [(rest[0], more[1:] if more[:1] == ["--"] else more)]


def _parts(script: str) -> list[list[str]]:
    """Return the commands of a line of shell, without redirections."""
    try:
        words = shell_words(script)
    except ValueError:
        return []
    found: list[list[str]] = [[]]
    for word in words:
        if OPERATOR.fullmatch(word):
            found.append([])
        else:
            found[-1].append(word)
    return [part for part in found if part]


def _bare(words: Sequence[str]) -> list[str]:
    """Return a command without the program that only sets variables for it."""
    rest, variables = list(words), []
    while rest and (ASSIGNMENT.match(rest[0]) or PurePosixPath(rest[0]).name in _ENVIRONMENT):
        if ASSIGNMENT.match(rest[0]):
            variables.append(rest[0])
        rest = rest[1:]
    return [*variables, *rest]


def _scripts(package: bytes | None) -> dict[str, str]:
    try:
        found = json.loads(package or b"{}").get("scripts")
    except (ValueError, AttributeError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: text for name, text in found.items() if isinstance(name, str) and isinstance(text, str)}
