"""What GitHub may not show yet: it answers from replicas, which learn of a new thing some time after it was made.

A refusal that names something this process knows to exist is no news about it. It is asked for again, with
growing pauses, for `PATIENCE_SECONDS`; only then the refusal counts. Nobody waits here: whoever asks too early is
refused at once, without a request. The two tables say which refusals and which creations are meant.
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
"""So long after the first refusal it is asked for again before the refusal counts."""

KNOWN_SECONDS = 600.0
"""So long after it was made, or a fence has named it, a thing is known to exist."""

YOUNG_SECONDS = 120.0
"""So long a comment or label of our own is known to exist: after that, people may have removed it."""

LABEL_SECONDS = 1.0
"""So long a label is asked for again that we want to take off: others take labels off as well."""

PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Between two questions after the same thing; the last one is repeated."""

AT_ONCE_SECONDS = PAUSES_SECONDS[:2]
"""Pauses that whoever asks may spend waiting; from then on it is the next tick's matter."""

MOST = 2000
"""Things remembered; what was named longest ago goes first."""

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
    words of which GitHub's message or errors have one. `given`: nobody asks so for what is not known to exist.
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
"""Which operation, which status and message, and what it names; the first that fits counts."""


@dataclass(frozen=True, slots=True)
class Creation:
    """A POST that makes things, for so many seconds known to exist; a group `list` of `path` is the list of them."""

    kind: str
    path: str
    names: Callable[[Any, Any, re.Match[str]], Iterable[object]]
    seconds: float


def _number(body: Any, reply: Any, match: re.Match[str]) -> Iterable[object]:
    return (reply["number"],)


def _id(body: Any, reply: Any, match: re.Match[str]) -> Iterable[object]:
    return (reply["id"],)


def _labels(body: Any, reply: Any, match: re.Match[str]) -> Iterable[object]:
    """Those that were added; the reply has the others, too."""
    return (f"{match['number']}/labels/{segment(name)}" for name in body["labels"])


CREATIONS = (
    Creation(ITEM, r"/issues", _number, KNOWN_SECONDS),
    Creation(ITEM, r"/pulls", _number, KNOWN_SECONDS),
    Creation(COMMENT, r"(?P<list>/issues/\d+/comments)", _id, YOUNG_SECONDS),
    Creation("review", r"(?P<list>/pulls/\d+/reviews)", _id, YOUNG_SECONDS),
    Creation("review comment", r"(?P<list>/pulls/\d+/comments)/\d+/replies", _id, YOUNG_SECONDS),
    Creation(LABEL, r"/issues/(?P<number>\d+)/labels", _labels, YOUNG_SECONDS),
)
"""What this process makes by the API; what it pushes is named by whoever asks for it."""

_ROOT = re.compile(r"/(?:repos/[^/]+/[^/]+|repositories/\d+)(?=/)")


@dataclass(slots=True)
class _Late:
    """Since when and how often a call was refused so, and from when on it may be made again (boot clock)."""

    since: float
    refusals: int
    next: float


@dataclass(frozen=True, slots=True)
class _Entry:
    """Until when a list has to show something of ours (boot clock), and when that was made (server time)."""

    until: float
    at: datetime | None


