"""Check runs, statuses, workflow runs and jobs as GitHub's JSON."""

from __future__ import annotations

from collections.abc import Sequence

from lab.github.repositories.changes import CommitInfo
from lab.github.wire import apps, commits, pulls, repositories
from lab.github.wire.site import Json, ServedRoot, node, stamp, stamp_or_none
from lab.github.world.checks import AnnotationRecord, CheckRecord, RunRecord, StatusRecord
from lab.github.world.repository import RepositoryRecord

WORKFLOW_ID = 1
"""The lab's repositories have one workflow."""

WORKFLOW_NAME = "CI"
WORKFLOW_FILE = "ci.yml"

STEP_NAME = "Run"
"""Each job has one step: its command."""

EVENT = "push"
"""Event that starts every run of the lab's workflow."""


def check_run(site: ServedRoot, repository: RepositoryRecord, check: CheckRecord) -> Json:
    """One check run."""
    url = f"{site.api(repository)}/check-runs/{check.id}"
    page = f"{site.html(repository)}/actions/runs/{check.run_id}/job/{check.id}"
    return {
        "id": check.id,
        "node_id": node("CR", check.id),
        "head_sha": check.head_sha,
        "name": check.name,
        "external_id": check.external_id,
        "url": url,
        "html_url": page,
        "details_url": check.details_url or page,
        "status": check.status,
        "conclusion": check.conclusion,
        "started_at": stamp(check.started_at),
        "completed_at": stamp_or_none(check.completed_at),
        "output": {
            "title": check.title or (check.name if check.summary else None),
            "summary": check.summary or None,
            "text": check.text,
            "annotations_count": len(check.annotations),
            "annotations_url": f"{url}/annotations",
        },
        "check_suite": {"id": check.run_id},
        "app": apps.by_slug(site, check.app),
        "pull_requests": _pulls_at(site, repository, check.head_sha),
    }


def suite(site: ServedRoot, repository: RepositoryRecord, record: RunRecord, head: CommitInfo) -> Json:
    """Show the suite of one App on a commit, which is `head`."""
    state, conclusion = repository.checks.conclusion(record)
    url = f"{site.api(repository)}/check-suites/{record.id}"
    return {
        "id": record.id,
        "node_id": node("CS", record.id),
        "head_branch": record.head_branch or None,
        "head_sha": record.head_sha,
        "status": state,
        "conclusion": conclusion,
        "url": url,
        "before": head.parents[0] if head.parents else None,
        "after": record.head_sha,
        "pull_requests": _pulls_at(site, repository, record.head_sha),
        "app": apps.by_slug(site, record.app),
        "repository": repositories.repository(site, repository),
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.created_at),
        "head_commit": commits.simple(head),
        "latest_check_runs_count": len(repository.checks.jobs(record)),
        "check_runs_url": f"{url}/check-runs",
        "rerequestable": True,
        "runs_rerequestable": True,
    }


def app_id(site: ServedRoot, slug: str) -> str:
    """The id of an App as a query writes it."""
    found = apps.by_slug(site, slug)
    return "" if found is None else str(found["id"])


def annotation(site: ServedRoot, repository: RepositoryRecord, check: CheckRecord, record: AnnotationRecord) -> Json:
    """One remark of a check."""
    return {
        "path": record.path,
        "blob_href": f"{site.html(repository)}/blob/{check.head_sha}/{record.path}",
        "start_line": record.start_line,
        "end_line": record.end_line,
        "start_column": None,
        "end_column": None,
        "annotation_level": record.level,
        "title": record.title,
        "message": record.message,
        "raw_details": None,
    }


def status(site: ServedRoot, repository: RepositoryRecord, record: StatusRecord) -> Json:
    """One commit status."""
    return {**short_status(site, repository, record), "creator": site.user(record.creator)}


def combined(
    site: ServedRoot, repository: RepositoryRecord, sha: str, statuses: Sequence[StatusRecord], shown: Sequence[Json]
) -> Json:
    """Show the combined status of a commit, with one page of its statuses (`shown`)."""
    states = {record.state for record in statuses}
    failed = states & {"failure", "error"}
    state = "failure" if failed else "success" if states == {"success"} else "pending"
    return {
        "state": state,
        "statuses": list(shown),
        "sha": sha,
        "total_count": len(statuses),
        "repository": repositories.repository(site, repository),
        "commit_url": f"{site.api(repository)}/commits/{sha}",
        "url": f"{site.api(repository)}/commits/{sha}/status",
    }


