"""The argument of `/retry`, and its effect on reviews (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection

from shared.commands.command import Verb
from shared.commands.command_rules import CommandRefused
from shared.text import one_line

_WANTED = re.compile(r"backend=(\S+)")


def requested_backend(verb: Verb, text: str, backends: Collection[str]) -> str | CommandRefused:
    """Return the backend that a command asks for, empty for the usual one; `backends` are the configured ones."""
    if verb is not Verb.RETRY or not text:
        return ""
    found = _WANTED.fullmatch(text)
    if found is None:
        return CommandRefused(f"`/retry` takes nothing but `backend=NAME`, and '{one_line(text, 40)}' is not that")
    return named(found[1], backends)


def named(backend: str, backends: Collection[str]) -> str | CommandRefused:
    """Return `backend` if it is one of the configured ones, else a refusal."""
    if backend in backends:
        return backend
    known = ", ".join(sorted(backends))
    return CommandRefused(f"no backend '{one_line(backend, 40)}' is configured for this repository: there is {known}")


def reviewed_again(head: str) -> str:
    """Return the phase of a reviewer's fence after a person's retry: this very `head` is to be reviewed again."""
    return f"again-{head[:12]}"


NOT_BEGUN = "nothing of it was begun, so there is nothing to retry with another backend"
