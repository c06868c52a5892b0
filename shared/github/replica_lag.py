"""Things that GitHub may not show yet: it answers from replicas, which learn of a new thing some time later.

A refusal that names something this process knows to exist is no news about it. It is asked for again, with
growing pauses, for `PATIENCE_SECONDS`; only then the refusal counts. Nobody waits here: a caller that asks too early is
refused at once, without a request. The two tables list the refusals and the creations that are meant.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from shared.clock import Clock
from shared.errors import EngineError
from shared.github.address import segment
from shared.github.errors import NotShown

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

PATIENCE_SECONDS = 120.0
"""Seconds after the first refusal for which a thing is asked for again before the refusal counts."""

KNOWN_SECONDS = 600.0
"""Seconds for which a thing is known to exist after it was made, or a fence has named it."""

YOUNG_SECONDS = 120.0
"""Seconds for which a comment or label of our own is known to exist: later, people may have removed it."""

LABEL_SECONDS = 1.0
"""Seconds for which a label that we want to take off is asked for again: others take labels off as well."""

PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Pauses between two requests for the same thing; the last one is repeated."""

AT_ONCE_SECONDS = PAUSES_SECONDS[:2]
"""Pauses that a caller may spend waiting; longer ones are left to the next tick."""

MOST = 2000
"""Most things remembered; the one that was named longest ago goes first."""

ITEM, COMMIT, COMMENT, BRANCH, LABEL = "issue or pull request", "commit", "comment", "branch", "label"


@dataclass(frozen=True, slots=True)
class Thing:
    """Something in one repository: its kind, and its number, id, SHA or name."""

    root: str
    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class NotThereYet:
    """One way in which GitHub says that something new is not there.

    `path` has a group `name`, unless the thing is named in the field `field` of the body. `says` maps a status to
    words of which GitHub's message or errors have one. `given`: such a call is only made for things known to exist.
    """

    kind: str
    path: str
    says: Mapping[int, Sequence[str]]
    field: str = ""
    given: bool = False
    patience: float = PATIENCE_SECONDS


_NODE = ("could not resolve to a node",)
_COMMIT = ("no commit found", *_NODE)

_PARTS = "comments|events|labels|assignees|reviews|requested_reviewers|merge"

REFUSALS = (
    NotThereYet(
        COMMIT, r"/commits/(?P<name>\w{40})/(?:check-runs|check-suites|status)", {404: (), 422: _COMMIT}, given=True
    ),
    NotThereYet(
        COMMIT, r"/pulls/\d+/reviews", {422: (*_COMMIT, "not part of the pull request")}, field="commit_id", given=True
    ),
    NotThereYet(BRANCH, r"/pulls", {422: ("head invalid", *_NODE)}, field="head"),
    NotThereYet(LABEL, r"/issues/(?P<name>\d+/labels/[^/]+)", {404: ("label does not exist",)}, patience=LABEL_SECONDS),
    NotThereYet(ITEM, r"/issues/(?P<name>\d+)/labels/[^/]+", {404: ("not found",)}),
    NotThereYet(COMMENT, r"/issues/comments/(?P<name>\d+)", {404: ()}),
    NotThereYet(ITEM, rf"/(?:issues|pulls)/(?P<name>\d+)(?:/(?:{_PARTS}))?", {404: (), 422: _NODE}),
)
"""Refusals by operation, status and message, with the thing that each names; the first that fits counts."""


@dataclass(frozen=True, slots=True)
class Creation:
    """A POST that makes something, known to exist for `seconds`, and named in the field `field` of the reply.

    A group `list` of `path` is the path of its list. Without a field it sets labels, which the body names: the reply
    has the others, too.
    """

    kind: str
    path: str
    field: str
    seconds: float

    def names(self, body: Any, reply: Any, match: re.Match[str]) -> list[Any]:
        """Return the names of the things; raises KeyError and TypeError if they cannot be read."""
        if self.field:
            return [reply[self.field]]
        return [f"{match['number']}/labels/{segment(name)}" for name in body["labels"]]


CREATIONS = (
    Creation(ITEM, r"/issues", "number", KNOWN_SECONDS),
    Creation(ITEM, r"/pulls", "number", KNOWN_SECONDS),
    Creation(COMMENT, r"(?P<list>/issues/\d+/comments)", "id", YOUNG_SECONDS),
    Creation("review", r"(?P<list>/pulls/\d+/reviews)", "id", YOUNG_SECONDS),
    Creation("review comment", r"(?P<list>/pulls/\d+/comments)/\d+/replies", "id", YOUNG_SECONDS),
    Creation(LABEL, r"/issues/(?P<number>\d+)/labels", "", YOUNG_SECONDS),
)
"""Things that this process makes by the API; pushed things are named by their callers."""

_ROOT = re.compile(r"/(?:repos/[^/]+/[^/]+|repositories/\d+)(?=/)")


@dataclass(slots=True)
class _Late:
    """A refused call: the boot time of its first refusal, the number of refusals, and the boot time of the next try."""

    since: float
    refusals: int
    next: float


@dataclass(frozen=True, slots=True)
class _Entry:
    """The boot time until which a list has to show something of ours, and the server time at which that was made."""

    until: float
    at: datetime | None


