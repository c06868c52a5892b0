"""The criteria for which no test could be taken, kept in the fence until a commit's note records them.

Each of them has cost a paid run: neither a crash nor a new order may make it be paid again.
"""

from __future__ import annotations

from collections.abc import Mapping

from shared.lock.fence import Fence, FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held
from worker_agent.tdd.judging.verdict import ErrorType

TRAILER = "Set-Aside"
"""The fence's trailer: the hash of the issue's text, then `<criterion>=<error>` for each, in order."""


def recorded(fence: Fence) -> dict[str, ErrorType]:
    """Map each criterion's id to the error for which it was set aside; empty if the issue's text has changed since."""
    about, _, listed = dict(fence.more).get(TRAILER, "").partition(" ")
    if about != _text_hash(fence):
        return {}
    pairs = (entry.partition("=") for entry in listed.split())
    return {id: ErrorType(error) for id, _, error in pairs if error in set(ErrorType)}


async def record(held: Held, criterion: str, error: ErrorType) -> None:
    """Record one more. That is a result: paid runs and failures are counted anew. Raises `Lost` and `Transient`."""
    found = {**recorded(held.fence), criterion: error}
    await advance(held, FenceChange(more=_trailers_with(held.fence, found), paid_runs=0, wait=None, failures=""))


async def forget(held: Held) -> None:
    """Forget all of them: the next order tries every criterion again. Raises `Lost` and `Transient`."""
    if TRAILER in dict(held.fence.more):
        await advance(held, FenceChange(more=forgotten(held.fence)))


def forgotten(fence: Fence) -> tuple[tuple[str, str], ...]:
    """Return the fence's trailers without this one, for use once a note records it."""
    return _trailers_with(fence, {})


def _trailers_with(fence: Fence, found: Mapping[str, ErrorType]) -> tuple[tuple[str, str], ...]:
    others = tuple((name, value) for name, value in fence.more if name != TRAILER)
    listed = " ".join((_text_hash(fence), *(f"{id}={error}" for id, error in found.items())))
    return (*others, (TRAILER, listed)) if found else others


def _text_hash(fence: Fence) -> str:
    return fence.body_sha256 or "-"
