"""JSON in reports: whole documents, or objects among lines of output (`go test -json`, cargo, Gradle) (pure)."""

from __future__ import annotations

import json
import re
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from worker_agent.tdd.runners.raw_report import Report

M = TypeVar("M", bound=BaseModel)

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


def document(model: type[M], data: bytes, whose: str) -> M | Report:
    """Return a report that is one JSON document, as `model`; if it is no such document, a report with the fault.

    `whose` names the expected document, as in `RSpec's`.
    """
    try:
        return model.model_validate(json.loads(data.decode("utf-8", "replace")))
    except ValidationError as error:
        return Report(problem=f"the test report is not {whose}: {error.errors()[0]['msg']}")
    except (ValueError, RecursionError) as error:
        return Report(problem=f"the test report is not JSON: {error}")