class ReplicaLag:
    """Things that one client knows to exist, and those that GitHub does not show yet."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: OrderedDict[Thing, float] = OrderedDict()
        self._listed: OrderedDict[tuple[str, int], _Entry] = OrderedDict()
        self._late: OrderedDict[tuple[str, str, Thing], _Late] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of things, entries of lists and refused calls that are remembered."""
        return len(self._known) + len(self._listed) + len(self._late)

    def expect(self, thing: Thing, seconds: float = KNOWN_SECONDS) -> None:
        """Note that the thing exists, even if GitHub does not show it, for so many seconds."""
        now = self._clock.boot()
        _put_newest(self._known, thing, max(now + seconds, self._known.get(thing, 0.0)), lambda until: until < now)

    def admit(self, method: str, path: str, body: Any) -> None:
        """Raise `NotShown` while it is too early to make this call again."""
        for _, thing in _named_things(method, path, body) if self._late else ():
            late = self._late.get((method, path, thing))
            if late is not None and self._clock.boot() < late.next:
                raise NotShown(str(thing), late.next - self._clock.boot())

    def refused(self, method: str, path: str, body: Any, status: int, error: EngineError) -> NotShown | None:
        """Return `NotShown` if a refusal names something that exists; None if the refusal counts."""
        said = str(error).casefold()
        for refusal, thing in _named_things(method, path, body):
            words = refusal.says.get(status)
            if words is None or (words and not any(word in said for word in words)):
                continue
            call = (method, path, thing)
            known = refusal.given or call in self._late or self._clock.boot() < self._known.get(thing, 0.0)
            return self._put_off(call, refusal.patience) if known else None
        return None

    def answered(self, method: str, path: str, body: Any, reply: Any) -> None:
        """Note that a call was carried out: the things that it names are there, and those that it made are known."""
        if self._late or method == "DELETE":
            for _, thing in _named_things(method, path, body):
                self._late.pop((method, path, thing), None)
                if method == "DELETE":
                    self._forget(thing)
        if method == "POST":
            self._note_created(path, body, reply)

    def _put_off(self, call: tuple[str, str, Thing], patience: float) -> NotShown | None:
        """Return an error with the time of the next try; None at the end of the patience."""
        now, thing = self._clock.boot(), call[2]
        late = self._late.get(call) or _Late(now, 0, now)
        if now - late.since >= patience:
            self._late.pop(call, None)
            self._known.pop(thing, None)
            return None
        pause = PAUSES_SECONDS[min(late.refusals, len(PAUSES_SECONDS) - 1)]
        late.refusals, late.next = late.refusals + 1, now + pause
        _put_newest(self._late, call, late, lambda one: now - one.since >= 2 * PATIENCE_SECONDS)
        return NotShown(str(thing), pause)

    def lacking(self, path: str, entries: Iterable[Any], since: datetime | None = None) -> NotShown | None:
        """Return `NotShown` if a whole list of `path`, or all of it from `since` on, lacks an entry of ours."""
        root, rest = _split(path)
        if not self._listed or not (wanted := self._expected_ids(root + rest, since)):
            return None
        lacks = wanted.difference(one.get("id") for one in entries if isinstance(one, Mapping))
        return NotShown(f"{rest.lstrip('/')} {min(lacks)}", PAUSES_SECONDS[0]) if lacks else None

    def _expected_ids(self, path: str, since: datetime | None) -> set[int]:
        now = self._clock.boot()
        ours = {id: entry for (listed, id), entry in self._listed.items() if listed == path and now < entry.until}
        return {id for id, entry in ours.items() if since is None or (entry.at is not None and entry.at >= since)}

    def _forget(self, thing: Thing) -> None:
        """Forget a thing that we have removed ourselves."""
        if thing.kind in {COMMENT, LABEL}:
            self._known.pop(thing, None)
            for known in [one for one in self._listed if str(one[1]) == thing.name]:
                del self._listed[known]

    def _note_created(self, path: str, body: Any, reply: Any) -> None:
        (root, rest), now = _split(path), self._clock.boot()
        for creation in CREATIONS:
            if (match := re.fullmatch(creation.path, rest)) is None:
                continue
            with suppress(KeyError, TypeError):  # the caller finds out that the reply cannot be read
                for name in creation.names(body, reply, match):
                    self.expect(Thing(root, creation.kind, str(name)), creation.seconds)
                    if "list" in match.groupdict() and isinstance(name, int):
                        entry = _Entry(now + creation.seconds, _made_at(reply))
                        _put_newest(self._listed, (root + match["list"], name), entry, lambda one: one.until < now)


def _named_things(method: str, path: str, body: Any) -> Iterator[tuple[NotThereYet, Thing]]:
    """Yield the rows that fit a call, each with the thing that the call names."""
    root, rest = _split(path)
    for refusal in REFUSALS:
        match = re.fullmatch(refusal.path, rest)
        if match is None or (refusal.field and method != "POST"):
            continue
        name = body.get(refusal.field) if refusal.field and isinstance(body, Mapping) else match.groupdict().get("name")
        if name:
            yield refusal, Thing(root, refusal.kind, str(name))


def _made_at(reply: Mapping[str, Any]) -> datetime | None:
    at = reply.get("created_at")
    return datetime.fromisoformat(at) if isinstance(at, str) else None


def _split(path: str) -> tuple[str, str]:
    """Split a path into its repository and the rest, without a query."""
    path = path.partition("?")[0]
    root = _ROOT.match(path)
    return ("", path) if root is None else (root.group().casefold(), path[root.end() :])


def _put_newest(kept: OrderedDict[K, V], key: K, value: V, is_over: Callable[[V], bool]) -> None:
    """Keep a value as the newest one; drop the oldest ones that are over, or too many."""
    kept[key] = value
    kept.move_to_end(key)
    while kept and (len(kept) > MOST or is_over(next(iter(kept.values())))):
        kept.popitem(last=False)
