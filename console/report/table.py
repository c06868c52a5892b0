"""The report for people: a few tables that fit into 80 columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from console.report.figures import Cost, Figures
from console.report.item import Outcome, Touch
from console.report.rework import Reason
from console.report.targets import COST, REWORK, TRIES, ZERO_TOUCH
from console.status.phrases import ago, plain


def shown(f: Figures) -> RenderableType:
    """One repository's report."""
    heading = Text.assemble((f.repository, "bold"), f"  {f.since:%Y-%m-%d %H:%M} to {f.until:%Y-%m-%d %H:%M} UTC")
    parts: list[RenderableType] = [heading, _summary(f)]
    if f.spells:
        parts += [Text(), _stages(f)]
    if f.casts:
        parts += [Text(), _runs(f)]
    return Group(*parts)


def _summary(f: Figures) -> Table:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, told in _lines(f):
        table.add_row(name, told)
    return table


def _lines(f: Figures) -> Iterator[tuple[str, str]]:
    others = ", ".join(f"{f.outcomes[one]} {one}" for one in Outcome if one is not Outcome.MERGED)
    yield "merged", f"{f.merged} ({others})"
    if not f.merged:
        yield "cost", _cost(f.cost)
        return
    untouched = f"{_percent(f.zero_touch_rate)} ({f.zero_touch} of {f.merged}){_because(f.touches)}"
    yield "zero touch", f"{untouched}{ZERO_TOUCH.said(f.zero_touch_rate)}"
    yield "tries", f"{f.tries_mean or 0:.2f} on average; {_spread(f.tries)}{TRIES.said(f.tries_mean)}"
    yield "review rounds", _spread(f.rounds)
    young = f"; of {f.too_young} the week is not over" if f.too_young else ""
    yield "rework in 7 days", f"{_percent(f.rework_rate)}{_because(f.rework)}{young}{REWORK.said(f.rework_rate)}"
    yield "cost", f"{_cost(f.cost)}{COST.said(f.cost.per_merged)}"
    yield "claim to merge", f"{_span(f.lead_median_seconds or 0)} (median)"
    if f.setbacks:
        yield "setbacks", ", ".join(f"{plain(word)} {count}" for word, count in f.setbacks.items())


def _because(counts: Mapping[Touch, int] | Mapping[Reason, int]) -> str:
    told = ", ".join(f"{word} {count}" for word, count in counts.items())
    return f"; {told}" if told else ""


def _spread(counts: Mapping[int, int]) -> str:
    return ", ".join(f"{n} in {count} {'item' if count == 1 else 'items'}" for n, count in counts.items())


def _cost(cost: Cost) -> str:
    if cost.total is None:
        return "unknown (no cost data yet)"
    own = f" (its own runs ${cost.own:.2f})" if cost.own is not None and cost.source == "ledger" else ""
    each = f"${cost.per_merged:.2f} per merged pull request{own}, " if cost.per_merged is not None else ""
    unknown = f"; {cost.unknown_runs} runs of unknown cost" if cost.unknown_runs else ""
    where = "" if cost.source == "ledger" else "; by notes, which know the worker's runs alone"
    return f"{each}${cost.total:.2f} in all{unknown}{where}"


def _stages(f: Figures) -> Table:
    table = _table("time in stage", "items", "median", "mean")
    for one in f.spells:
        name = f"{one.track.replace('_', ' ')}: {one.stage}"
        table.add_row(name, str(one.items), _span(one.median_seconds), _span(one.mean_seconds))
    return table


def _runs(f: Figures) -> Table:
    table = _table("role, backend", "runs", "completed", "cost")
    for one in f.casts:
        rate = f"{one.completed} ({_percent(one.completed / one.runs)})"
        table.add_row(plain(f"{one.role}, {one.backend}"), str(one.runs), rate, f"${one.usd:.2f}")
    return table


def _table(first: str, *numbers: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column(first, min_width=32)
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _span(seconds: float) -> str:
    return ago(timedelta(seconds=seconds))


def _percent(rate: float | None) -> str:
    return "-" if rate is None else f"{100 * rate:.0f} %"
