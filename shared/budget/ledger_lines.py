"""The lines of the ledger: the entry in each commit of `refs/ack/ledger`, and the totals of all entries (pure).

A line is JSON: `{"v": 1, "run", "kind": "worker", "item": "#42", "reserve_usd", "until", "at"}` before a
call, `{"v": 1, "run", "actual_usd", "source", "at"}` after it, with `role`, `backend`, `ending` and `rung` where they
are known, and `resumed` for a run that continued a session: its tokens that came from the vendor's cache. Once
a day the first of them carries a balance as well: `"before": at, "items": {"#42": [usd, days since 1970]}`,
everything older than `at` added up, so that no reader needs lines from before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from shared.budget.budgets import WEEK, Books, Run
from shared.llm.port import MOST_USD, plausible_usd
from shared.llm.prices import MOST_TOKENS

VERSION = 1

REMEMBERED = timedelta(days=90)
"""Age of an item's last run at which the item leaves the balance: its count then starts again from zero."""

SLACK = timedelta(hours=1)
"""Tolerance for clock errors: lines are in the order of their commits, but their times may disagree."""

_BALANCE_EVERY = timedelta(days=1)

MOST_BALANCE_USD = 1000 * MOST_USD
"""Largest plausible cost of all runs of one item; a larger sum would refuse the item for good."""

