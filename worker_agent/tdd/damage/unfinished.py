"""Places of new code that say themselves that they are still to be written (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from worker_agent.tdd.damage.code_bodies import is_unfinished
from worker_agent.tdd.damage.code_changes import changes
from worker_agent.tdd.damage.code_edits import FunctionScope, shown
from worker_agent.tdd.syntax.functions import text_without

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
    sources = [change.source for change in changes({}, base)]
    before = "\n".join(text_without(source, source.root, ()) for source in sources if source is not None)
    found = []
    for change in changes(base, head):
        for place in change.scopes:
            missing = _missing_part(place)
            if missing and missing not in before:
                found.append(UNFINISHED.format(change.path, place.function.name, shown(missing, 50)))
    return tuple(found)


def _missing_part(place: FunctionScope) -> str:
    """Return the words by which a function says that a part of it is missing; empty if it does not."""
    match = None if place.nested or is_unfinished(place) else _LATER.search(place.function.text)
    return match[0].strip() if match else ""
