"""A specification as a value in normal form: the constructor normalizes every text."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from shared.specification.kind import Size, SpecificationKind
from shared.text import clean
from shared.text.markdown import lines, open_fence

BODY_LIMIT = 65_536
"""Characters that GitHub accepts in an issue's body."""

GOAL_LIMIT = 40_000
CRITERION_LIMIT = 1_000
ITEM_LIMIT = 500
CRITERIA_LIMIT = 50
LIST_LIMIT = 200
NUMBER_LIMIT = 10**9
"""Upper bound, exclusive, of issue numbers."""

IMPLIED_ID = "AC1"

_ID = re.compile(r"AC[1-9]\d{0,3}")
_BOX = re.compile(r"^(?:\[[ xX]\](?:\s+|$))+")
_PARTS = re.compile(r"::| > |(?<=\w)[.#](?=\w)")
_CASE = re.compile(r"(?<=\S)\[")
_SYMBOL = re.compile(r"\w*(?:_|\d|[a-z][A-Z])\w*")
"""An identifier rather than an ordinary word: it has an underscore, a digit, or a capital in the middle."""

_QUOTED = re.compile(
    r"(?<!`)`++([^`]++)`+|\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)|“([^“”]+)”|‘([^‘’]+)’|«([^«»]+)»|„([^„“”]+)[“”]"
)
_BEFORE, _AFTER = r"(?<![\w/:.-])", r"(?![\w/:[-]|\.\w)"
"""Lookarounds of a name, so that it is not a part of another name or of a path."""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One acceptance criterion on one line; `implied` is True if the body lists none and is itself the criterion."""

    id: str
    text: str
    implied: bool = False

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ValueError(f"'{self.id}' is no criterion id; AC1 is one")
        object.__setattr__(self, "text", line_of(self.text, CRITERION_LIMIT))


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings that this specification overrides; None keeps the configured value."""

    max_attempts: int | None = None
    timeout_minutes: int | None = None
    max_budget_usd: float | None = None

    def __post_init__(self) -> None:
        if self.max_attempts is not None and not 1 <= self.max_attempts <= 20:
            raise ValueError("max_attempts is a number from 1 to 20")
        if self.timeout_minutes is not None and not 1 <= self.timeout_minutes <= 1440:
            raise ValueError("timeout_minutes is a number from 1 to 1440")
        if self.max_budget_usd is not None:
            if not (math.isfinite(self.max_budget_usd) and 0.01 <= self.max_budget_usd <= 1000):
                raise ValueError("max_budget_usd is an amount from 0.01 to 1000")
            object.__setattr__(self, "max_budget_usd", round(float(self.max_budget_usd), 2))


@dataclass(frozen=True, slots=True)
class Trailer:
    """The engine's last line: story, key of the specification in its plan, plan hash (8), body hash (64)."""

    parent: int
    key: str
    plan: str
    body: str


@dataclass(frozen=True, slots=True)
class Specification:
    """The work to be done. Two specifications are equal if they ask for the same, whoever wrote them.

    `goal` is Markdown without hidden parts and with closed fences, every other text is one line.
    There is always a criterion. `remarks` are sentences about text that `read` cut or ignored.
    Raises `ValueError` for more entries or longer texts than the limits above, for two criteria
    with one id, and for invalid issue numbers.
    """

    goal: str
    criteria: tuple[Criterion, ...] = ()
    files: tuple[str, ...] = ()
    may_change: tuple[str, ...] = ()
    out_of_scope: tuple[str, ...] = ()
    depends_on: tuple[int, ...] = ()
    part_of: int | None = None
    settings: Settings = Settings()
    kind: SpecificationKind = SpecificationKind.FEATURE
    size: Size | None = None
    trailer: Trailer | None = field(default=None, compare=False)
    remarks: tuple[str, ...] = field(default=(), compare=False)
    unread: tuple[str, ...] = field(default=(), compare=False)
    """Lines that name an issue in a way that `read` does not understand: nothing waits for that issue."""

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        put("goal", prose(self.goal))
        put("criteria", self._criteria())
        put("files", _distinct(path_of(path) for path in self.files))
        put("may_change", _distinct(path_of(path) for path in self.may_change))
        put("out_of_scope", _distinct(_BOX.sub("", line_of(item, ITEM_LIMIT)) for item in self.out_of_scope))
        put("depends_on", tuple(dict.fromkeys(self.depends_on)))
        self._check()

    @property
    def touched(self) -> frozenset[str]:
        """The files that it names as those of its work."""
        return files_of((*self.files, *self.may_change))

    def allows(self, path: str, name: str) -> bool:
        """Return whether this specification allows the test `name` of the file `path` to be removed or skipped.

        It does if "Tests that may change" lists the file or the test, or that section, the goal or a criterion names
        the test.
        """
        texts = (self.goal, *(one.text for one in self.criteria if not one.implied), *self.may_change)
        return _lists(self.may_change, path, name) or names_test(texts, path, name)

    def _criteria(self) -> tuple[Criterion, ...]:
        named = tuple(criterion for criterion in self.criteria if criterion.text and not criterion.implied)
        return named or (Criterion(IMPLIED_ID, self.goal, implied=True),)

    def _check(self) -> None:
        if len(self.goal) > GOAL_LIMIT:
            raise ValueError(f"the goal is longer than {GOAL_LIMIT} characters")
        if len(self.criteria) > CRITERIA_LIMIT:
            raise ValueError(f"there are more than {CRITERIA_LIMIT} acceptance criteria")
        if len({criterion.id for criterion in self.criteria}) < len(self.criteria):
            raise ValueError("two acceptance criteria have one id")
        if max(map(len, (self.files, self.may_change, self.out_of_scope, self.depends_on))) > LIST_LIMIT:
            raise ValueError(f"a list has more than {LIST_LIMIT} entries")
        if not all(0 < number < NUMBER_LIMIT for number in (*self.depends_on, self.part_of or 1)):
            raise ValueError("an issue number is above zero")


