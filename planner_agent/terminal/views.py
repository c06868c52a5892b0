"""The views of a story, its context, and its plan on a terminal (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from planner_agent.context import PlanningContext
from planner_agent.overlap import overlaps
from planner_agent.plan import Plan, PlannedSpecification
from shared.models import Issue
from shared.specification import SpecificationKind
from shared.text import clean, one_line, printable

STORY_LINES = 12
"""Lines of a story that are repeated to the person who wrote or chose it."""


def story(issue: Issue) -> RenderableType:
    """Return the beginning of a story."""
    lines = printable(clean(issue.body)).strip().splitlines()
    more = [f"... and {len(lines) - STORY_LINES} more lines"] if len(lines) > STORY_LINES else []
    number = f" #{issue.number}" if issue.number else ""
    body = Text("\n".join([*lines[:STORY_LINES], *more]) or "(no details)")
    return _panel(f"Story{number}", one_line(issue.title, 240), body)


def known(found: PlanningContext) -> RenderableType:
    """Return the context of the plan besides the story."""
    facts = {
        "Related": "\n".join(f"#{one.number} {one_line(one.title, 100)}" for one in found.related),
        "Files named": "\n".join(one_line(path, 200) for path in found.code.named),
        "Comments": f"{len(found.discussion.split())} words by people with write access" if found.discussion else "",
        "Conventions": "from the base branch" if found.code.conventions else "",
        "Last commits": "\n".join(found.code.commits.splitlines()[:5]),
    }
    table = Table.grid(padding=(0, 2))
    for name, value in facts.items():
        if value:
            table.add_row(Text(name, style="bold"), Text(value))
    return Panel(table, title="Context", title_align="left")


def plan(planned: Plan) -> RenderableType:
    """Return a whole plan: summary, steps, what is unclear, options, and the specifications to be."""
    hours = f"{planned.estimate_hours:g}"
    count = len(planned.specifications)
    what = f"{count} specification{'s' * (count != 1)}"
    head = f"Complexity {planned.complexity}, about {hours} hours, {what}"
    return Group(
        _panel("Plan", head, Text(planned.summary)),
        _steps(planned),
        *_unclear(planned),
        *_options(planned),
        *_specifications(planned),
    )


def _steps(planned: Plan) -> Table:
    numbers = {step.id: str(number) for number, step in enumerate(planned.steps, 1)}
    rows = (
        (numbers[step.id], step.title, ", ".join(numbers[id] for id in step.depends_on), "\n".join(step.files))
        for step in planned.steps
    )
    return _table("Steps", ("#", "step", "after", "files"), rows)


def _unclear(planned: Plan) -> Iterator[Table]:
    rows = [("yes" if one.blocking else "", one.question, one.assumption, one.impact) for one in planned.ambiguities]
    if rows:
        yield _table("Unclear", ("blocks", "question", "assumption", "what depends on it"), rows)


def _options(planned: Plan) -> Iterator[Table]:
    rows = [("chosen" if one.chosen else "", one.title, one.tradeoff) for one in planned.options]
    if rows:
        yield _table("Design options", ("", "option", "trade-off"), rows)


def _specifications(planned: Plan) -> Iterator[Panel]:
    added = overlaps(planned)
    for number, one in enumerate(planned.specifications, 1):
        waits = [f"Waits for {key}" for key in one.depends_on]
        waits += [f"Waits for {also.key}: both touch {', '.join(also.files)}" for also in added.get(one.key, ())]
        yield _panel(f"Specification {number} ({one.key})", one.title, Text("\n".join(_facts(one, waits))))


def _facts(planned: PlannedSpecification, waits: Iterable[str]) -> Iterator[str]:
    yield planned.goal
    yield ""
    yield from (f"[ ] AC{number}: {criterion}" for number, criterion in enumerate(planned.criteria, 1))
    facts = {
        "Kind": "" if planned.kind is SpecificationKind.FEATURE else str(planned.kind),
        "Size": str(planned.size or ""),
        "Files": ", ".join(planned.files),
        "Tests that may change": ", ".join(planned.may_change),
        "Out of scope": "; ".join(planned.out_of_scope),
    }
    rest = [f"{name}: {value}" for name, value in facts.items() if value] + list(waits)
    if rest:
        yield ""
        yield from rest


def _panel(name: str, head: str, body: RenderableType) -> Panel:
    """Return a box whose name fits into its frame; a longer text stands inside, where it is wrapped and not cut."""
    return Panel(Group(Text(head, style="bold"), body), title=Text(name), title_align="left")


def _table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", expand=True)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
