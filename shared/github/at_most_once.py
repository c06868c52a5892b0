"""Comments, reviews and issues that are made once: the fence names each before it is sent, so no successor repeats it.

An agent killed right after a POST leaves a comment that a lagging list does not show yet, and so does a lost reply.
A named comment that is not seen is looked for until the replicas have caught up; only then it is made anew.

A `Notice`, which needs no lease, is not named: only a holder moves the fence, and the ACK for it would be
one comment more than the second reply that a kill right after the first one may lead to. Nothing is decided by such a
reply, both say the same, and of two status comments every agent edits the older one. A reply that was only lost is
remembered by its process (`Unanswered` in `shared/github/comments.py`).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.errors import EngineError, UnknownOutcome
from shared.github.errors import NotShown
from shared.github.replica_lag import PATIENCE_SECONDS
from shared.lock.claimant import LockTimes
from shared.lock.fence import Fence, FenceChange
from shared.lock.fence_moves import advance
from shared.lock.hold import Held

NAMED = "Named"
"""Name of the fence's trailer: `<what> <server time> <beginning of the ACK's nonce>`, separated by commas."""

NONCE_CHARS = 8
"""Characters of a nonce that distinguish one process of an agent from the next."""


@dataclass(frozen=True, slots=True)
class Name:
    """The server time at which something was named to be made, and the process of the agent that did."""

    at: datetime
    nonce: str


def read(fence: Fence) -> Mapping[str, Name]:
    """Return the names in a fence, by the things named; entries that cannot be read are a newer engine's."""
    found: dict[str, Name] = {}
    for entry in dict(fence.more).get(NAMED, "").split(","):
        with suppress(ValueError):
            thing, at, nonce = entry.split()
            name = Name(datetime.fromisoformat(at), nonce)
            found |= {thing: name} if name.at.tzinfo is not None else {}
    return found


def written(fence: Fence, named: Mapping[str, Name]) -> tuple[tuple[str, str], ...]:
    """Return the trailers of a fence with other names in it."""
    entries = (f"{thing} {name.at.isoformat(timespec='seconds')} {name.nonce}" for thing, name in named.items())
    return tuple({**dict(fence.more), NAMED: ", ".join(entries)}.items())


def patience(times: LockTimes) -> timedelta:
    """Return how long a made thing may be missing; never longer than the lock leaves between two holders."""
    return timedelta(seconds=min(PATIENCE_SECONDS, times.timeout - times.self_fence))


def raise_if_in_flight(held: Held, thing: str) -> None:
    """Raise `NotShown` if `thing` may have been made just now; called after `thing` was looked for and not seen.

    Something that this very process has named and not sent, or that was refused, was not made.
    """
    name = read(held.fence).get(thing)
    if name is None or (name.nonce == _nonce(held) and thing not in held.sent):
        return
    left = name.at + patience(held.claimant.times) - held.server_now()
    if left > timedelta(0):
        raise NotShown(thing, left.total_seconds())


@asynccontextmanager
async def making(held: Held, thing: str) -> AsyncIterator[None]:
    """Open a block that sends `thing`, which was looked for and is not there: the fence names it first.

    `thing` has neither spaces nor commas. Raises what `raise_if_in_flight` and `advance` raise.
    """
    raise_if_in_flight(held, thing)
    now = held.server_now()
    since = now - patience(held.claimant.times)
    young = {other: one for other, one in read(held.fence).items() if one.at > since}
    await advance(held, FenceChange(more=written(held.fence, {**young, thing: Name(now, _nonce(held))})))
    held.sent.add(thing)
    try:
        yield
    except UnknownOutcome:
        raise
    except EngineError:
        held.sent.discard(thing)
        raise


def _nonce(held: Held) -> str:
    return held.ack.nonce[:NONCE_CHARS]
