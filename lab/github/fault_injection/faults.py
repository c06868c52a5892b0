"""Planned faults: what goes wrong with which request, and the faults that have not happened yet. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from pydantic import TypeAdapter

from lab.github.world.records import Staleness


class FaultKind(StrEnum):
    """Kind of a fault."""

    DELAY = "delay"
    """`seconds` (real ones) pass before it is carried out."""
    LOST_REQUEST = "lost request"
    """It is not carried out, and the connection breaks."""
    LOST_REPLY = "lost reply"
    """It is carried out, and the connection breaks without an answer."""
    TWICE = "executed twice"
    """It is carried out and answered, and carried out once more `seconds` of lab time later."""
    LATE = "executed late"
    """The connection breaks, and it is carried out `seconds` of lab time later."""
    RESET = "reset"
    """It is carried out; the connection is reset after `after_bytes` of the answer's body."""
    ERROR_BEFORE = "error before"
    """It is not carried out and answered with `status` (502)."""
    ERROR_AFTER = "error after"
    """It is carried out and answered with `status` (502)."""
    STALE = "stale"
    """A list, issue or comment as of `seconds` ago, or a list without its newest `missing` records."""
    OUT_OF_ORDER = "out of order"
    """A list that shows its newest record, but not the `missing` (1) before that."""
    HTML = "html"
    """It is carried out and answered with a web page."""
    TRUNCATED = "truncated"
    """Half of the answer's body, as if it were all."""
    EMPTY = "empty"
    """The answer without its body."""
    WRONG_TYPE = "wrong type"
    """The answer as `text/plain`."""
    NULL_FIELDS = "null fields"
    """The answer with null for each of `names`, wherever it stands."""
    PRIMARY_LIMIT = "primary limit"
    """Not carried out: the hourly budget is used up for `seconds` (3600); `status` 403 or 429."""
    SECONDARY_LIMIT = "secondary limit"
    """Not carried out: asked too often; `status` 403 or 429."""
    TOKEN_REVOKED = "token revoked"
    """From this request on its token is no longer valid."""
    LABEL_DELETED = "label deleted"
    """Right before it the label definitions `names` are deleted from the repository."""
    TRANSFERRED = "transferred"
    """Right before it the issue in its path is transferred to the repository `to`."""
    CLOCK_OFFSET = "clock offset"
    """It is carried out and dated `seconds` ahead of (or behind) the lab's time."""

    BEHIND = "behind"
    """Answered as a lagging replica does; `lab.github.fault_injection.lag` decides that, it cannot be planned."""


REST_ONLY = frozenset(
    {
        FaultKind.STALE,
        FaultKind.OUT_OF_ORDER,
        FaultKind.TRUNCATED,
        FaultKind.WRONG_TYPE,
        FaultKind.NULL_FIELDS,
        FaultKind.LABEL_DELETED,
        FaultKind.TRANSFERRED,
        FaultKind.CLOCK_OFFSET,
    }
)
"""Kinds that mean nothing to git; they never hit git's paths."""


@dataclass(frozen=True, slots=True)
class FaultTarget:
    """The parts of a request that decide whether a fault hits it; `now` is lab time, `login` empty for nobody's."""

    method: str
    path: str
    login: str
    now: float

    @property
    def git(self) -> bool:
        """True if the request belongs to git's HTTP protocol."""
        return is_git(self.path)


