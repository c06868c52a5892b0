"""A program's session that a later call for the same item may go on with: what is known of it, and the rule (pure).

A session is written by a program that an untrusted repository has influenced. It goes back to calls of the same
kind for the same item alone, under the very circumstances under which it came about.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SECONDS = 300.0
"""How long vendors keep a prompt in their cache after its last use, as far as they say."""

BYTES_OF_A_TOKEN = 40
"""A session's file has some ten bytes for each token. Tools of the call could write it, but not what was counted."""


@dataclass(frozen=True, slots=True)
class ResumeLimits:
    """How old, in seconds since the end of its last call, and how long, in tokens, a session may be."""

    seconds: float = SECONDS
    tokens: int = 100_000


@dataclass(frozen=True, slots=True)
class FoundSession:
    """What a program has left of its session after a call.

    `place` are the names that lead to its file below the program's home. `tokens` is how long it is by now, and
    `counted` what the program has counted in it so far, and counts again with the next call.
    """

    id: str
    place: tuple[str, ...]
    content: bytes = field(repr=False)
    tokens: int
    counted: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class KeptSession:
    """A session as a completed call has left it.

    `circumstances` and `item_text` stand for how and by which words the call was made, `tree` is the work tree at
    its end, `ended_at` when that was (local wall clock: another process reads it).
    """

    found: FoundSession
    circumstances: str
    item_text: str
    tree: str
    ended_at: float


def refusal(kept: KeptSession, circumstances: str, item_text: str, now: float, limits: ResumeLimits) -> str:
    """Why a call begins anew instead of going on with `kept`; empty when it may go on."""
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