LAST_YEAR = 9000
"""Times in this year or later are rejected: nothing could be added to them."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Balance:
    """The cost of each item's runs that began before `before`, and the day (since 1970) of the last of them."""

    before: datetime
    items: Mapping[str, tuple[float, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reservation:
    """A run about to be paid for: at most `usd` (None if the line has no valid sum), ended by `until` for certain."""

    run: str
    kind: str
    item: str
    usd: float | None
    until: datetime
    at: datetime
    balance: Balance | None = None


@dataclass(frozen=True, slots=True)
class RunDetails:
    """Role, backend and ending (a value of `shared.llm.port.Ending`) of a run; empty fields are unknown."""

    role: str = ""
    backend: str = ""
    ending: str = ""
    rung: str = ""
    """The step of the repository's model ladder, as in "2 of 3: sonnet"; empty without one."""
    resumed: int | None = None
    """Tokens of the resumed session that came from the vendor's cache; None for a run that began a new session."""


NO_DETAILS = RunDetails()
"""Value for lines written before these fields existed."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """The cost of a run and its source."""

    run: str
    usd: float
    source: str
    at: datetime
    details: RunDetails = NO_DETAILS


Entry = Reservation | Settlement


def write(entry: Entry) -> str:
    """Serialize an entry as one line."""
    line: dict[str, Any] = {"v": VERSION, "run": entry.run, "at": _text(entry.at)}
    if isinstance(entry, Settlement):
        line |= {"actual_usd": round(entry.usd, 6), "source": entry.source}
        line |= {name: word for name, word in asdict(entry.details).items() if word or word == 0}
    else:
        line |= {"kind": entry.kind, "item": entry.item, "reserve_usd": entry.usd, "until": _text(entry.until)}
        if entry.balance is not None:
            items = {item: [round(usd, 6), day] for item, (usd, day) in entry.balance.items.items()}
            line |= {"before": _text(entry.balance.before), "items": items}
    return json.dumps(line, sort_keys=True)


def read(text: str) -> Entry | None:
    """Parse a line; None if it is not an entry.

    A newer version's line counts if it has the same fields: its writer shares the budget. Newer lines with other fields
    stop agents that cannot read them (`Ledger`); lines of no known form are ignored. A settlement whose amount is
    infinite, negative or not a number is ignored: the cost of its run is unknown.
    """
    try:
        line = json.loads(text)
        if not isinstance(line, dict) or int(line["v"]) < VERSION:
            return None
        if "actual_usd" in line:
            usd = plausible_usd(line["actual_usd"])
            if usd is None:
                return None
            role, backend, ending, rung = (str(line.get(name, "")) for name in ("role", "backend", "ending", "rung"))
            resumed = line.get("resumed")
            counted = resumed if type(resumed) is int and 0 <= resumed <= MOST_TOKENS else None
            details = RunDetails(role, backend, ending, rung, counted)
            return Settlement(str(line["run"]), usd, str(line["source"]), _time(line["at"]), details)
        return Reservation(
            run=str(line["run"]),
            kind=str(line["kind"]),
            item=str(line["item"]),
            usd=plausible_usd(_number(line["reserve_usd"])),
            until=_time(line["until"]),
            at=_time(line["at"]),
            balance=_balance(line),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        return None


def books(entries: Sequence[Entry], now: datetime, unknown_run: float) -> Books:
    """Add up `entries` (oldest first) at server time `now`.

    A run without a settlement counts its reservation while it may still be running, and at least `unknown_run`
    afterwards: when its time is over, or when its item has begun another run since, because an item has one
    holder, who makes one call at a time.
    """
    balance = _newest(entries)
    start = now - WEEK
    before = {item: usd for item, (usd, _) in balance.items.items()} if balance else {}
    recent: list[Run] = []
    for run in runs(entries, now, unknown_run):
        if balance is not None and run.at < balance.before:
            continue
        if run.at < start:
            before[run.item] = before.get(run.item, 0.0) + run.usd
        else:
            recent.append(run)
    return Books(tuple(recent), before)


def balance_due(entries: Sequence[Entry], now: datetime, unknown_run: float) -> Balance | None:
    """Return the balance that the next line has to carry; None while the newest one is recent enough."""
    old, cut = _newest(entries), now - WEEK
    begun = min((entry.at for entry in entries), default=now)
    if cut - (old.before if old else begun) < _BALANCE_EVERY:
        return None
    items = dict(old.items) if old else {}
    for run in runs(entries, now, unknown_run):
        if run.at < cut and not (old and run.at < old.before):
            usd, day = items.get(run.item, (0.0, 0))
            items[run.item] = usd + run.usd, max(day, _day(run.at))
    return Balance(cut, {item: known for item, known in items.items() if known[1] >= _day(cut - REMEMBERED)})


def until_balanced() -> Callable[[Entry], bool]:
    """Make a predicate for lines, newest first: True for the first beyond which none is needed. One per reading."""
    balance: Balance | None = None

    def is_last(entry: Entry) -> bool:
        nonlocal balance
        if balance is None and isinstance(entry, Reservation):
            balance = entry.balance
        return enough(entry, balance)

    return is_last


def enough(entry: Entry, balance: Balance | None) -> bool:
    """Return whether nothing older than `entry` is needed: it lies before the `balance` that a newer line carries."""
    return balance is not None and entry.at < balance.before - SLACK


def needed(entries: Sequence[Entry]) -> list[Entry]:
    """Return `entries` without those that their newest balance has added up."""
    balance = _newest(entries)
    return [entry for entry in entries if not enough(entry, balance)]


def runs(entries: Sequence[Entry], now: datetime, unknown_run: float) -> list[Run]:
    """Return every run among `entries` (oldest first) as it counts at `now`, in the order in which they began."""
    settled = {entry.run: entry for entry in entries if isinstance(entry, Settlement)}
    reserved = {entry.run: entry for entry in entries if isinstance(entry, Reservation)}
    last = {(entry.kind, entry.item): entry.run for entry in reserved.values()}
    found = []
    for entry in reserved.values():
        end = settled.get(entry.run)
        if end is not None:
            found.append(Run(entry.run, entry.item, entry.at, end.usd, source=end.source))
        elif entry.until >= now and last[entry.kind, entry.item] == entry.run:
            usd = unknown_run if entry.usd is None else entry.usd
            found.append(Run(entry.run, entry.item, entry.at, usd, open=True))
        else:
            usd = max(entry.usd or 0.0, unknown_run)
            found.append(Run(entry.run, entry.item, entry.at, usd, source="unknown"))
    return found


def _newest(entries: Sequence[Entry]) -> Balance | None:
    carried = (entry.balance for entry in reversed(entries) if isinstance(entry, Reservation))
    return next((balance for balance in carried if balance is not None), None)


def _balance(line: Mapping[str, Any]) -> Balance | None:
    """Return the line's balance; None without one, or if a sum is implausible: then the older lines are read again."""
    if "before" not in line:
        return None
    items = {str(item): (float(usd), int(day)) for item, (usd, day) in line["items"].items()}
    before = _time(line["before"])
    if not all(0 <= usd <= MOST_BALANCE_USD and 0 <= day <= _day(before) for usd, day in items.values()):
        return None
    return Balance(before, items)


def _number(value: object) -> float:
    """Return a number, valid or not; raise `TypeError` for anything else, which another version may have written."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return value


def _day(at: datetime) -> int:
    return (at - _EPOCH).days


def _text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


def _time(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"'{text}' does not say which zone it means")
    if not 1970 <= at.year < LAST_YEAR:
        raise ValueError(f"'{text}' is no time of a run")
    return at
