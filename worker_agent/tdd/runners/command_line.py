"""A configured command as an argv (pure): split like a shell does, but never run by one."""

from __future__ import annotations

import re
import shlex

from shared.errors import Misconfigured

_OPERATOR = re.compile(r"[();<>|&]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


def split(command: str, key: str = "test_command") -> tuple[str, ...]:
    """Return the argv of the command configured as `key`; leading `NAME=value` words become a call of `env`.

    Raises `Misconfigured` if it is empty, has an unclosed quote or needs a shell.
    """
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        argv = tuple(lexer)
    except ValueError as error:
        raise Misconfigured(f"{key} '{command}' cannot be read: {error}.") from error
    if not argv:
        raise Misconfigured(f"{key} is empty.")
    operator = next((word for word in argv if _OPERATOR.fullmatch(word)), None)
    if operator is not None:
        raise Misconfigured(
            f"{key} '{command}' uses '{operator}', but it is run without a shell: put it into a script."
        )
    return ("env", *argv) if _ASSIGNMENT.match(argv[0]) else argv
