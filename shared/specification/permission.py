"""The existing tests that a specification allows to change: those that it lists, and those that its text names.

An ordinary word of a sentence is no name. `test_search` is one anywhere; a title such as "returns no user" only
in back quotes or quotation marks, because criteria are written in the same words as titles.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from shared.text.markdown import lines

_PARTS = re.compile(r"::| > |(?<=\w)[.#](?=\w)")
_CASE = re.compile(r"(?<=\S)\[")
_SYMBOL = re.compile(r"\w*(?:_|\d|[a-z][A-Z])\w*")
"""An identifier rather than an ordinary word: it has an underscore, a digit, or a capital in the middle."""

_QUOTED = re.compile(
    r"(?<!`)`++([^`]++)`+|\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)|“([^“”]+)”|‘([^‘’]+)’|«([^«»]+)»|„([^„“”]+)[“”]"
)
_BEFORE, _AFTER = r"(?<![\w/:.-])", r"(?![\w/:[-]|\.\w)"
"""Lookarounds of a name, so that it is not a part of another name or of a path."""


def lists(entries: Collection[str], path: str, name: str) -> bool:
    """Return whether `entries` hold the file `path`, the test `name` in it, or a class or block around that."""
    plain = _without_case(name)
    around = {plain[: found.start()] for found in _PARTS.finditer(plain)}
    wanted = {path, *(f"{path}::{one}" for one in {name, plain, *around})}
    return not wanted.isdisjoint(entry.removeprefix("./") for entry in entries)


def names(texts: Iterable[str], path: str, name: str) -> bool:
    """Return whether one of `texts` names the test `name` of the file `path`; code fences do not count."""
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
