"""The states of issues and pull requests that this process has seen or written, to compare GitHub's answers (pure).

A replica that lags shows an item as it was before. One that is older than a state seen already is no answer. One
that lacks a label of ours looks like a person's order to stop; the item's events tell if it is one.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import unquote

OWN_SECONDS = 120.0
"""Seconds (boot clock) for which GitHub's answers about an item are compared with our writes."""

SEEN_SECONDS = 600.0
"""Seconds (boot clock) after which a state that was seen is forgotten: nothing has been compared with it for long."""

MOST = 500
"""Most items whose label changes are remembered."""

MOST_SEEN = 5000
"""Most items whose newest seen state is remembered."""


@dataclass(frozen=True, slots=True)
class SeenVersion:
    """The server time of an item's last change, and the boot time at which it was first shown so."""

    at: datetime
    boot: float


_LIST = re.compile(r".*/(?:issues|pulls)")
_LABELS = re.compile(r"(?P<item>.*/issues/\d+)/labels(?:/(?P<name>[^/]+))?")
_ITEM = re.compile(r"(?P<root>.*)/(?:issues|pulls)/(?P<number>\d+)")


@dataclass(frozen=True, slots=True)
class Write:
    """The last write of one label: set or taken off, and when (server time, boot clock)."""

    label: str
    there: bool
    at: datetime
    boot: float


Written = Mapping[str, Write]
"""Label (casefolded) -> its last write. Each has a time of its own: others move the same labels in between."""


class ItemVersions:
    """The newest states that one client knows of each item."""

    def __init__(self) -> None:
        self._items: OrderedDict[str, dict[str, Write]] = OrderedDict()
        self._seen: OrderedDict[str, SeenVersion] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of remembered states and of items with remembered writes."""
        return len(self._seen) + len(self._items)

    def listed(self, path: str, value: Any, boot: float) -> None:
        """Note that a list of items was read: single readings from now on are not older."""
        match = _LIST.fullmatch(path)
        for one in value if match is not None and isinstance(value, list) else ():
            at = _updated_at(one)
            if at is not None and isinstance(one.get("number"), int):
                self._see(f"{path}/{one['number']}".casefold(), at, boot)

    def behind(self, path: str, value: Any, boot: float) -> bool:
        """Return whether an item was shown newer just now: in a list, as an issue or as a pull request."""
        at = _updated_at(value)
        others = (self._seen.get(path.casefold()), self._seen.get(_other(path).casefold()))
        return at is not None and any(one is not None and at < one.at and _is_fresh(one, boot) for one in others)

    def backwards(self, path: str, value: Any, boot: float) -> bool:
        """Return whether the same request was answered with a newer state, `OWN_SECONDS` ago at most.

        After that time the older state is believed: something has been taken back.
        """
        at, seen = _updated_at(value), self._seen.get(path.casefold())
        if at is None or _ITEM.fullmatch(path) is None:
            return False
        if seen is not None and at < seen.at and _is_fresh(seen, boot):
            return True
        self._see(path.casefold(), at, boot, anew=True)
        return False

    def _see(self, key: str, at: datetime, boot: float, *, anew: bool = False) -> None:
        seen = self._seen.get(key)
        if seen is not None and (at == seen.at or (at < seen.at and not anew)):
            return
        self._seen[key] = SeenVersion(at, boot)
        self._seen.move_to_end(key)
        while len(self._seen) > MOST_SEEN or boot - next(iter(self._seen.values())).boot >= SEEN_SECONDS:
            self._seen.popitem(last=False)

    def note(self, method: str, path: str, body: Any, *, at: datetime, boot: float) -> None:
        """Note a write that was carried out; those that change no labels are ignored."""
        match = _LABELS.fullmatch(path)
        if match is None or method not in {"POST", "DELETE"}:
            return
        written = self._items.setdefault(match["item"].casefold(), {})
        self._items.move_to_end(match["item"].casefold())
        there = method == "POST"
        for name in _names(body) if there else [unquote(match["name"] or "")]:
            written[name.casefold()] = Write(name, there, at, boot)
        while self._items and (len(self._items) > MOST or _are_old(next(iter(self._items.values())), boot)):
            self._items.popitem(last=False)

    def older(self, path: str, value: Any, boot: float) -> Written | None:
        """Return our writes that GitHub does not show, if the item as shown is not younger than they are."""
        key, at = _key(path), _updated_at(value)
        written = None if key is None else self._items.get(key)
        if written is None or at is None:
            return None
        shown = {name.casefold() for name in _names(value)}
        lacking = {
            name: one
            for name, one in written.items()
            if name and one.there is not (name in shown) and at <= one.at and boot - one.boot < OWN_SECONDS
        }
        return lacking or None


def applied(written: Written, value: Any) -> Any:
    """Return the item with our writes."""
    kept = [one for one in value["labels"] if _name(one).casefold() not in written]
    return {**value, "labels": [*kept, *({"name": one.label} for one in written.values() if one.there)]}


def undone_at(written: Written, events: Iterable[Any]) -> datetime | None:
    """Return when somebody has changed one of these labels since, by the item's events; None if nobody has.

    Events are in order and timed by the second. In the second of our own write only those after it count.
    """
    found, told = None, set[str]()
    for event in events:
        name = _name(event.get("label") or "").casefold()
        ours = written.get(name)
        if ours is None or event.get("event") not in {"labeled", "unlabeled"}:
            continue
        at, second = datetime.fromisoformat(event["created_at"]), ours.at.replace(microsecond=0)
        if event["event"] == ("labeled" if ours.there else "unlabeled"):
            if at >= second:
                told.add(name)
        elif at > second or (at == second and name in told):
            found = at
    return found


def updated_at(value: Any) -> datetime:
    """Read when an item has changed last; raises KeyError, TypeError and ValueError."""
    return datetime.fromisoformat(value["updated_at"])


def _key(path: str) -> str | None:
    match = _ITEM.fullmatch(path)
    return None if match is None else f"{match['root']}/issues/{match['number']}".casefold()


def _other(path: str) -> str:
    """Return the pull request's path for an issue's, and the other way round."""
    match = _ITEM.fullmatch(path)
    if match is None:
        return ""
    return f"{match['root']}/{'pulls' if '/issues/' in path else 'issues'}/{match['number']}"


def _are_old(written: Written, boot: float) -> bool:
    return all(boot - one.boot >= OWN_SECONDS for one in written.values())


def _is_fresh(version: SeenVersion, boot: float) -> bool:
    return boot - version.boot < OWN_SECONDS


def _updated_at(value: Any) -> datetime | None:
    try:
        return updated_at(value)
    except (KeyError, TypeError, ValueError):
        return None


def _names(value: Any) -> list[str]:
    labels = value.get("labels") if isinstance(value, Mapping) else None
    return [_name(one) for one in labels] if isinstance(labels, list) else []


def _name(label: Any) -> str:
    return str(label["name"]) if isinstance(label, Mapping) else str(label)
