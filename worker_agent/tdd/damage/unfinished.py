"""Places of new code that say themselves that they are still to be written (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from worker_agent.tdd.damage.code_bodies import is_unfinished
from worker_agent.tdd.damage.code_changes import FileChange, changes
from worker_agent.tdd.damage.code_edits import EditScope, shown
from worker_agent.tdd.syntax.functions import Function, text_without
from worker_agent.tdd.syntax.source import Source

UNFINISHED = "{}::{}: it says that something is not implemented (`{}`)"

_LATER = re.compile(
    r"\b(?:todo|unimplemented) !"
    r"|raise NotImplementedError\b"
    r"|throw new [\w.\\ ]*NotImplemented\w*"
    r"|(?:\braise\b|\bthrow\b|\bpanic\b|\bErrorf\b|errors \. New|\bErr\b|\babort\b|\bfail\b)[^;{}]{0,40}?"
    r"(?:\bnot (?:yet )?(?:implemented|supported yet)|\bunimplemented|\bto ?do\b|not done yet)[^;{}]{0,40}",
    re.IGNORECASE,
)
"""Code that raises because it is not implemented; in tokens that are joined by blanks."""


def unfinished(base: Mapping[str, bytes], head: Mapping[str, bytes]) -> tuple[str, ...]:
    """Return a sentence for each changed function that newly says that a part of it is missing.

    A function is skipped if one of that name on the base says so, or if it holds nothing else: that is a stub, or
    others implement it.
    """
    before = "\n".join(_tokens(change) for change in _of(base))
    found = []
    for change in changes(base, head):
        for function in change.functions if change.source is not None else ():
            seen = _seen(change.source, function) if change.source is not None else None
            if seen is not None and seen not in before:
                found.append(UNFINISHED.format(change.path, function.name, shown(seen, 50)))
    return tuple(found)


def _seen(source: Source, function: Function) -> str | None:
    if function.nested or is_unfinished(EditScope(source, function.node, function.nested, function)):
        return None
    seen = _LATER.search(function.text)
    return seen[0].strip() if seen else None


def _of(base: Mapping[str, bytes]) -> Iterator[FileChange]:
    yield from changes({}, base)


def _tokens(change: FileChange) -> str:
    return text_without(change.source, change.source.root, ()) if change.source is not None else ""
