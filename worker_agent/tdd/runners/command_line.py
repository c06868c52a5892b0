"""A configured command as an argv (pure): split like a shell does, but never run by one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from shared.errors import Misconfigured

OPERATOR = re.compile(r"[();<>|&]+")
ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def shell_words(text: str) -> tuple[str, ...]:
    """Return the words and operators of a line of shell; raise `ValueError` for an unclosed quote."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
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
        raise Misconfigured(
            f"{key} '{command}' uses '{operator}', but it is run without a shell: put it into a script."
        )
    return ("env", *argv) if ASSIGNMENT.match(argv[0]) else argv
