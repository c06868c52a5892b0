"""Settings in a body: `<!-- workflow: ... -->` and `@tdd-...` lines; arbitrary text never raises."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from itertools import islice
from typing import Any

from shared.specification.kind import SpecificationKind, kind_of, word_of
from shared.specification.layout import TDD_LINE
from shared.specification.model import Settings
from shared.text.markdown import Line, lines

_COMMENT = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_WORKFLOW = re.compile(r"\s*workflow:(.*)", re.DOTALL)
_PAIR = re.compile(r"(?<![\w-])([\w-]{1,40})\s{0,9}[:=]\s{0,9}([^\s,]+)")
_SPELLINGS = {"max-attempts": "max_attempts", "timeout": "timeout_minutes"}
_KIND = "kind"
_SIZE = "size"
_NAMES = tuple(one.name for one in fields(Settings))

_WISHES = 20
"""Settings per body that are read, at most."""


def overrides(body: str, shown: list[Line], remarks: list[str]) -> tuple[SpecificationKind, Settings]:
    """Return the kind and the settings of a body with the visible lines `shown`; ignored ones are told in `remarks`.

    A visible line goes before the hidden comment.
    """
    wishes = list(islice(_wishes(body, shown), _WISHES))
    visible = (word for line in shown if not line.fenced and (word := word_of(line.text)))
    hidden = (value.casefold() for name, value in wishes if name.casefold() == _KIND)
    kind = kind_of([*islice(visible, _WISHES), *hidden], remarks)
    return kind, _settings([wish for wish in wishes if wish[0].casefold() != _KIND], remarks)


def _settings(wishes: Iterable[tuple[str, str]], remarks: list[str]) -> Settings:
    settings = Settings()
    for name, value in wishes:
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


def _wishes(body: str, shown: list[Line]) -> Iterator[tuple[str, str]]:
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
