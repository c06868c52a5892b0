"""A program's session that a later call for the same item may continue: its facts, and the rule (pure).

A session is written by a program that an untrusted repository has influenced. Only calls of the same
kind for the same item get it, under exactly the circumstances of the call that left it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SECONDS = 300.0
"""Seconds that vendors keep a prompt in their cache after its last use, as far as they document it."""

BYTES_OF_A_TOKEN = 40
"""Largest plausible bytes per token of a session's file; ten are usual. Tools could write the file, not the count."""


@dataclass(frozen=True, slots=True)
class ResumeLimits:
    """Limits of a continued session: its age in seconds since the end of its last call, and its length in tokens."""

    seconds: float = SECONDS
    tokens: int = 100_000


@dataclass(frozen=True, slots=True)
class FoundSession:
    """A session as a program has left it after a call.

    `place` are the names on the path to its file below the program's home. `tokens` is its length, and
    `counted` are the program's counts so far, which it counts again with the next call.
    """

    id: str
    place: tuple[str, ...]
    content: bytes = field(repr=False)
    tokens: int
    counted: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session as a completed call has left it.

    `circumstances` and `item_text` identify how and for which words the call was made, `tree` is the work tree
    at its end, `ended_at` the time of that (local wall clock: another process reads it).
    """

    found: FoundSession
    circumstances: str
    item_text: str
    tree: str
    ended_at: float


def refusal(kept: KeptSession, circumstances: str, item_text: str, now: float, limits: ResumeLimits) -> str:
    """Return the reason why a call starts a new session instead of continuing `kept`; empty if it may continue."""
    age = now - kept.ended_at
    if kept.circumstances != circumstances:
        return "the call is made in another way than the last one"
    if kept.item_text != item_text:
        return "the text of the item has changed since"
    if not 0 <= age <= limits.seconds:  # a clock that was set back proves nothing
        return f"it is {age:.0f} seconds old, and the limit is {limits.seconds:g}"
    if len(kept.found.content) > BYTES_OF_A_TOKEN * limits.tokens:
        return f"it has {len(kept.found.content):,} bytes, more than {limits.tokens:,} tokens take"
    if kept.found.tokens > limits.tokens:
        return f"it has {kept.found.tokens:,} tokens, and the limit is {limits.tokens:,}"
    return ""
