"""The lines of the ledger: what each commit of `refs/ack/ledger` says, and the books that they add up to (pure).

A line is JSON: `{"v": 1, "run", "kind": "worker", "item": "#42", "reserve_usd", "until", "at"}` before a
call, `{"v": 1, "run", "actual_usd", "source", "at"}` after it, with `role`, `backend`, `ending` and `rung` where they
are known, and `resumed` for a run that went on in a session: tokens of that which came from the vendor's cache. Once
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
from shared.llm.port import MOST_USD, money
from shared.llm.prices import MOST_TOKENS

VERSION = 1

REMEMBERED = timedelta(days=90)
"""An item without a run for so long leaves the balance: its count begins anew."""

SLACK = timedelta(hours=1)
"""Lines are in the order of their commits; the times in them may disagree by the clocks' errors."""

_BALANCE_EVERY = timedelta(days=1)

MOST_BALANCE_USD = 1000 * MOST_USD
"""What all runs of one item may have cost together; a larger sum would refuse the item for good."""

LAST_YEAR = 9000
"""Later times are not believed: nothing could be added to them."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Balance:
    """What every item's runs that began before `before` have cost, and on which day the last of them began."""

    before: datetime
    items: Mapping[str, tuple[float, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reservation:
    """A run is about to be paid for: `usd` at most, ended by `until` for certain. None: the line names no sane sum."""

    run: str
    kind: str
    item: str
    usd: float | None
    until: datetime
    at: datetime
    balance: Balance | None = None


@dataclass(frozen=True, slots=True)
class Played:
    """Who made a run as which role, and how it ended (a word of `shared.llm.port.Ending`); empty: nobody knows."""

    role: str = ""
    backend: str = ""
    ending: str = ""
    rung: str = ""
    """The step of the repository's ladder, as in "2 of 3: sonnet"; empty without one."""
    resumed: int | None = None
    """Tokens of a session that it went on in, read from the vendor's cache; None for a run that began anew."""


UNTOLD = Played()
"""What lines say that were written before anybody asked."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a run has cost, and who says so."""

    run: str
    usd: float
    source: str
    at: datetime
    played: Played = UNTOLD


Entry = Reservation | Settlement


def write(entry: Entry) -> str:
    """One line."""
    line: dict[str, Any] = {"v": VERSION, "run": entry.run, "at": _text(entry.at)}
    if isinstance(entry, Settlement):
        line |= {"actual_usd": round(entry.usd, 6), "source": entry.source}
        line |= {name: word for name, word in asdict(entry.played).items() if word or word == 0}
    else:
        line |= {"kind": entry.kind, "item": entry.item, "reserve_usd": entry.usd, "until": _text(entry.until)}
        if entry.balance is not None:
            items = {item: [round(usd, 6), day] for item, (usd, day) in entry.balance.items.items()}
            line |= {"before": _text(entry.balance.before), "items": items}
    return json.dumps(line, sort_keys=True)


def read(text: str) -> Entry | None:
    """The entry that a line spells; None for anything else.

    A newer version's line counts as far as it says the same: whoever wrote it spends from the same purse. One that
    says something else stops whoever cannot read it (`Ledger`); what no version wrote counts nothing. A
    settlement of infinitely much, of less than nothing or of what is no number is none: its run's cost is unknown.
    """
    try:
        line = json.loads(text)
        if not isinstance(line, dict) or int(line["v"]) < VERSION:
            return None
        if "actual_usd" in line:
            usd = money(line["actual_usd"])
            if usd is None:
                return None
            role, backend, ending, rung = (str(line.get(name, "")) for name in ("role", "backend", "ending", "rung"))
            played = Played(role, backend, ending, rung, _tokens(line.get("resumed")))
            return Settlement(str(line["run"]), usd, str(line["source"]), _time(line["at"]), played)
        return Reservation(
            run=str(line["run"]),
            kind=str(line["kind"]),
            item=str(line["item"]),
            usd=money(_number(line["reserve_usd"])),
            until=_time(line["until"]),
            at=_time(line["at"]),
            balance=_balance(line),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError):
        return None


def books(entries: Sequence[Entry], now: datetime, unknown_run: float) -> Books:
    """What `entries` (oldest first) add up to at server time `now`.

    A run without a settlement counts what it reserved as long as it may go on, and at least
    `unknown_run` once it cannot: its time is over, or its item has begun another one since, because
    an item has one holder, who makes one call at a time.
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
    """The balance that the next line has to carry; None while the newest one is good enough."""
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
    """What says of lines, newest first, from which on nothing older is needed; one for each reading."""
    balance: Balance | None = None

    def is_last(entry: Entry) -> bool:
        nonlocal balance
        if balance is None and isinstance(entry, Reservation):
            balance = entry.balance
        return enough(entry, balance)

    return is_last


def enough(entry: Entry, balance: Balance | None) -> bool:
    """Whether nothing older than `entry` is needed: it lies before the `balance` that a newer line carries."""
    return balance is not None and entry.at < balance.before - SLACK


def needed(entries: Sequence[Entry]) -> list[Entry]:
    """`entries` without what their newest balance has added up."""
    balance = _newest(entries)
    return [entry for entry in entries if not enough(entry, balance)]


def runs(entries: Sequence[Entry], now: datetime, unknown_run: float) -> list[Run]:
    """Every run among `entries` (oldest first) as it counts at `now`, in the order in which they began."""
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
    """None without one, and for one with a sum that cannot be: then the lines that it added up are read again."""
    if "before" not in line:
        return None
    items = {str(item): (float(usd), int(day)) for item, (usd, day) in line["items"].items()}
    before = _time(line["before"])
    if not all(0 <= usd <= MOST_BALANCE_USD and 0 <= day <= _day(before) for usd, day in items.values()):
        return None
    return Balance(before, items)


def _tokens(value: object) -> int | None:
    """A count of tokens that can be; anything else tells nothing."""
    believed = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_TOKENS
    return value if believed and isinstance(value, int) else None


def _number(value: object) -> float:
    """A number, sane or not; anything else is another version's way to say it, which nobody here can read."""
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
