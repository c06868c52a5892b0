"""GitHub's JSON of checks, statuses and required checks, converted to our models; as strict as `wire`."""

from __future__ import annotations

import re
from typing import Any

from shared.models import Check, CheckOutcome

_JOB = re.compile(r"/actions/runs/(\d+)/jobs?/(\d+)")
_CONCLUDED = {
    "success": CheckOutcome.PASSED,
    "neutral": CheckOutcome.NEUTRAL,
    "skipped": CheckOutcome.NEUTRAL,
    "action_required": CheckOutcome.UNKNOWN,
    "stale": CheckOutcome.STALE,
}
"""Outcome by conclusion; every other conclusion is a failure."""


def check_run(value: Any) -> Check:
    """Read a check run; `summary` begins with GitHub's conclusion, `job_id` is set for jobs of GitHub Actions."""
    conclusion, output = value.get("conclusion") or "", value.get("output") or {}
    texts = (conclusion, output.get("title"), output.get("summary"))
    return Check(
        name=str(value["name"]),
        outcome=_outcome(value["status"], conclusion),
        summary=": ".join(str(text) for text in texts if text),
        job_id=_job_id(value),
        conclusion=str(conclusion),
        run_id=_run_id(value),
        check_run_id=int(value["id"]),
    )


def unstarted(value: Any) -> Check | None:
    """Read a check suite that could not start as a failed check; None for every other one, queued or not."""
    if value.get("conclusion") != "startup_failure":
        return None
    name = str((value.get("app") or {}).get("name") or "check suite")
    return Check(name, CheckOutcome.FAILED, "startup_failure", conclusion="startup_failure")


def annotation(value: Any) -> str:
    """Read an annotation of a check run as one line, as compilers write it."""
    return f"{value['path']}:{value['start_line']}: {value['annotation_level']}: {value['message']}"


def commit_status(value: Any) -> Check:
    """Read a commit status."""
    outcomes = {"pending": CheckOutcome.RUNNING, "success": CheckOutcome.PASSED}
    return Check(
        name=str(value["context"]),
        outcome=outcomes.get(value["state"], CheckOutcome.FAILED),
        summary=value.get("description") or "",
        conclusion=str(value["state"]),
    )


def required_by_branch(value: Any) -> frozenset[str]:
    """Read the checks that the classic protection of a branch requires; everybody who reads the branch sees them."""
    required = (value.get("protection") or {}).get("required_status_checks") or {}
    checks = required.get("checks") or ()
    return frozenset(str(name) for name in required.get("contexts") or ()) | frozenset(
        str(check["context"]) for check in checks
    )


def required_by_rule(value: Any) -> frozenset[str]:
    """Read the checks that one rule of a ruleset requires; a rule of another kind requires none."""
    if value["type"] != "required_status_checks":
        return frozenset()
    checks = (value.get("parameters") or {}).get("required_status_checks") or ()
    return frozenset(str(check["context"]) for check in checks)


def _outcome(status: str, conclusion: str) -> CheckOutcome:
    if status != "completed":
        return CheckOutcome.RUNNING
    return _CONCLUDED.get(conclusion, CheckOutcome.FAILED)


def _job_id(value: Any) -> int | None:
    """Read a check run's job id, which is the id of the run itself; apps other than Actions have no job."""
    found = _JOB.search(value.get("details_url") or "")
    if found is not None:
        return int(found[2])
    return int(value["id"]) if (value.get("app") or {}).get("slug") == "github-actions" else None


def _run_id(value: Any) -> int | None:
    """Read the workflow run of a job, which is the unit that can be run again."""
    found = _JOB.search(value.get("details_url") or "")
    return int(found[1]) if found is not None else None


def total(value: Any) -> int:
    """Read the number of entries of a list of which `value` is one page."""
    return int(value["total_count"])


def head_of(value: Any) -> str:
    """Read the head commit of a pull request in a list."""
    return str(value["head"]["sha"])
