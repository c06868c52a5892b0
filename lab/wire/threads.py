"""Labels, issues, comments and events as GitHub's JSON."""

from __future__ import annotations

from urllib.parse import quote

from lab.wire.site import Json, Site, node, stamp, stamp_or_none
from lab.world.comments import CommentRecord
from lab.world.issues import EventRecord, IssueRecord
from lab.world.labels import LabelRecord
from lab.world.repository import RepositoryRecord


def label(site: Site, repository: RepositoryRecord, record: LabelRecord) -> Json:
    """One label definition."""
    return {
        "id": record.id,
        "node_id": node("LA", record.id),
        "url": f"{site.api(repository)}/labels/{quote(record.name)}",
        "name": record.name,
        "color": record.color,
        "default": False,
        "description": record.description,
    }


def labels_of(site: Site, repository: RepositoryRecord, record: IssueRecord) -> list[Json]:
    """The labels that a thread carries."""
    found = (repository.labels.find(name) for name in record.labels)
    return [label(site, repository, one) for one in found if one is not None]


def issue(site: Site, repository: RepositoryRecord, record: IssueRecord) -> Json:
    """One issue, or a pull request seen as an issue."""
    assignees = [site.actor(login) for login in record.assignees]
    return {
        **_urls(site, repository, record),
        "id": record.id,
        "node_id": node("PR" if record.is_pull else "I", record.id),
        "number": record.number,
        "title": record.title,
        "body": record.body,
        "user": site.user(record.author),
        "labels": labels_of(site, repository, record),
        "state": "open" if record.open else "closed",
        "state_reason": record.state_reason,
        "locked": record.locked,
        "active_lock_reason": None,
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "milestone": None,
        "comments": record.comments,
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.updated_at),
        "closed_at": stamp_or_none(record.closed_at),
        "closed_by": site.user(record.closed_by),
        "author_association": site.association(repository, record.author),
        "performed_via_github_app": None,
        **_pull_request(site, repository, record),
    }


def comment(site: Site, repository: RepositoryRecord, record: CommentRecord) -> Json:
    """One comment in a thread."""
    url = f"{site.api(repository)}/issues/comments/{record.id}"
    thread = repository.issues.records[record.number]
    return {
        "url": url,
        "html_url": f"{page_of(site, repository, thread)}#issuecomment-{record.id}",
        "issue_url": f"{site.api(repository)}/issues/{record.number}",
        "id": record.id,
        "node_id": node("IC", record.id),
        "user": site.user(record.author),
        "created_at": stamp(record.created_at),
        "updated_at": stamp(record.updated_at),
        "author_association": site.association(repository, record.author),
        "body": record.body,
        "reactions": _no_reactions(url),
        "performed_via_github_app": None,
    }


def event(site: Site, repository: RepositoryRecord, record: EventRecord) -> Json:
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
        "performed_via_github_app": None,
        **_detail(site, record),
    }


def page_of(site: Site, repository: RepositoryRecord, record: IssueRecord) -> str:
    """The page of a thread."""
    return f"{site.html(repository)}/{'pull' if record.is_pull else 'issues'}/{record.number}"


def _urls(site: Site, repository: RepositoryRecord, record: IssueRecord) -> Json:
    url = f"{site.api(repository)}/issues/{record.number}"
    return {
        "url": url,
        "repository_url": site.api(repository),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": page_of(site, repository, record),
        "reactions": _no_reactions(url),
    }


def _detail(site: Site, record: EventRecord) -> Json:
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
        case "locked":
            return {"lock_reason": None}
        case "closed":
            return {"state_reason": None}
        case _:
            return {}


def _pull_request(site: Site, repository: RepositoryRecord, record: IssueRecord) -> Json:
    if not record.is_pull:
        return {}
    pull, page = repository.pulls.records.get(record.number), page_of(site, repository, record)
    links = {
        "url": f"{site.api(repository)}/pulls/{record.number}",
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "merged_at": stamp_or_none(pull.merged_at if pull else None),
    }
    return {"pull_request": links, "draft": bool(pull and pull.draft)}


def _no_reactions(url: str) -> Json:
    kinds = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
    return {"url": f"{url}/reactions", "total_count": 0, **dict.fromkeys(kinds, 0)}
