"""Planned faults: what shall go wrong with which request, and what of it has not happened yet."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter

from lab.world.shelf import Staleness


class FaultKind(StrEnum):
    """What goes wrong."""

    DELAY = "delay"
    LOST_REQUEST = "lost request"
    LOST_REPLY = "lost reply"
    ERROR_BEFORE = "error before"
    ERROR_AFTER = "error after"
    STALE = "stale"
    TRUNCATED = "truncated"
    HTML = "html"
    PRIMARY_LIMIT = "primary limit"
    SECONDARY_LIMIT = "secondary limit"


@dataclass(slots=True)
class Fault:
    """One fault on the `nth` request (from 1) that matches, and on the `times - 1` matches after it.

    `method` empty means any; `path` is a regular expression searched in the decoded path (git's
    paths too). `seconds` is the delay, or how stale a read is; `missing` how many of the newest
    records a stale read lacks; `status` the status of errors and limits; `retry_after` the seconds
    that a secondary limit names (None: no such header).
    """

    kind: FaultKind
    method: str = ""
    path: str = ""
    nth: int = 1
    times: int = 1
    seconds: float = 0.0
    missing: int = 0
    status: int = 0
    retry_after: int | None = 60
    seen: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        try:
            re.compile(self.path)
        except re.error as error:
            raise ValueError(f"{self.path!r} is no regular expression: {error}.") from error

    @property
    def unused(self) -> bool:
        """Whether some of its hits have not happened."""
        return self.seen < self.nth + self.times - 1

    def hits(self, method: str, path: str) -> bool:
        """Count a request if it matches, and tell whether it is one to spoil."""
        if self.method not in {"", method} or re.search(self.path, path) is None:
            return False
        self.seen += 1
        return self.nth <= self.seen < self.nth + self.times


class Faults:
    """All planned faults of one lab."""

    def __init__(self) -> None:
        self._planned: list[Fault] = []

    @property
    def unused(self) -> list[Fault]:
        """Planned faults that did not happen, or not as often as planned."""
        return [fault for fault in self._planned if fault.unused]

    def plan(self, fault: Fault) -> Fault:
        """Let `fault` happen."""
        self._planned.append(fault)
        return fault

    def clear(self) -> None:
        """Forget all plans: the storm is over."""
        self._planned.clear()

    def take(self, method: str, path: str) -> list[Fault]:
        """The faults that spoil this request."""
        return [fault for fault in self._planned if fault.hits(method, path)]


def staleness(faults: list[Fault]) -> Staleness | None:
    """How stale the answer shall be, or None."""
    stale = next((fault for fault in faults if fault.kind is FaultKind.STALE), None)
    return None if stale is None else Staleness(stale.seconds, stale.missing)


def read_fault(text: bytes) -> Fault:
    """A fault from JSON, its keys being the names of `Fault`; raises ValueError for anything else."""
    planned = json.loads(text)
    known = {one.name for one in fields(Fault) if one.init}
    if not isinstance(planned, dict) or planned.keys() - known:
        raise ValueError(f"A fault is an object with some of these keys: {', '.join(sorted(known))}.")
    return TypeAdapter(Fault).validate_python(planned)


def show_fault(fault: Fault) -> dict[str, Any]:
    """A fault as JSON."""
    return {"kind": fault.kind, "method": fault.method, "path": fault.path, "nth": fault.nth, "seen": fault.seen}
