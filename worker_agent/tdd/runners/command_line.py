"""A configured command as an argv (pure): split like a shell does, but never run by one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from shared.errors import Misconfigured

_OPERATORS = "();<>|&\n"

OPERATOR = re.compile(f"[{re.escape(_OPERATORS)}]+")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def shell_words(text: str) -> tuple[str, ...]:
    """Return the words and operators of some shell; a line's end is an operator. Raises `ValueError`.

    `ValueError` stands for an unclosed quote.
    """
    lexer = shlex.shlex(text.strip().replace("\\\n", ""), posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    return tuple(lexer)


def called_at(argv: Sequence[str], programs: Collection[str], starters: Collection[str] = ("env",)) -> int | None:
    """Return the index of the first of `programs`, by its file's name: the first word, or any behind a starter."""
    for index, word in enumerate(argv):
        name = PurePosixPath(word).name
        if name in programs:
            return index
        if index == 0 and name not in starters:
            return None
    return None


def split(command: str, key: str = "test_command") -> tuple[str, ...]:
    """Return the argv of the command configured as `key`; leading `NAME=value` words become a call of `env`.

    Raises `Misconfigured` if it is empty, has an unclosed quote or needs a shell.
    """
    try:
        argv = shell_words(command)
    except ValueError as error:
        raise Misconfigured(f"{key} '{command}' cannot be read: {error}.") from error
    if not argv:
        raise Misconfigured(f"{key} is empty.")
    operator = next((word for word in argv if OPERATOR.fullmatch(word)), None)
    if operator is not None:
        raise Misconfigured(f"{_shown(key, command, operator)}, but it is run without a shell: put it into a script.")
    return ("env", *argv) if ASSIGNMENT.match(argv[0]) else argv


def _shown(key: str, command: str, operator: str) -> str:
    lines = command.strip().splitlines()
    if len(lines) > 1 and not operator.strip():
        return f"{key} has several lines, '{lines[0]}' and more"
    return f"{key} '{command}' uses '{operator.strip()}'"
