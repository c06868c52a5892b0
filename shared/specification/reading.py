"""Reading a specification from any issue body, whoever wrote it; arbitrary text never raises."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from shared.markdown import Item, Line, heading, items, lines
from shared.specification import model
from shared.specification.layout import (
    RELATION,
    RELATION_LINE,
    TDD_LINE,
    Part,
    part_of,
    trailer_of,
    unescape,
)
from shared.specification.model import Criterion, Settings, Specification
from shared.text import visible

_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_WORKFLOW = re.compile(r"\s*workflow:(.*)", re.DOTALL)
_PAIR = re.compile(r"(?<![\w-])([\w-]{1,40})\s{0,9}[:=]\s{0,9}([^\s,]+)")
_CRITERION = re.compile(r"(\*\*|__|)(AC[1-9]\d{0,3})(?:[:.)]\1|\1[:.)])\s+(.*)", re.IGNORECASE)
_CODE = re.compile(r"`([^`]+)`")
_SPELLINGS = {"max-attempts": "max_attempts", "timeout": "timeout_minutes"}

_WISHES = 20
"""Settings that are looked at in one body."""

T = TypeVar("T")
Sections = dict[Part, list[Line]]


def read(body: str) -> Specification:
    """The specification that `body` spells; what it cut or ignored is in `remarks`."""
    remarks: list[str] = []
    if len(body) > model.BODY_LIMIT:
        remarks.append(f"Only the first {model.BODY_LIMIT:,} of {len(body):,} characters are read.")
    body = body[: model.BODY_LIMIT]
    shown = list(lines(visible(body)))
    relations = _relations(shown)
    sections = _sections(line for line in shown if not _is_apart(line))
    criteria = _criteria(sections, remarks)
    trailer = trailer_of(body)
    return Specification(
        goal=_goal(sections[Part.GOAL], remarks),
        criteria=criteria,
        files=_capped("files", _paths(sections[Part.FILES]), remarks),
        may_change=_capped("tests that may change", _paths(sections[Part.MAY_CHANGE]), remarks),
        out_of_scope=_capped("entries out of scope", _entries(sections[Part.OUT_OF_SCOPE]), remarks),
        depends_on=_capped("dependencies", relations["depends on"], remarks),
        part_of=next(iter(relations["part of"]), None),
        settings=_settings(body, shown, remarks),
        trailer=trailer[1] if trailer else None,
        remarks=tuple(remarks),
    )


def _is_apart(line: Line) -> bool:
    """Whether a line says something of its own and belongs to no section."""
    return not line.fenced and bool(RELATION_LINE.fullmatch(line.text) or TDD_LINE.fullmatch(line.text))


def _relations(shown: list[Line]) -> dict[str, dict[int, None]]:
    found: dict[str, dict[int, None]] = {"depends on": {}, "part of": {}}
    for line in shown:
        for relation in () if line.fenced else RELATION.finditer(line.text):
            kind = "part of" if relation[1].casefold() == "part of" else "depends on"
            numbers = (int(digits) for digits in re.findall(r"\d+", relation[2]))
            found[kind].update((number, None) for number in numbers if number)
    return found


def _sections(shown: Iterable[Line]) -> Sections:
    """The lines of each section; what stands in none, other headings included, belongs to the goal."""
    sections: Sections = {part: [] for part in Part}
    current, depth = Part.GOAL, 0
    for line in shown:
        found = heading(line)
        part = part_of(found[1]) if found else None
        if found and part:
            current, depth = part, found[0]
            continue
        if found and found[0] <= depth:
            current, depth = Part.GOAL, 0
        sections[current].append(line)
    return sections


def _criteria(sections: Sections, remarks: list[str]) -> tuple[Criterion, ...]:
    listed = items(sections[Part.CRITERIA])
    wanted = [item for item in listed if item.boxed] or listed
    texts = [item.text for item in wanted if model.line_of(_criterion(item)[1], model.CRITERION_LIMIT)]
    if not texts:
        sections[Part.GOAL] += sections[Part.CRITERIA]
        return ()
    found: dict[str, Criterion] = {}
    for text in _capped("acceptance criteria", texts, remarks, model.CRITERIA_LIMIT):
        name, rest = _criterion(Item(text, boxed=True))
        name = name if name and name not in found else _unused(found)
        found[name] = Criterion(name, rest)
    return tuple(found.values())


def _criterion(item: Item) -> tuple[str, str]:
    text = _plain(item)
    named = _CRITERION.fullmatch(text)
    return (named[2].upper(), named[3]) if named else ("", text)


def _plain(item: Item) -> str:
    """An item's text; what would be structure at the start of a line is none in an item."""
    return unescape(f"- {item.text}").removeprefix("- ")


