"""Reads what an App reports of a check run, in the body of the operations that create and change one."""

from __future__ import annotations

from typing import Any

from lab.github.http.call import Call
from lab.github.http.refusals import invalid
from lab.github.world.checks import AnnotationRecord

STATUSES = ("queued", "in_progress", "completed", "waiting", "requested", "pending")

CONCLUSIONS = frozenset({"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"})
"""What an App may conclude: `stale` only GitHub says."""

MOST_ANNOTATIONS = 50
"""How many annotations one request may carry."""

LEVELS = frozenset({"notice", "warning", "failure"})

_RESOURCE = "CheckRun"


def read_report(call: Call) -> dict[str, Any]:
    """The fields of a check run's record that the body gives; 422 for what GitHub does not take."""
    report: dict[str, Any] = {**_output(call), **_progress(call)}
    for name in ("external_id", "details_url"):
        found = call.optional_text(_RESOURCE, name)
        if found is not None:
            report[name] = found
    return report


def _progress(call: Call) -> dict[str, Any]:
    """Status, conclusion and times; a conclusion completes a run, and completing one needs a conclusion."""
    status, conclusion = call.optional_text(_RESOURCE, "status"), call.optional_text(_RESOURCE, "conclusion")
    if status is not None and status not in STATUSES:
        raise invalid(_RESOURCE, "status")
    if conclusion is not None and conclusion not in CONCLUSIONS:
        raise invalid(_RESOURCE, "conclusion")
    if status == "completed" and conclusion is None:
        raise invalid(_RESOURCE, "conclusion", "missing_field")
    progress: dict[str, Any] = {"started_at": call.time(_RESOURCE, "started_at")}
    if conclusion is not None:
        ended = call.time(_RESOURCE, "completed_at") or call.repository.registrar.now()
        progress |= {"status": "completed", "conclusion": conclusion, "completed_at": ended}
    elif status is not None:
        progress |= {"status": status, "conclusion": None, "completed_at": None}
    return {name: value for name, value in progress.items() if name != "started_at" or value is not None}


def _output(call: Call) -> dict[str, Any]:
    output = call.fields.get("output")
    if output is None:
        return {}
    if not isinstance(output, dict):
        raise invalid(_RESOURCE, "output")
    texts = {name: output.get(name) for name in ("title", "summary", "text")}
    if not all(text is None or isinstance(text, str) for text in texts.values()) or not texts["summary"]:
        raise invalid(_RESOURCE, "output")
    annotations = output.get("annotations") or []
    if not isinstance(annotations, list) or len(annotations) > MOST_ANNOTATIONS:
        raise invalid(_RESOURCE, "annotations")
    return {**texts, "annotations": tuple(_annotation(one) for one in annotations)}


def _annotation(given: Any) -> AnnotationRecord:
    fields = given if isinstance(given, dict) else {}
    lines = (fields.get("start_line"), fields.get("end_line"))
    texts = (fields.get("path"), fields.get("message"), fields.get("title") or "", fields.get("annotation_level"))
    readable = all(type(line) is int for line in lines) and all(isinstance(text, str) for text in texts)
    if not readable or fields["annotation_level"] not in LEVELS:
        raise invalid(_RESOURCE, "annotations")
    return AnnotationRecord(
        path=fields["path"],
        start_line=fields["start_line"],
        end_line=fields["end_line"],
        level=fields["annotation_level"],
        title=fields.get("title") or "",
        message=fields["message"],
    )
