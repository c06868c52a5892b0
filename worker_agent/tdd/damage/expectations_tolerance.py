"""Checks with a wide tolerance in their text: a distance to a number of at least half that number (pure)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from worker_agent.tdd.damage.expectations import expected_tests

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
    found = expected_tests(tests, test_names)
    return frozenset(f"{test.source.path}::{test.name}" for test in found if _is_wide(test.text))


def _is_wide(text: str) -> bool:
    matches = (match for form in _FORMS for match in form.finditer(text))
    distances = ([float(match[name].replace("_", "")) for name in ("number", "tolerance")] for match in matches)
    return any(tolerance >= WIDE * abs(number) > 0 for number, tolerance in distances)