def _unused(found: dict[str, Criterion]) -> str:
    number = len(found) + 1
    while f"AC{number}" in found:
        number += 1
    return f"AC{number}"


def _goal(content: list[Line], remarks: list[str]) -> str:
    goal = model.prose(unescape("\n".join(line.text for line in content)))
    if len(goal) > model.GOAL_LIMIT:
        remarks.append(f"Only the first {model.GOAL_LIMIT:,} of {len(goal):,} characters of the goal are read.")
        goal = goal[: model.GOAL_LIMIT - 100]
    return goal


def _paths(content: list[Line]) -> Iterator[str]:
    """Every path in code style of an item, else its first word."""
    for item in items(content):
        text = _plain(item)
        yield from _CODE.findall(text) or text.split()[:1]


def _entries(content: list[Line]) -> list[str]:
    listed = [_plain(item) for item in items(content)]
    if listed:
        return listed
    paragraphs = "\n".join(line.text for line in content).split("\n\n")
    return [unescape(paragraph) for paragraph in paragraphs if paragraph.strip()]


def _capped(what: str, found: Iterable[T], remarks: list[str], limit: int = model.LIST_LIMIT) -> tuple[T, ...]:
    distinct = tuple(dict.fromkeys(found))
    if len(distinct) > limit:
        remarks.append(f"Only the first {limit} of {len(distinct):,} {what} are read.")
    return distinct[:limit]


def _settings(body: str, shown: list[Line], remarks: list[str]) -> Settings:
    settings: dict[str, float | None] = dict.fromkeys(("max_attempts", "timeout_minutes", "max_budget_usd"))
    for name, value in islice(_wishes(body, shown), _WISHES):
        try:
            if name not in settings:
                near = difflib.get_close_matches(name, settings, 1)
                raise ValueError(f"there is no such setting{f'; {near[0]} is one' if near else ''}")
            settings[name] = _checked(name, value)
        except ValueError as error:
            remarks.append(f"'{name[:40]}: {value[:40]}' is ignored: {error}.")
    attempts, minutes, budget = settings.values()
    return Settings(None if attempts is None else int(attempts), None if minutes is None else int(minutes), budget)


def _checked(name: str, value: str) -> float:
    number = re.fullmatch(r"\$?(\d{1,9}(?:\.\d{1,9})?)", value)
    if number is None:
        raise ValueError("that is not a number")
    if name == "max_budget_usd":
        Settings(max_budget_usd=float(number[1]))
        return float(number[1])
    whole = int(number[1]) if number[1].isdigit() else 0
    Settings(whole if name == "max_attempts" else None, whole if name == "timeout_minutes" else None)
    return whole


def _wishes(body: str, shown: list[Line]) -> Iterator[tuple[str, str]]:
    """What is asked for in `<!-- workflow: ... -->` and by `@tdd-...` lines, in code fences not."""
    unfenced = "\n".join(line.text for line in lines(body.replace("\r\n", "\n")) if not line.fenced)
    for comment in _COMMENT.findall(unfenced):
        workflow = _WORKFLOW.fullmatch(comment)
        yield from _PAIR.findall(workflow[1]) if workflow else ()
        yield from _spelled(comment.split("\n"))
    yield from _spelled(line.text for line in shown if not line.fenced)


def _spelled(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        found = TDD_LINE.fullmatch(text)
        if found:
            yield _SPELLINGS[found[1].casefold()], found[2]
