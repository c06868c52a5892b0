"""Runs `workflow-engine report`: reads, reckons, prints.

The report for programs: JSON of a shape that stays; docs/observability.md lists its fields. The report for people:
a few tables that fit into 80 columns. Reads what a report is made of with one fetch: fences, notes, the ledger, and
the base branch's history.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from json import dumps
from pathlib import Path
from typing import Any

import anyio
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from config.loading import load
from config.settings import Settings
from console.events import moment
from console.history import fences
from console.history.fences import MOST_BYTES
from console.history.repository_reader import OpenRepository, visited
from console.report.figures import (
    COST,
    REWORK,
    TRIES,
    ZERO_TOUCH,
    BackendRuns,
    Cost,
    Facts,
    Figures,
    Spell,
    figures,
    judged,
    within,
)
from console.report.item import Item, Touch, WorkState, items, stories
from console.report.rework import LAYOUT, Landed, Reason, read, rework
from console.status.phrases import ago, plain
from reviewer_agent.after_merge.record import PREFIX, answered
from runtime.building.sign_in import with_gh_token
from runtime.exit_codes import OK, complain
from shared.clock import Clock
from shared.errors import EngineError, Misconfigured
from shared.git import notes
from shared.git.command import Identity
from shared.git.mirror import BRANCHES, Mirror
from shared.git.notes import Note, Notes
from shared.lock.codec import FENCE_NAMESPACE


def reported(
    repository: str,
    since: str,
    config: Path | None,
    environment: Mapping[str, str],
    clock: Clock,
    *,
    json: bool = False,
) -> int:
    """Print the report since a time as people write it.

    Return 0, 1 when GitHub did not answer, 2 for arguments or configuration, 4 for rights.
    """
    try:
        settings = load(config, repository=repository, environment=environment)
        _since(since, datetime.fromtimestamp(clock.now(), UTC))  # before GitHub is asked, whose time counts then
        found = anyio.run(_figures, since, settings, with_gh_token(settings, environment), clock)
    except EngineError as error:
        return complain(error)
    if json:
        sys.stdout.write(f"{document(found)}\n")
    else:
        Console(highlight=False).print(shown(found))
    return OK


async def _figures(since: str, settings: Settings, environment: Mapping[str, str], clock: Clock) -> Figures:
    async with visited(settings, environment, clock) as ((visit,), _):
        facts = await gathered(visit, _since(since, visit.adapters.server_time()))
        return figures(visit.configured.name, facts, settings.budgets.unknown_run)


def _since(text: str, now: datetime) -> datetime:
    try:
        since = moment(text, now)
    except (ValueError, OverflowError):
        raise Misconfigured(f"--since: '{text}' is no time; write it as 2026-11-22T08:30, or as 30d.") from None
    if since >= now:
        raise Misconfigured(f"--since: '{text}' is not before now ({now:%Y-%m-%dT%H:%M} UTC).")
    return since


VERSION = 1


def document(f: Figures) -> str:
    """One line of JSON. Rates are parts of 1, costs US dollars; null means that nothing is known."""
    rework = {"rate": _round(f.rework_rate), "reasons": _words(f.rework), "week_not_over": f.too_young}
    return dumps(
        {
            "version": VERSION,
            "repository": f.repository,
            "since": _time(f.since),
            "until": _time(f.until),
            "outcomes": _words(f.outcomes),
            "zero_touch": {"items": f.zero_touch, "rate": _round(f.zero_touch_rate), "touches": _words(f.touches)},
            "tries": {"mean": _round(f.tries_mean), "distribution": _words(f.tries)},
            "rounds": _words(f.rounds),
            "rework": rework,
            "cost_usd": _cost(f.cost),
            "lead_median_seconds": f.lead_median_seconds,
            "stages": [_spell(one) for one in f.spells],
            "runs": [_backend_runs(one) for one in f.backend_runs],
            "resumed": {"runs": f.resumed.runs, "cached_tokens": f.resumed.cached_tokens},
            "setbacks": dict(f.setbacks),
            "targets": {
                name: {"target": target.bound, "at_least": target.at_least, "met": target.met(value)}
                for name, (target, value) in judged(f).items()
            },
        }
    )


def _cost(cost: Cost) -> dict[str, Any]:
    return {
        "source": cost.source,
        "total": _round(cost.total),
        "per_merged": _round(cost.per_merged),
        "own_mean": _round(cost.own),
        "unknown_runs": cost.unknown_runs,
    }


def _spell(one: Spell) -> dict[str, Any]:
    return {
        "kind": one.track,
        "stage": one.stage,
        "items": one.items,
        "median_seconds": one.median_seconds,
        "mean_seconds": _round(one.mean_seconds),
    }


def _backend_runs(entry: BackendRuns) -> dict[str, Any]:
    return {
        "role": entry.role,
        "backend": entry.backend,
        "rung": entry.rung,
        "merged": entry.merged,
        "runs": entry.runs,
        "completed": entry.completed,
        "rate": _round(entry.completed / entry.runs),
        "cost_usd": _round(entry.usd),
    }


def _words(counts: Any) -> dict[str, int]:
    return {str(word): count for word, count in counts.items()}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _time(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds")


def shown(f: Figures) -> RenderableType:
    """One repository's report."""
    heading = Text.assemble((f.repository, "bold"), f"  {f.since:%Y-%m-%d %H:%M} to {f.until:%Y-%m-%d %H:%M} UTC")
    parts: list[RenderableType] = [heading, _summary(f)]
    if f.spells:
        parts += [Text(), _stages(f)]
    if f.backend_runs:
        parts += [Text(), _runs(f)]
    return Group(*parts)


