"""The parser of specifications: reads any issue body, whoever wrote it; arbitrary text never raises."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from itertools import islice
from typing import Any, TypeVar

from shared.specification import model
from shared.specification.kind import SpecificationKind, kind_of, said_size, says_kind, size_of, word_of
from shared.specification.layout import (
    NAMES_AN_ISSUE,
    RELATION,
    RELATION_LINE,
    TDD_LINE,
    SectionName,
    part_of,
    trailer_of,
    unescape,
)
from shared.specification.model import Criterion, Settings, Specification
from shared.text import visible
from shared.text.markdown import Item, Line, heading, items, lines

_CRITERION = re.compile(r"(\*\*|__|)(AC[1-9]\d{0,3})(?:[:.)]\1|\1[:.)])\s+(.*)", re.IGNORECASE)
_NAMES_FILES = re.compile(r"^ {0,3}#{1,6}[ \t].*(?:files|tests that may change)", re.IGNORECASE | re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")
_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_WORKFLOW = re.compile(r"\s*workflow:(.*)", re.DOTALL)
_PAIR = re.compile(r"(?<![\w-])([\w-]{1,40})\s{0,9}[:=]\s{0,9}([^\s,]+)")
_SPELLINGS = {"max-attempts": "max_attempts", "timeout": "timeout_minutes"}
_KIND = "kind"
_SIZE = "size"
_NAMES = tuple(one.name for one in fields(Settings))

_MOST_SETTINGS = 20
"""Settings per body that are read, at most."""

T = TypeVar("T")
Sections = dict[SectionName, list[Line]]


def read(body: str) -> Specification:
    """Parse the specification in `body`; text that was cut or ignored is told in `remarks`."""
    remarks: list[str] = []
    if len(body) > model.BODY_LIMIT:
        remarks.append(f"Only the first {model.BODY_LIMIT:,} of {len(body):,} characters are read.")
    body = body[: model.BODY_LIMIT]
    shown = list(lines(visible(body)))
    relations = _relations(shown)
    sections = _sections(line for line in shown if not _is_apart(line))
    criteria = _criteria(sections, remarks)
    kind, settings = _kind_and_settings(body, shown, remarks)
    trailer = trailer_of(body)
    return Specification(
        goal=_goal(sections[SectionName.GOAL], remarks),
        criteria=criteria,
        files=_cap("files", _paths(sections[SectionName.FILES]), remarks),
        may_change=_cap("tests that may change", _paths(sections[SectionName.MAY_CHANGE]), remarks),
        out_of_scope=_cap("entries out of scope", _entries(sections[SectionName.OUT_OF_SCOPE]), remarks),
        depends_on=_cap("dependencies", relations["depends on"], remarks),
        part_of=next(iter(relations["part of"]), None),
        settings=settings,
        kind=kind,
        size=size_of(line.text for line in shown if not line.fenced),
        trailer=trailer[1] if trailer else None,
        remarks=tuple(remarks),
        unread=tuple(dict.fromkeys(_unread(shown)))[: model.LIST_LIMIT],
    )


def touched(body: str) -> frozenset[str]:
    """Return the files that a body names as its own; a body without such a heading costs next to nothing."""
    return read(body).touched if _NAMES_FILES.search(body) else frozenset()


def _is_apart(line: Line) -> bool:
    """Return whether a line is a setting or relation of its own and belongs to no section."""
    if line.fenced or not line.text.strip():
        return False
    is_setting = RELATION_LINE.fullmatch(line.text) or TDD_LINE.fullmatch(line.text)
    return bool(is_setting) or says_kind(line.text) or said_size(line.text) is not None


def _relations(shown: list[Line]) -> dict[str, dict[int, None]]:
    found: dict[str, dict[int, None]] = {"depends on": {}, "part of": {}}
    for line in shown:
        for relation in () if line.fenced else RELATION.finditer(line.text):
            kind = "part of" if relation[1].casefold() == "part of" else "depends on"
            numbers = (int(digits) for digits in re.findall(r"\d+", relation[2]))
            found[kind].update((number, None) for number in numbers if number)
    return found


def _unread(shown: list[Line]) -> Iterator[str]:
    """Yield lines that name an issue in no form that is understood; code spans are quotations and name none."""
    for line in shown:
        left = "" if line.fenced else RELATION.sub(" ", _CODE.sub(" ", line.text))
        if NAMES_AN_ISSUE.search(left):
            yield model.line_of(line.text, model.ITEM_LIMIT)


def _sections(shown: Iterable[Line]) -> Sections:
    """Return the lines of each section; lines outside them, other headings included, belong to the goal."""
    sections: Sections = {part: [] for part in SectionName}
    current, depth = SectionName.GOAL, 0
    for line in shown:
        found = heading(line)
        part = part_of(found[1]) if found else None
        if found and part:
            current, depth = part, found[0]
            continue
        if found and found[0] <= depth:
            current, depth = SectionName.GOAL, 0
        sections[current].append(line)
    return sections


def _criteria(sections: Sections, remarks: list[str]) -> tuple[Criterion, ...]:
    listed = items(sections[SectionName.CRITERIA])
    wanted = [item for item in listed if item.boxed] or listed
    texts = [item.text for item in wanted if model.line_of(_criterion(item)[1], model.CRITERION_LIMIT)]
    if not texts:
        sections[SectionName.GOAL] += sections[SectionName.CRITERIA]
        return ()
    found: dict[str, Criterion] = {}
    for text in _cap("acceptance criteria", texts, remarks, model.CRITERIA_LIMIT):
        name, rest = _criterion(Item(text, boxed=True))
        name = name if name and name not in found else _unused_id(found)
        found[name] = Criterion(name, rest)
    return tuple(found.values())


def _criterion(item: Item) -> tuple[str, str]:
    text = _plain(item)
    named = _CRITERION.fullmatch(text)
    return (named[2].upper(), named[3]) if named else ("", text)


def _plain(item: Item) -> str:
    """Return an item's text unescaped; patterns for the start of a line do not apply in an item."""
    return unescape(f"- {item.text}").removeprefix("- ")