@dataclass(slots=True)
class Fault:
    """One fault on the `nth` request (from 1) that matches, and on the `times - 1` matches after it.

    With `lasting` it hits, instead, every match within so many seconds of lab time from the nth on.
    `method` and `login` empty mean any; `path` is a regular expression searched in the decoded path
    (git's paths too). `retry_after` is the Retry-After header of errors and limits (None: no such
    header). What the others mean says the kind.
    """

    kind: FaultKind
    method: str = ""
    path: str = ""
    login: str = ""
    nth: int = 1
    times: int = 1
    lasting: float = 0.0
    seconds: float = 0.0
    missing: int = 0
    status: int = 0
    retry_after: int | None = None
    after_bytes: int = 1
    names: Sequence[str] = ()
    to: str = ""
    seen: int = field(default=0, init=False)
    waiting: int = field(default=0, init=False)
    _until: float | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        try:
            re.compile(self.path)
        except re.error as error:
            raise ValueError(f"{self.path!r} is no regular expression: {error}.") from error
        if min(self.nth, self.times) < 1:
            raise ValueError("`nth` and `times` count from 1.")
        if self.kind in {FaultKind.NULL_FIELDS, FaultKind.LABEL_DELETED} and not self.names:
            raise ValueError(f"'{self.kind}' needs `names`.")
        if self.kind is FaultKind.TRANSFERRED and not self.to:
            raise ValueError(f"'{self.kind}' needs `to`.")

    @property
    def unused(self) -> bool:
        """True if some of its hits have not happened, or a postponed request has not been carried out."""
        wanted = self.nth if self.lasting else self.nth + self.times - 1
        return self.seen < wanted or self.waiting > 0

    def hits(self, target: FaultTarget) -> bool:
        """Count a request if it matches, and return whether the fault hits it."""
        if not self._concerns(target):
            return False
        self.seen += 1
        if self.seen < self.nth:
            return False
        if not self.lasting:
            return self.seen < self.nth + self.times
        self._until = target.now + self.lasting if self._until is None else self._until
        return target.now < self._until

    def _concerns(self, target: FaultTarget) -> bool:
        return (
            self.method in {"", target.method}
            and self.login.lower() in {"", target.login.lower()}
            and not (target.git and self.kind in REST_ONLY)
            and re.search(self.path, target.path) is not None
        )


class Faults:
    """All planned faults of one lab."""

    def __init__(self) -> None:
        self._planned: list[Fault] = []

    @property
    def planned(self) -> list[Fault]:
        """All planned faults, in the order of planning."""
        return list(self._planned)

    @property
    def unused(self) -> list[Fault]:
        """Planned faults that did not happen, or not as often as planned."""
        return [fault for fault in self._planned if fault.unused]

    def plan(self, fault: Fault) -> Fault:
        """Let `fault` happen."""
        if fault.kind is FaultKind.BEHIND:
            raise ValueError(f"'{fault.kind}' is not planned: the lab has a setting for it.")
        self._planned.append(fault)
        return fault

    def clear(self) -> None:
        """Drop all plans. Postponed requests are carried out all the same."""
        self._planned.clear()

    def take(self, target: FaultTarget) -> list[Fault]:
        """The faults that spoil this request."""
        return [fault for fault in self._planned if fault.hits(target)]


def staleness(faults: list[Fault]) -> Staleness | None:
    """Return the staleness of the answer, or None."""
    for fault in faults:
        if fault.kind is FaultKind.STALE:
            return Staleness(fault.seconds, fault.missing)
        if fault.kind is FaultKind.OUT_OF_ORDER:
            return Staleness(missing=fault.missing or 1, newest=1)
    return None


def is_git(path: str) -> bool:
    """Return whether a path belongs to git's HTTP protocol."""
    return re.fullmatch(r"/[^/]+/[^/]+\.git/.*", path) is not None


def read_fault(text: bytes) -> Fault:
    """A fault from JSON, its keys being the names of `Fault`; raises ValueError for anything else."""
    planned = json.loads(text)
    keys = {one.name for one in fields(Fault) if one.init}
    if not isinstance(planned, dict) or planned.keys() - keys:
        raise ValueError(f"A fault is an object with some of these keys: {', '.join(sorted(keys))}.")
    return TypeAdapter(Fault).validate_python(planned)


def show_fault(fault: Fault) -> dict[str, Any]:
    """A fault as JSON: what was planned, how many requests matched, and how many wait to be carried out."""
    shown = {one.name: getattr(fault, one.name) for one in fields(Fault) if not one.name.startswith("_")}
    return {**shown, "names": list(fault.names)}
