"""The Rust compiler's errors about a target that it cannot build, in their form for people: whose names are missing."""

from __future__ import annotations

import re

from worker_agent.tdd.runners.cargo_targets import Manifests
from worker_agent.tdd.runners.test_run import FailureKind, worst

_ERROR = re.compile(r"^error(?:\[(E\d+)\])?: (.+)$", re.MULTILINE)
_ABOUT_OTHERS = re.compile(r"aborting due to |could not compile|Couldn't compile|test failed|doctest failed")
_PLACE = re.compile(r"^\s*(?:-->|:::) (\S+?):\d+", re.MULTILINE)
_SYNTAX = re.compile(
    r"expected |unexpected |unclosed|mismatched closing|unterminated|unknown start of token|this file contains"
    r"|missing (?!lifetime)|unmatched|invalid suffix|prefix `|unknown prefix|leading `|`?\w+`? is not a valid"
)
_SHAPE = frozenset({"E0061", "E0107", "E0308", "E0277", "E0599", "E0027", "E0026", "E0023", "E0369", "E0271", "E0053"})
"""Another shape than the test wants: own, if the compiler also shows a place in the code of the repository."""

_OWN_MISSING = frozenset(
    {
        *("E0425", "E0412", "E0422", "E0423", "E0405", "E0560", "E0609", "E0610", "E0616"),
        *("E0603", "E0624", "E0531", "E0532", "E0407", "E0437", "E0438", "E0046", "E0063"),
        *("E0583", "E0451", "E0433", "E0432", "E0574", "E0573", "E0576", "E0408"),
    }
)
"""A missing or private name; the first segment of its path, where it is shown, tells its owner."""

_FOLLOWS = frozenset({"E0282", "E0283", "E0284"})
"""A type that cannot be inferred: a consequence if the name that would tell it is missing."""

_UNRESOLVED = re.compile(r"unresolved imports? `([\w:{}, ]+?)`")
_NO_CRATE = re.compile(
    r"use of (?:unresolved module or unlinked crate|undeclared crate or module|unresolved module) `(\w+)`"
    r"|can't find crate for `(\w+)`|maybe a missing crate `(\w+)`|cannot find module or crate `(\w+)`"
)
_IN = re.compile(r"(?:in (?:crate|module|enum|trait|struct) |could not find `\w+` in )`([\w:]+)`")
_TYPE = re.compile(r"[`:&<(, ]([A-Z]\w*)(?=[`<>,); ])")
_STANDARD = frozenset({"std", "core", "alloc", "proc_macro", "test"})
_SELF = frozenset({"crate", "self", "super"})
_OWN_TOOLS = re.compile(
    r"cannot find macro|environment variable `CARGO_BIN_EXE_|`main` function not found|couldn't read"
)


def first_line(text: str) -> str:
    """Return the first error, with its code."""
    found = _ERROR.search(text)
    return found[0] if found else next((line.strip() for line in text.splitlines() if line.strip()), "")


def kind(text: str, own: Manifests) -> FailureKind:
    """Return the reason why a target was not built: the worst kind of its errors."""
    return worst({_kind(*error, own) for error in _errors(text)})


def _errors(text: str) -> list[tuple[str, str]]:
    """Return the code and the whole text of each error, except those that follow from others."""
    starts = [found for found in _ERROR.finditer(text) if not _ABOUT_OTHERS.match(found[2])]
    ends = [found.start() for found in starts[1:]] + [len(text)]
    whole = [(found[1] or "", text[found.start() : end]) for found, end in zip(starts, ends, strict=True)]
    return [error for error in whole if error[0] not in _FOLLOWS] or whole


def _kind(code: str, text: str, own: Manifests) -> FailureKind:
    said = text.partition(": ")[2]
    missing = _NO_CRATE.search(text)
    if missing or code == "E0463":
        name = next(filter(None, missing.groups()), "") if missing else ""
        return FailureKind.FIRST_PARTY_IMPORT if own.has(name) else FailureKind.THIRD_PARTY_IMPORT
    if code in _OWN_MISSING:
        return _of_name(said, own)
    if code in _SHAPE:
        return FailureKind.FIRST_PARTY_IMPORT if _shows_own(text, own) else FailureKind.COLLECTION
    if not code and _OWN_TOOLS.match(said):
        return FailureKind.FIRST_PARTY_IMPORT
    return FailureKind.SYNTAX if not code and _SYNTAX.match(said) else FailureKind.COLLECTION


def _of_name(message: str, own: Manifests) -> FailureKind:
    unresolved, inside = _UNRESOLVED.search(message), _IN.search(message)
    path = unresolved[1] if unresolved else inside[1] if inside else ""
    first = path.partition("::")[0]
    if not path or first in _SELF or own.has(first) or (inside and first[:1].isupper()):
        return FailureKind.FIRST_PARTY_IMPORT
    return FailureKind.COLLECTION if first in _STANDARD else FailureKind.THIRD_PARTY_IMPORT


def _shows_own(text: str, own: Manifests) -> bool:
    """Return whether the error is about an own type or function: it names the one, or shows the other's place."""
    places = {place.removeprefix("./") for place in _PLACE.findall(text)}
    if any(place.startswith("/") for place in places):
        return False
    types = _TYPE.findall(text.partition("\n")[0])
    return any(map(own.declares, types)) or len(places & own.paths) > 1 or "defined here" in text