def _summary(f: Figures) -> Table:
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, told in _lines(f):
        table.add_row(name, Text(told))  # brackets are no markup
    return table


def _lines(f: Figures) -> Iterator[tuple[str, str]]:
    others = ", ".join(f"{f.outcomes[one]} {one}" for one in WorkState if one is not WorkState.MERGED)
    yield "merged", f"{f.merged} ({others})"
    if not f.merged:
        for name, target in (("zero touch", ZERO_TOUCH), ("tries", TRIES), ("rework in 7 days", REWORK)):
            yield name, f"-{target.formatted(None)}"
        yield "cost", f"{_cost_cell(f.cost)}{COST.formatted(None)}"
        return
    untouched = f"{_percent(f.zero_touch_rate)} ({f.zero_touch} of {f.merged}){_because(f.touches)}"
    yield "zero touch", f"{untouched}{ZERO_TOUCH.formatted(f.zero_touch_rate)}"
    yield "tries", f"{f.tries_mean or 0:.2f} on average; {_spread(f.tries)}{TRIES.formatted(f.tries_mean)}"
    yield "review rounds", _spread(f.rounds)
    young = f"; of {f.too_young} the week is not over" if f.too_young else ""
    yield "rework in 7 days", f"{_percent(f.rework_rate)}{_because(f.rework)}{young}{REWORK.formatted(f.rework_rate)}"
    yield "cost", f"{_cost_cell(f.cost)}{COST.formatted(f.cost.per_merged)}"
    if f.resumed.runs:
        runs = f"{f.resumed.runs} run{'s' * (f.resumed.runs != 1)}"
        yield "continued", f"{runs}, {f.resumed.cached_tokens:,} tokens from the vendor's cache instead of anew"
    yield "claim to merge", f"{_span(f.lead_median_seconds or 0)} (median)"
    if f.setbacks:
        yield "setbacks", ", ".join(f"{plain(word)} {count}" for word, count in f.setbacks.items())


def _because(counts: Mapping[Touch, int] | Mapping[Reason, int]) -> str:
    told = ", ".join(f"{word} {count}" for word, count in counts.items())
    return f"; {told}" if told else ""