class Fresh:
    """What one client knows to exist, and what of it GitHub does not show yet."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: OrderedDict[Thing, float] = OrderedDict()
        self._listed: OrderedDict[tuple[str, int], _Entry] = OrderedDict()
        self._late: OrderedDict[tuple[str, str, Thing], _Late] = OrderedDict()

    def know(self, thing: Thing, seconds: float = KNOWN_SECONDS) -> None:
        """The thing exists, whatever GitHub shows of it in so many seconds."""
        _put(self._known, thing, max(self._clock.boot() + seconds, self._known.get(thing, 0.0)))

    def admit(self, method: str, path: str, body: Any) -> None:
        """Raise `NotShown` while it is too early to make this call again."""
        for _, thing in _named(method, path, body) if self._late else ():
            late = self._late.get((method, path, thing))
            if late is not None and self._clock.boot() < late.next:
                raise NotShown(str(thing), late.next - self._clock.boot())

    def refused(self, method: str, path: str, body: Any, status: int, error: EngineError) -> NotShown | None:
        """What a refusal means instead, where it names something that exists; None when it means what it says."""
        said = str(error).casefold()
        for refusal, thing in _named(method, path, body):
            words = refusal.says.get(status)
            if words is None or (words and not any(word in said for word in words)):
                continue
            call = (method, path, thing)
            known = refusal.given or call in self._late or self._clock.boot() < self._known.get(thing, 0.0)
            return self._put_off(call, refusal.patience) if known else None
        return None

    def answered(self, method: str, path: str, body: Any, reply: Any) -> None:
        """A call was carried out: what it names is there, and what it made is known."""
        if self._late or method == "DELETE":
            for _, thing in _named(method, path, body):
                self._late.pop((method, path, thing), None)
                if method == "DELETE":
                    self._forget(thing)
        if method == "POST":
            self._note_created(path, body, reply)

    def _put_off(self, call: tuple[str, str, Thing], patience: float) -> NotShown | None:
        """When the call may be made again; None when patience is at its end."""
        now, thing = self._clock.boot(), call[2]
        late = self._late.get(call) or _Late(now, 0, now)
        if now - late.since >= patience:
            self._late.pop(call, None)
            self._known.pop(thing, None)
            return None
        pause = PAUSES_SECONDS[min(late.refusals, len(PAUSES_SECONDS) - 1)]
        late.refusals, late.next = late.refusals + 1, now + pause
        _put(self._late, call, late)
        return NotShown(str(thing), pause)

    def lacking(self, path: str, entries: Iterable[Any], since: datetime | None = None) -> NotShown | None:
        """That a whole list of `path`, or all of it from `since` on, lacks what we have put there just now."""
        root, rest = _split(path)
        if not self._listed or not (wanted := self._wanted(root + rest, since)):
            return None
        lacks = wanted.difference(one.get("id") for one in entries if isinstance(one, Mapping))
        return NotShown(f"{rest.lstrip('/')} {min(lacks)}", PAUSES_SECONDS[0]) if lacks else None

    def _wanted(self, path: str, since: datetime | None) -> set[int]:
        now = self._clock.boot()
        ours = {id: one for (where, id), one in self._listed.items() if where == path and now < one.until}
        return {id for id, one in ours.items() if since is None or (one.at is not None and one.at >= since)}

    def _forget(self, thing: Thing) -> None:
        """We have taken it away ourselves."""
        if thing.kind in {COMMENT, LABEL}:
            self._known.pop(thing, None)
            for known in [one for one in self._listed if str(one[1]) == thing.name]:
                del self._listed[known]

    def _note_created(self, path: str, body: Any, reply: Any) -> None:
        root, rest = _split(path)
        for creation in CREATIONS:
            if (match := re.fullmatch(creation.path, rest)) is None:
                continue
            with suppress(KeyError, TypeError):  # the caller finds out that the reply cannot be read
                for name in creation.names(body, reply, match):
                    self.know(Thing(root, creation.kind, str(name)), creation.seconds)
                    if "list" in match.groupdict() and isinstance(name, int):
                        entry = _Entry(self._clock.boot() + creation.seconds, _made_at(reply))
                        _put(self._listed, (root + match["list"], name), entry)


def _named(method: str, path: str, body: Any) -> Iterator[tuple[NotThereYet, Thing]]:
    """The rows that speak of a call, and what each says that it names."""
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
    """The repository that a path is in, and what follows it, without a query."""
    path = path.partition("?")[0]
    root = _ROOT.match(path)
    return ("", path) if root is None else (root.group().casefold(), path[root.end() :])


def _put(kept: OrderedDict[K, V], key: K, value: V) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > MOST:
        kept.popitem(last=False)
