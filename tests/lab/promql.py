"""A parser of the metrics and labels that a PromQL expression asks for: enough of the grammar for a dashboard."""

from __future__ import annotations

import re

_WORDS = frozenset({"by", "without", "and", "or", "unless", "on", "ignoring", "group_left", "group_right", "offset"})
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\})?\s*(?:\[[^\]]*\])?(?!\w|\s*\()")
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")


def asked(expression: str) -> set[tuple[str, frozenset[str]]]:
    """Return each metric with the labels that are asked of it, by its own selector or by any grouping around it."""
    plain = _STRING.sub("", expression)
    grouped = {label.strip() for group in _GROUPING.findall(plain) for label in group.split(",") if label.strip()}
    found = set()
    for name, own in _SELECTOR.findall(_GROUPING.sub(" ", plain)):
        if name not in _WORDS and not name.startswith("$"):
            labels = {part.split("=")[0].strip(" !~") for part in own.split(",") if part.strip()}
            found.add((name, frozenset(labels | grouped)))
    return found
