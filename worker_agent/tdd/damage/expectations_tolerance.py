"""Checks with a wide tolerance in their text: a distance to a number of at least half that number (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from worker_agent.tdd.damage.expectations import expected_places
from worker_agent.tdd.syntax.source import parse

WIDE = 0.5
"""The least ratio of a wide tolerance to the expected number."""

_NUMBER = r"-?\d[\d_]*(?:\.\d+)?"
_FORMS = tuple(
    re.compile(form.replace("<n>", rf"(?P<number>{_NUMBER})").replace("<t>", rf"(?P<tolerance>{_NUMBER})"))
    for form in (
        r"\b[aA]bs\([^;\n]{0,200}?-\s*<n>\s*\)[^;\n]{0,24}?(?:[<>]=?|,|\()\s*<t>",
        r"\b[aA]bs\(\s*<n>\s*-[^;\n]{0,200}?\)[^;\n]{0,24}?(?:[<>]=?|,|\()\s*<t>(?=\s*(?:$|\)|\{|:|;|,))",
        r"-\s*<n>\s*\)\.abs\b[^;\n]{0,24}?[<>]=?\s*<t>",
        r"\bbe_within\(<t>\)\.of\(<n>\)",
        r"\b(?:assert_in_delta|assert_in_epsilon)\(?\s*<n>\s*,[^;\n]{0,200},\s*<t>\s*\)?\s*$",
        r"\bassertEqualsWithDelta\(\s*<n>\s*,[^;\n]{0,200},\s*<t>\s*[,)]",
        r"\bInDelta\(\s*\w+,\s*<n>\s*,[^;\n]{0,200},\s*<t>\s*[,)]",
        r"\bassertAlmostEquals?\([^;\n]{0,200}?\b<n>\s*,[^;\n]{0,200}?delta=<t>",
        r"\bapprox\(\s*<n>\s*,[^;\n)]{0,200}?\babs=<t>",
        r"\bcloseTo\([^;\n]{0,200}?\b<n>\s*,\s*<t>\s*\)",
    )
)


def wide(tests: Mapping[str, bytes], test_names: Mapping[str, Collection[str]]) -> frozenset[str]:
    """Return the wanted tests (`path::name`) with a check that accepts a number half as large again."""
    found: set[str] = set()
    for path, names in test_names.items():
        source = parse(path, tests[path]) if path in tests else None
        if source is None:
            continue
        for name in names:
            texts = (source.text(test) for test, _ in expected_places(source, {name}))
            if any(map(_is_wide, texts)):
                found.add(f"{path}::{name}")
    return frozenset(found)


def _is_wide(text: str) -> bool:
    return any(tolerance >= WIDE * abs(number) > 0 for number, tolerance in _distances(text))


def _distances(text: str) -> Iterator[tuple[float, float]]:
    for form in _FORMS:
        for match in form.finditer(text):
            yield float(match["number"].replace("_", "")), float(match["tolerance"].replace("_", ""))
