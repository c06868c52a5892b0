"""Records in refs of the engine's own: each is a commit whose message spells it in trailers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeVar

from shared.git.ports import Fences
from shared.lock.port import ForeignFence

R = TypeVar("R")


VERSION = "1"
"""Version of the records, the value of each one's first trailer."""


def parse(message: str, name: str, make: Callable[[Mapping[str, str], datetime], R]) -> R | None:
    """Return what `make` makes of the trailers of a commit message, and of the time in them.

    None for anything but a record of this version, which the trailer `name` gives.
    """
    lines = (line.partition(": ") for line in message.splitlines())
    trailers = {key: value.strip() for key, _, value in lines if value}
    if trailers.get(name) != VERSION:
        return None
    try:
        at = datetime.fromisoformat(trailers["At"])
        return make(trailers, at) if at.tzinfo is not None else None
    except (KeyError, ValueError):
        return None


async def read_record(refs: Fences, ref: str, read: Callable[[str], R | None]) -> tuple[str | None, R | None]:
    """Return the commit that a ref is at, and the record that it spells; None twice if there is no such ref.

    Raises `Transient`, and `ForeignFence` for a record that only a newer engine can read.
    """
    found = await refs.read(ref)
    if found is None:
        return None, None
    oid, message = found
    record = read(message)
    if record is None:
        raise ForeignFence(ref, oid)
    return oid, record