def job(site: ServedRoot, repository: RepositoryRecord, check: CheckRecord) -> Json:
    """A check run seen as a job of its workflow run."""
    run_url = f"{site.api(repository)}/actions/runs/{check.run_id}"
    return {
        "id": check.id,
        "run_id": check.run_id,
        "run_url": run_url,
        "run_attempt": check.attempt,
        "node_id": node("CR", check.id),
        "head_sha": check.head_sha,
        "head_branch": repository.checks.require_run(check.run_id).head_branch,
        "url": f"{site.api(repository)}/actions/jobs/{check.id}",
        "html_url": f"{site.html(repository)}/actions/runs/{check.run_id}/job/{check.id}",
        "status": check.status,
        "conclusion": check.conclusion,
        "created_at": stamp(check.started_at),
        "started_at": stamp(check.started_at),
        "completed_at": stamp_or_none(check.completed_at),
        "name": check.name,
        "workflow_name": WORKFLOW_NAME,
        "check_run_url": f"{site.api(repository)}/check-runs/{check.id}",
        "labels": ["ubuntu-latest"],
        "runner_id": 1,
        "runner_name": "lab",
        "runner_group_id": 1,
        "runner_group_name": "lab",
        "steps": [
            {
                "name": STEP_NAME,
                "status": check.status,
                "conclusion": check.conclusion,
                "number": 1,
                "started_at": stamp(check.started_at),
                "completed_at": stamp_or_none(check.completed_at),
            }
        ],
    }


def run(site: ServedRoot, repository: RepositoryRecord, record: RunRecord, head: CommitInfo | None) -> Json:
    """One workflow run; `head` is its commit, if that is still there."""
    state, conclusion = repository.checks.conclusion(record)
    home = repositories.repository(site, repository)
    return {
        "id": record.id,
        "node_id": node("WFR", record.id),
        "name": WORKFLOW_NAME,
        "display_title": WORKFLOW_NAME,
        "path": f".github/workflows/{WORKFLOW_FILE}",
        "workflow_id": WORKFLOW_ID,
        "check_suite_id": record.id,
        "check_suite_node_id": node("CS", record.id),
        "run_number": record.number,
        "run_attempt": record.attempt,
        "event": EVENT,
        "head_branch": record.head_branch,
        "head_sha": record.head_sha,
        "head_commit": None if head is None else commits.simple(head),
        **_run_attempt(site, repository, record),
        "status": state,
        "conclusion": conclusion,
        **_run_urls(site, repository, record),
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.created_at),
        "pull_requests": _pulls_at(site, repository, record.head_sha),
        "referenced_workflows": [],
        "repository": home,
        "head_repository": home,
    }


def workflow(site: ServedRoot, repository: RepositoryRecord) -> Json:
    """The workflow that runs what the repository's CI does."""
    home, since = site.html(repository), stamp(repository.facts.created_at)
    return {
        "id": WORKFLOW_ID,
        "node_id": node("W", WORKFLOW_ID),
        "name": WORKFLOW_NAME,
        "path": f".github/workflows/{WORKFLOW_FILE}",
        "state": "active",
        "created_at": since,
        "updated_at": since,
        "url": f"{site.api(repository)}/actions/workflows/{WORKFLOW_ID}",
        "html_url": f"{home}/blob/{repository.facts.default_branch}/.github/workflows/{WORKFLOW_FILE}",
        "badge_url": f"{home}/workflows/{WORKFLOW_NAME}/badge.svg",
    }


def begun_by(repository: RepositoryRecord, record: RunRecord) -> str:
    """Return the login whose push began a run; the owner for a schedule."""
    return record.pushed_by or repository.facts.owner


def _run_attempt(site: ServedRoot, repository: RepositoryRecord, record: RunRecord) -> Json:
    """Show who began the run and its newest attempt, when, and the address of the attempt before.

    A schedule is the owner's.
    """
    pushed_by = begun_by(repository, record)
    before = f"{site.api(repository)}/actions/runs/{record.id}/attempts/{record.attempt - 1}"
    return {
        "actor": site.actor(pushed_by),
        "triggering_actor": site.actor(record.rerun_by or pushed_by),
        "run_started_at": stamp(record.rerun_at or record.created_at),
        "previous_attempt_url": before if record.attempt > 1 else None,
    }


def _run_urls(site: ServedRoot, repository: RepositoryRecord, record: RunRecord) -> Json:
    url = f"{site.api(repository)}/actions/runs/{record.id}"
    return {
        "workflow_url": f"{site.api(repository)}/actions/workflows/{WORKFLOW_ID}",
        "url": url,
        "html_url": f"{site.html(repository)}/actions/runs/{record.id}",
        "jobs_url": f"{url}/jobs",
        "logs_url": f"{url}/logs",
        "artifacts_url": f"{url}/artifacts",
        "cancel_url": f"{url}/cancel",
        "rerun_url": f"{url}/rerun",
        "check_suite_url": f"{site.api(repository)}/check-suites/{record.id}",
    }


def short_status(site: ServedRoot, repository: RepositoryRecord, record: StatusRecord) -> Json:
    """One commit status as it stands in the combined one."""
    return {
        "url": f"{site.api(repository)}/statuses/{record.sha}",
        "avatar_url": site.actor(record.creator)["avatar_url"],
        "id": record.id,
        "node_id": node("SC", record.id),
        "state": record.state,
        "context": record.context,
        "description": record.description,
        "target_url": record.target_url,
        "created_at": stamp(record.at),
        "updated_at": stamp(record.at),
    }


def _pulls_at(site: ServedRoot, repository: RepositoryRecord, sha: str) -> list[Json]:
    open_pulls = [p for p in repository.pulls.records.values() if p.head_sha == sha and p.merged_at is None]
    return [pulls.minimal(site, repository, pull) for pull in open_pulls]
