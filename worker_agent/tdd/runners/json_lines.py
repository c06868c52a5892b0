"""Lines of output, some of which are JSON objects: `go test -json`, cargo's messages, the Gradle listener (pure)."""

from __future__ import annotations

import json
import re
from typing import Any

_LINE_END = re.compile(r"\r?\n")


def lines(data: bytes) -> list[str]:
    """Return the lines of output. Other separators (U+2028, form feed) may be inside a JSON string as they are."""
    found = _LINE_END.split(data.decode("utf-8", "replace"))
    return found if found[-1] else found[:-1]


def json_object(line: str) -> dict[str, Any]:
    """Return the object that a line consists of; {} for every other line."""
    if not line.startswith("{"):
        return {}
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
