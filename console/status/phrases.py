"""Phrases for a row, for a terminal and for a page alike."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from console.status.row import ItemRow, Waiting, Whom
from shared.workflow import Track

_FOR = {**dict.fromkeys((Whom.PLANNER, Whom.WORKER, Whom.REVIEWER, Whom.ITEM), ""), Whom.PERSON: "maintainer: "}
"""Beginning of the phrase; it leaves out a party that the rest names already."""

KIND = {Track.STORY: "story", Track.SPECIFICATION: "spec", Track.PULL_REQUEST: "PR"}


def held(row: ItemRow, at: datetime) -> str:
    """Return the holder, and since when; empty where nobody holds it."""
    since = f" ({ago(at - row.held_since)})" if row.held_since is not None else ""
    return f"{plain(row.holder)}{since}" if row.holder else ""


def waits(row: ItemRow, at: datetime) -> str:
    """Return the party it waits for, why and until when; empty where it waits for nothing."""
    if row.waiting is None:
        return ""
    told = _FOR.get(row.waiting.whom, f"{row.waiting.whom}: ") + plain(row.waiting.why)
    return told + until_text(row.waiting, at)


def until_text(waiting: Waiting, at: datetime) -> str:
    """Return ` until` with the latest time of the next look, without the day if that is today; empty if unknown."""
    if waiting.until is None:
        return ""
    until = waiting.until.astimezone(UTC)
    return f" until {until:%H:%M}" if until.date() == at.date() else f" until {until:%Y-%m-%d %H:%M}"


def tries(row: ItemRow) -> str:
    """Return the attempt of the implementation, or the round of a review."""
    return f"{row.attempts[0]}/{row.attempts[1]}" if row.attempts else f"round {row.round}" * bool(row.round)


def cost(row: ItemRow) -> str:
    """In US dollars; empty where there is no ledger."""
    return "" if row.usd is None else f"${row.usd:.2f}"


def ago(span: timedelta) -> str:
    """Return a duration in the two units that matter: `40s`, `12m`, `3h 5m`, `4d 2h`."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < 60:
        return f"{seconds}s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if hours < 1:
        return f"{minutes}m"
    return f"{hours}h {minutes % 60}m" if days < 1 else f"{days}d {hours % 24}h"


def plain(text: str) -> str:
    """Text of strangers without what could drive a terminal or turn its writing around."""
    return "".join(char if char.isprintable() else " " for char in text)
