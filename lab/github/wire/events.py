"""The events of issues and pull requests as GitHub's JSON."""

from __future__ import annotations

from lab.github.wire import apps, repositories
from lab.github.wire.site import Json, ServedRoot, node, stamp
from lab.github.world.issues import EventRecord
from lab.github.world.repository import RepositoryRecord

_RELATIONS = {
    "sub_issue_added": "sub_issue",
    "parent_issue_added": "parent_issue",
    "blocked_by_added": "blocked_by",
    "blocked_by_removed": "blocked_by",
    "blocking_added": "blocking",
    "blocking_removed": "blocking",
}
"""Event -> the field that names the other issue."""


def event(site: ServedRoot, repository: RepositoryRecord, record: EventRecord) -> Json:
    """One event of a thread."""
    commit = record.detail.get("commit_id")
    return {
        "id": record.id,
        "node_id": node("EV", record.id),
        "url": f"{site.api(repository)}/issues/events/{record.id}",
        "actor": site.actor(record.actor),
        "event": record.event,
        "commit_id": commit,
        "commit_url": f"{site.api(repository)}/commits/{commit}" if commit else None,
        "created_at": stamp(record.at),
        "performed_via_github_app": apps.behind(site, record.actor),
        **_detail(site, repository, record),
    }


def _detail(site: ServedRoot, repository: RepositoryRecord, record: EventRecord) -> Json:
    match record.event:
        case "labeled" | "unlabeled":
            return {"label": dict(record.detail)}
        case "renamed":
            return {"rename": dict(record.detail)}
        case "assigned" | "unassigned":
            return {"assignee": site.actor(record.detail["assignee"]), "assigner": site.actor(record.actor)}
        case "review_requested":
            asked = site.actor(record.detail["reviewer"])
            return {"review_requester": site.actor(record.actor), "requested_reviewer": asked}
        case "review_dismissed":
            return {"dismissed_review": _dismissed_review(record)}
        case "locked":
            return {"lock_reason": None}
        case "closed":
            return {"state_reason": record.detail.get("state_reason")}
        case kind if kind in _RELATIONS:
            return {_RELATIONS[kind]: _reference(site, repository, int(record.detail["issue"]))}
        case _:
            return {}


def _dismissed_review(record: EventRecord) -> Json:
    detail = record.detail
    return {
        "state": detail["state"],
        "review_id": int(detail["review_id"]),
        "dismissal_message": detail["message"],
    }


def _reference(site: ServedRoot, repository: RepositoryRecord, number: int) -> Json | None:
    """Another issue in short; None when it is not here any more."""
    issue = repository.issues.records.get(number)
    if issue is None:
        return None
    return {
        "number": issue.number,
        "title": issue.title,
        "state": "open" if issue.open else "closed",
        "state_reason": issue.state_reason,
        "repository": repositories.repository(site, repository),
        "issue_type": None,
    }
