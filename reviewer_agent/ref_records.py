"""Records in refs of the engine's own: each is a commit whose message spells it in trailers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from shared.git.ports import Fences
from shared.lock.port import ForeignFence

R = TypeVar("R")


def trailers_of(message: str) -> Mapping[str, str]:
    """Return name -> value of the trailers in a commit message."""
    lines = (line.partition(": ") for line in message.splitlines())
    return {name: value.strip() for name, _, value in lines if value}


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
