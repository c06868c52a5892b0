"""Budgets: what may be paid for, from when on again, and what people read; and the ledger's lines they come from."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from shared.budget import ledger_lines
from shared.budget.budgets import Books, BudgetLimits, Period, Run, limit_states, refusal, table, warnings
from shared.budget.ledger_lines import (
    Balance,
    Entry,
    Reservation,
    RunDetails,
    Settlement,
    balance_due,
    books,
    read,
    write,
)

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)
LIMITS = BudgetLimits(issue=25, day=100, week=500)
UNKNOWN = 15.0


def ago(**span: float) -> datetime:
    return NOW - timedelta(**span)


def spent(*runs: tuple[str, datetime, float]) -> Books:
    return Books([Run(str(number), item, at, usd) for number, (item, at, usd) in enumerate(runs)])


def day_of(usd: float, *, hours: float = 1) -> Books:
    return spent(
        *((f"#{n}", ago(hours=hours), 20.0) for n in range(100, 100 + int(usd // 20))), ("#99", ago(hours=2), usd % 20)
    )


@pytest.mark.parametrize(
    ("known", "wanted", "period", "until"),
    [
        (Books(), 5, None, None),
        (spent(("#1", ago(hours=1), 20)), 5, None, None),
        (spent(("#1", ago(hours=1), 20.01)), 5, Period.ISSUE, None),
        (spent(("#2", ago(hours=1), 24)), 5, None, None),
        (Books((), {"#1": 24.0}), 5, Period.ISSUE, None),
        (spent(("#1", ago(days=6), 21)), 5, Period.ISSUE, None),
        (day_of(95), 5, None, None),
        (day_of(96), 5, Period.DAY, ago(hours=2) + timedelta(days=1)),
        (spent(("#2", ago(hours=23), 50), ("#3", ago(hours=1), 50)), 5, Period.DAY, ago(hours=-1)),
        (spent(("#2", ago(hours=23), 1), ("#3", ago(hours=20), 97)), 5, Period.DAY, ago(hours=-4)),
        (spent(("#2", ago(hours=24), 100)), 5, None, None),
        (spent(("#2", ago(days=6), 300), ("#3", ago(days=5), 198)), 5, Period.WEEK, ago(days=-1)),
        (spent(("#2", ago(days=7), 300), ("#3", ago(days=5), 198)), 5, None, None),
    ],
)
def test_what_may_be_reserved(known: Books, wanted: float, period: Period | None, until: datetime | None) -> None:
    found = refusal(known, "#1", wanted, LIMITS, NOW)
    assert (found.until if found else None) == until
    place = "issue #1" if period is Period.ISSUE else f"the last {period}"
    assert (found is None) if period is None else (found is not None and f"The budget of {place} " in found.sentence)


def test_a_refusal_says_how_much_and_until_when() -> None:
    found = refusal(day_of(96), "#1", 5, LIMITS, NOW)
    assert found is not None
    assert found.sentence == (
        "The budget of the last 24 hours leaves $4.00 of $100.00, and a run may cost $5.00: "
        "waiting until 2026-11-23 10:00 UTC."
    )
    never = refusal(Books(), "#1", 150, BudgetLimits(issue=200), NOW)
    assert never is not None
    assert never.until is None


def test_a_warning_is_given_when_a_limit_comes_to_it_and_not_again() -> None:
    before = spent(("#1", ago(hours=2), 15.0), ("#1", ago(hours=1), 5.0))
    assert [line.period for line in warnings(before, "#1", LIMITS, NOW, 5.0)] == [Period.ISSUE]
    after = spent(("#1", ago(hours=2), 20.0), ("#1", ago(hours=1), 1.0))
    assert warnings(after, "#1", LIMITS, NOW, 1.0) == ()


@pytest.mark.parametrize(
    ("usd", "headline"),
    [
        (10.0, "**Budget**\n"),
        (20.0, "**Budget nearly used up** (80% or more): issue.\n"),
        (25.0, "**Budget used up**: issue.\n"),
    ],
)
def test_the_budget_table_in_its_three_states(usd: float, headline: str) -> None:
    found = table(limit_states(spent(("#1", ago(hours=2, minutes=30), usd)), "#1", LIMITS, NOW), LIMITS, NOW)
    assert found.startswith(headline)
    assert f"| issue | ${usd:.2f} | $25.00 | ${25 - usd:.2f} | {usd / 25:.0%} | 1 | - |" in found
    assert f"| 24 hours | ${usd:.2f} | $100.00 | ${100 - usd:.2f} | {usd:.0f}% | 1 | 21 h 30 min |" in found
    assert f"| 7 days | ${usd:.2f} | $500.00 |" in found
    assert "| 6 d 21 h |" in found


def reserved(run: str, at: datetime, item: str = "#1", usd: float = 5.0, **more: object) -> Reservation:
    return Reservation(run, "worker", item, usd, at + timedelta(hours=1), at, **more)  # type: ignore[arg-type]


def settled(run: str, at: datetime, usd: float = 1.0) -> Settlement:
    return Settlement(run, usd, "claude", at)


@pytest.mark.parametrize(
    "entry",
    [
        reserved("a", NOW),
        settled("a", NOW),
        replace(settled("a", NOW), details=RunDetails("developer", "codex", "timed_out")),
        replace(settled("a", NOW), details=RunDetails("developer", "codex", "completed", resumed=0)),
        replace(settled("a", NOW), details=RunDetails("developer", "codex", "completed", resumed=70_000)),
        reserved("a", NOW, balance=Balance(ago(days=7), {"#1": (12.5, 20000)})),
    ],
)
def test_a_line_is_read_as_it_was_written(entry: Entry) -> None:
    text = write(entry)
    assert read(text) == entry
    assert "\n" not in text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"v": 2, "run": "a"}',
        "Merge",
        '{"v": 1, "run": "a", "actual_usd": "x"}',
        '{"v": 1, "run": "a", "actual_usd": 1, "source": "x", "at": "2026-01-01"}',
    ],
)
def test_what_is_no_line_counts_nothing(text: str) -> None:
    assert read(text) is None


NONSENSE = ("-100", "NaN", "Infinity", "-Infinity", "1e999", "10001", '"7"', "true", "[]", "null")
"""JSON values that an old ledger may hold as the cost of a run, because a program reported them."""


@pytest.mark.parametrize("told", NONSENSE)
def test_a_cost_that_cannot_be_is_read_as_unknown(told: str) -> None:
    begun, end = reserved("a", ago(hours=3)), write(settled("a", ago(hours=2))).replace("1.0", told)
    assert told in end
    entries = [entry for entry in (read(write(begun)), read(end)) if entry is not None]
    found = books(entries, NOW, UNKNOWN)
    assert [(run.usd, run.source) for run in found.runs] == [(UNKNOWN, "unknown")]
    assert refusal(found, "#1", 5.0, LIMITS, NOW) is None


@pytest.mark.parametrize("told", NONSENSE[:6])
def test_a_reservation_of_nonsense_counts_as_a_run_of_unknown_cost(told: str) -> None:
    entry = read(write(reserved("a", ago(minutes=3), usd=7.25)).replace("7.25", told))
    assert entry is not None
    assert [(run.usd, run.open) for run in books([entry], NOW, UNKNOWN).runs] == [(UNKNOWN, True)]


@pytest.mark.parametrize("told", ["NaN", "Infinity", "-1", "1e999", "1e308", "10000001"])
def test_a_balance_of_nonsense_is_left_out_and_what_it_added_up_is_read_again(told: str) -> None:
    line = write(reserved("b", NOW, balance=Balance(ago(days=7), {"#1": (12.5, 20000)}))).replace("12.5", told)
    entry = read(line)
    assert isinstance(entry, Reservation)
    assert entry.balance is None


@pytest.mark.parametrize("day", ["-1", "30000", "1" + "0" * 400])
def test_a_balance_whose_days_cannot_be_is_left_out(day: str) -> None:
    line = write(reserved("b", NOW, balance=Balance(ago(days=7), {"#1": (12.5, 20000)})))
    entry, honest = read(line.replace("20000", day)), read(line)
    assert isinstance(entry, Reservation)
    assert isinstance(honest, Reservation)
    assert (entry.balance, honest.balance is None) == (None, False)


ODD = (
    *('"v": 1e999', '"v": [1]', '"v": "x"', '"v": 0', '"until": 5', '"until": "9999-12-31T23:59:59+00:00"'),
    *('"until": "0001-01-01T00:00:00+14:00"', '"at": []', '"at": "2026-11-24T12:00:00"', '"reserve_usd": "5"'),
    *('"reserve_usd": [5]', '"before": 5, "items": {}', '"before": "2026-11-20T00:00:00+00:00", "items": [1]'),
    *('"before": "2026-11-20T00:00:00+00:00", "items": {"#1": [1, 20000, 3]}', '"before": "x", "items": null'),
)
"""Texts that replace a part of a correct reservation."""


@pytest.mark.parametrize("odd", [*ODD, '"x": ' + "[" * 100_000])
def test_a_line_that_no_version_wrote_counts_nothing_and_is_no_error(odd: str) -> None:
    line = write(reserved("a", NOW))
    assert read(line) is not None, "the control"
    assert read(f"{line.rstrip('}')}, {odd}}}") is None


def test_a_time_that_nothing_can_be_added_to_is_none() -> None:
    line = write(settled("a", NOW)).replace(f"{NOW:%Y-}", "9999-")
    assert "9999-" in line
    assert read(line) is None


@pytest.mark.parametrize(
    ("entries", "usd"),
    [
        ([reserved("a", ago(minutes=5))], 5),
        ([reserved("a", ago(minutes=5)), settled("a", NOW)], 1),
        ([reserved("a", ago(minutes=61))], 15),  # its time is over
        ([reserved("a", ago(minutes=5), usd=20)], 20),
        ([reserved("a", ago(minutes=61), usd=20)], 20),
        ([reserved("a", ago(minutes=9)), reserved("b", ago(minutes=5))], 20),  # its item has begun another
        ([reserved("a", ago(minutes=9)), reserved("b", ago(minutes=5)), settled("a", NOW)], 6),
        ([reserved("a", ago(minutes=9)), reserved("b", ago(minutes=5), "#2")], 10),
        ([settled("unheard of", NOW, 50)], 0),
        ([reserved("a", ago(minutes=5)), settled("a", NOW, 2), settled("a", NOW, 2)], 2),
    ],
)
def test_what_a_run_counts(entries: list[Entry], usd: float) -> None:
    found = books(entries, NOW, 15)
    assert sum(run.usd for run in found.runs) == usd


def test_what_is_older_than_a_week_is_balanced_and_its_lines_are_needed_no_more() -> None:
    old: list[Entry] = [
        reserved("a", ago(days=9)),
        settled("a", ago(days=9), 7),
        reserved("b", ago(days=10), "#2"),
        reserved("c", ago(days=1)),
        settled("c", NOW, 3),
    ]
    due = balance_due(old, NOW, 15)
    assert due is not None
    assert {item: usd for item, (usd, _) in due.items.items()} == {"#1": 7, "#2": 15}
    carried: list[Entry] = [*old, reserved("d", NOW, "#3", balance=due)]
    whole, short = books(carried, NOW, 15), books(carried[3:], NOW, 15)
    assert whole == short
    assert limit_states(short, "#1", LIMITS, NOW)[0].used == 10
    assert balance_due(carried, NOW, 15) is None
    assert balance_due(carried, NOW + timedelta(days=2), 15) is not None
    assert ledger_lines.needed(carried) == carried[3:]
    assert [ledger_lines.enough(entry, due) for entry in carried] == [True, True, True, False, False, False]


def test_a_balance_follows_a_balance_and_forgets_in_the_end() -> None:
    first = Balance(ago(days=9), {"#1": (7.0, (ago(days=9) - datetime(1970, 1, 1, tzinfo=UTC)).days), "#0": (9.0, 100)})
    entries: list[Entry] = [
        reserved("x", ago(days=10)),
        reserved("a", ago(days=8)),
        settled("a", ago(days=8), 2),
        reserved("b", ago(days=2), balance=first),
    ]
    due = balance_due(entries, NOW, 15)
    assert due is not None
    assert {item: usd for item, (usd, _) in due.items.items()} == {"#1": 9.0}


@pytest.mark.parametrize("told", [None, -1, True, 1.5, "70", 10**12, []])
def test_tokens_of_a_session_that_cannot_be_tell_nothing(told: object) -> None:
    line = json.loads(write(settled("a", NOW)))
    entry = read(json.dumps({**line, "resumed": told}))
    assert isinstance(entry, Settlement)
    assert (entry.details.resumed, entry.usd) == (None, settled("a", NOW).usd)