def _unused_id(found: dict[str, Criterion]) -> str:
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
    """Yield every path in code style of an item, else its first word."""
    for item in items(content):
        text = _plain(item)
        yield from _CODE.findall(text) or text.split()[:1]


def _entries(content: list[Line]) -> list[str]:
    listed = [_plain(item) for item in items(content)]
    if listed:
        return listed
    paragraphs = "\n".join(line.text for line in content).split("\n\n")
    return [unescape(paragraph) for paragraph in paragraphs if paragraph.strip()]


def _cap(kind: str, found: Iterable[T], remarks: list[str], limit: int = model.LIST_LIMIT) -> tuple[T, ...]:
    distinct = tuple(dict.fromkeys(found))
    if len(distinct) > limit:
        remarks.append(f"Only the first {limit} of {len(distinct):,} {kind} are read.")
    return distinct[:limit]


def _kind_and_settings(body: str, shown: list[Line], remarks: list[str]) -> tuple[SpecificationKind, Settings]:
    """Return the kind and the settings of a body with the visible lines `shown`; ignored ones are told in `remarks`.

    A visible line goes before the hidden comment.
    """
    pairs = list(islice(_setting_lines(body, shown), _MOST_SETTINGS))
    visible = (word for line in shown if not line.fenced and (word := word_of(line.text)))
    hidden = (value.casefold() for name, value in pairs if name.casefold() == _KIND)
    kind = kind_of([*islice(visible, _MOST_SETTINGS), *hidden], remarks)
    return kind, _settings([one for one in pairs if one[0].casefold() != _KIND], remarks)


def _settings(pairs: Iterable[tuple[str, str]], remarks: list[str]) -> Settings:
    settings = Settings()
    for name, value in pairs:
        try:
            if name not in {*_NAMES, _SIZE}:
                near = difflib.get_close_matches(name, [*_NAMES, _KIND], 1)
                raise ValueError(f"there is no such setting{f'; {near[0]} is one' if near else ''}")
            settings = replace(settings, **{name: _setting_value(name, value)})
        except ValueError as error:
            remarks.append(f"'{name[:40]}: {value[:40]}' is ignored: {error}.")
    return settings


def _setting_value(name: str, value: str) -> Any:
    if name == _SIZE:
        raise ValueError("it counts on a line of its own, as in `Size: large`, where people see it")
    number = re.fullmatch(r"\$?(\d{1,9}(?:\.\d{1,9})?)", value)
    if number is None:
        raise ValueError("that is not a number")
    if name == "max_budget_usd":
        return float(number[1])
    return int(number[1]) if number[1].isdigit() else 0


def _setting_lines(body: str, shown: list[Line]) -> Iterator[tuple[str, str]]:
    """Yield name and value of each setting in `<!-- workflow: ... -->` and `@tdd-...` lines, except in code fences."""
    unfenced = "\n".join(line.text for line in lines(body.replace("\r\n", "\n")) if not line.fenced)
    for comment in _COMMENT.findall(unfenced):
        workflow = _WORKFLOW.fullmatch(comment)
        yield from _PAIR.findall(workflow[1]) if workflow else ()
        yield from _tdd_settings(comment.split("\n"))
    yield from _tdd_settings(line.text for line in shown if not line.fenced)


def _tdd_settings(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    for text in texts:
        found = TDD_LINE.fullmatch(text)
        if found:
            yield _SPELLINGS[found[1].casefold()], found[2]