def files_of(paths: Iterable[str]) -> frozenset[str]:
    """Return the files of a list's entries; an entry for one test (`tests/test_a.py::test_b`) names its file."""
    return frozenset(path.removeprefix("./").partition("::")[0] for path in paths)


def prose(text: str) -> str:
    """Normalize Markdown: cleaned, no trailing space, no empty line at either end, fences closed."""
    text = "\n".join(line.rstrip() for line in clean(text).split("\n")).strip("\n")
    fence = open_fence(text)
    return f"{text}\n{fence}" if fence else text


def line_of(text: str, limit: int) -> str:
    """Return `text` cleaned, on one line of at most `limit` characters."""
    return clean(" ".join(clean(text).split())[:limit]).strip()


def path_of(text: str) -> str:
    """Normalize a path: one line without back quotes."""
    return line_of(text.replace("`", " "), ITEM_LIMIT)


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))


def _lists(entries: Collection[str], path: str, name: str) -> bool:
    """Return whether `entries` hold the file `path`, the test `name` in it, or a class or block around that."""
    plain = _without_case(name)
    around = {plain[: found.start()] for found in _PARTS.finditer(plain)}
    wanted = {path, *(f"{path}::{one}" for one in {name, plain, *around})}
    return not wanted.isdisjoint(entry.removeprefix("./") for entry in entries)


def names_test(texts: Iterable[str], path: str, name: str) -> bool:
    """Return whether one of `texts` names the test `name` of the file `path`; code fences do not count.

    An ordinary word of a sentence is no name. `test_search` is one anywhere; a title such as "returns no user" only
    in back quotes or quotation marks, because criteria are written in the same words as titles.
    """
    spellings = set(_spellings(path, name))
    bare = [one for one in spellings if any(map(_SYMBOL.fullmatch, _PARTS.split(one)[-1:]))]
    pattern = re.compile(f"{_BEFORE}(?:{'|'.join(map(re.escape, bare))}){_AFTER}") if bare else None
    return any(_is_named_in(_without_fences(text), spellings, pattern) for text in texts)


def _without_case(name: str) -> str:
    """Return a test's name without the parameters in brackets that its last line may end with."""
    found = _CASE.search(name, name.rfind("\n") + 1) if name.endswith("]") else None
    return name if found is None else name[: found.start()]


def _spellings(path: str, name: str) -> Iterator[str]:
    """Yield the name with and without its parameters, the latter also joined by `.` and `::`, and with its file.

    The last part of the name comes alone as well."""
    plain = _without_case(name)
    *outer, last = _PARTS.split(plain)
    for one in (name, plain, *([".".join([*outer, last]), "::".join([*outer, last])] if outer else [])):
        yield one
        yield f"{path}::{one}"
        yield f"{path.rpartition('/')[2]}::{one}"
    yield last


def _is_named_in(text: str, spellings: Collection[str], bare: re.Pattern[str] | None) -> bool:
    quoted = {next(filter(None, found.groups())).strip().removesuffix("()") for found in _QUOTED.finditer(text)}
    return not quoted.isdisjoint(spellings) or (bare is not None and bare.search(text) is not None)


def _without_fences(text: str) -> str:
    return " ".join(" ".join(line.text for line in lines(text) if not line.fenced).split())