def _spread(counts: Mapping[int, int]) -> str:
    return ", ".join(f"{n} in {count} {'item' if count == 1 else 'items'}" for n, count in counts.items())


def _cost_cell(cost: Cost) -> str:
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
    table = _table("role, backend", "runs", "completed", "last before a merge", "cost")
    for one in f.backend_runs:
        rate = f"{one.completed} ({_percent(one.completed / one.runs)})"
        who = ", ".join(filter(None, (one.role, one.backend, one.rung and f"rung {one.rung}")))
        table.add_row(plain(who), str(one.runs), rate, str(one.merged), f"${one.usd:.2f}")
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


NOTES = "refs/notes/workflow"

SLACK = timedelta(days=1)
"""Time before the first merge from which the base's history is read: commits carry the dates of other clocks."""

_NOBODY = Identity("", "")
"""Reading notes needs no name."""


async def gathered(visit: OpenRepository, since: datetime) -> Facts:
    """Everything since a time (server's). Raises `Transient` and `Blocked`."""
    mirror, until = visit.mirror, visit.adapters.server_time()
    spaces = (f"+{space}/*:{space}/*" for space in (FENCE_NAMESPACE, NOTES))
    await mirror.fetch(BRANCHES, *spaces)
    chains = await fences.chains(mirror)
    found = items(chains)
    merged = [item for item in within(found, since, until) if item.outcome is WorkState.MERGED]
    costs, setbacks = await _read_notes(visit, merged)
    base = visit.configured.base_branch or visit.adapters.repository.default_branch
    return Facts(
        since=since,
        until=until,
        items=found,
        stories=stories(chains),
        rework=rework(merged, await _history(mirror, base, merged), await _turned_red(mirror)),
        ledger=await fences.ledger(mirror, whole=True),
        notes=costs,
        setbacks=setbacks,
    )


async def _history(mirror: Mirror, base: str, merged: Sequence[Item]) -> tuple[Landed, ...]:
    """Return the base's own commits since the first merge, each with the files that it changed."""
    if not merged or await mirror.tip(base) is None:
        return ()
    start = min(item.ended_at for item in merged) - SLACK
    verb = ("log", "--first-parent", "--diff-merges=first-parent", "-z", "--name-only", "--no-renames")
    span = (f"--format={LAYOUT}", f"--since-as-filter={start.isoformat()}", f"refs/heads/{base}", "--")
    return read((await mirror.git.run(*verb, *span, cap=MOST_BYTES)).stdout.decode("utf-8", "replace"))


async def _turned_red(mirror: Mirror) -> frozenset[int]:
    """Return the pull requests whose merge the reviewer answered because checks of their base failed afterwards."""
    return answered((await mirror.git.run("for-each-ref", "--format=%(refname)", PREFIX)).text.splitlines())


async def _read_notes(visit: OpenRepository, merged: Iterable[Item]) -> tuple[dict[int, float | None], dict[str, int]]:
    """Return costs and setbacks from the authentic notes of merged items; notes signed with another key are ignored."""
    told, setbacks = Notes(visit.mirror.git, _NOBODY), Counter[str]()
    costs: dict[int, float | None] = {}
    for item in merged:
        texts = await told.all(f"{NOTES}/issue-{item.number}")
        found = [note for text in texts.values() if (note := notes.read(text, visit.keys)) is not None]
        costs[item.number] = _cost_of(found)
        setbacks.update(error.type for note in found for error in (note.error, *note.rolled_back) if error is not None)
    return costs, dict(setbacks)


def _cost_of(found: Sequence[Note]) -> float | None:
    """Return the sum of the notes' costs; None without a note, or with a phase of unknown cost."""
    known = [note.cost_usd for note in found if note.cost_usd is not None]
    return sum(known) if found and len(known) == len(found) else None
