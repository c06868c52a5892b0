"""Labels, issues, comments and the events of threads as GitHub's JSON."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from lab.github.wire import apps, repositories
from lab.github.wire.site import Json, ServedRoot, node, stamp, stamp_or_none
from lab.github.world.comments import REACTIONS, CommentRecord, ReactionRecord
from lab.github.world.issues import EventRecord, IssueRecord
from lab.github.world.labels import LabelRecord
from lab.github.world.repository import RepositoryRecord


def label(site: ServedRoot, repository: RepositoryRecord, record: LabelRecord) -> Json:
    """One label definition."""
    return {
        "id": record.id,
        "node_id": node("LA", record.id),
        "url": f"{site.api(repository)}/labels/{quote(record.name)}",
        "name": record.name,
        "color": record.color,
        "default": False,
        "description": record.description,
        "archived_at": None,
        "archived_by": None,
    }


def labels_of(site: ServedRoot, repository: RepositoryRecord, record: IssueRecord) -> list[Json]:
    """The labels that a thread carries."""
    found = (repository.labels.find(name) for name in record.labels)
    return [label(site, repository, one) for one in found if one is not None]


def issue(site: ServedRoot, repository: RepositoryRecord, record: IssueRecord) -> Json:
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
        "performed_via_github_app": apps.behind(site, record.author),
        **_relations(site, repository, record.number),
        **_pull_request(site, repository, record),
    }


def comment(site: ServedRoot, repository: RepositoryRecord, record: CommentRecord) -> Json:
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
        "reactions": rollup(url, repository.comments.reactions_to(record.id)),
        "performed_via_github_app": apps.behind(site, record.author),
    }


def reaction(site: ServedRoot, record: ReactionRecord) -> Json:
    """One reaction to a comment."""
    return {
        "id": record.id,
        "node_id": node("REA", record.id),
        "user": site.user(record.author),
        "content": record.content,
        "created_at": stamp(record.at),
    }


def page_of(site: ServedRoot, repository: RepositoryRecord, record: IssueRecord) -> str:
    """The page of a thread."""
    return f"{site.html(repository)}/{'pull' if record.is_pull else 'issues'}/{record.number}"


def _urls(site: ServedRoot, repository: RepositoryRecord, record: IssueRecord) -> Json:
    url = f"{site.api(repository)}/issues/{record.number}"
    return {
        "url": url,
        "repository_url": site.api(repository),
        "labels_url": f"{url}/labels{{/name}}",
        "comments_url": f"{url}/comments",
        "events_url": f"{url}/events",
        "timeline_url": f"{url}/timeline",
        "html_url": page_of(site, repository, record),
        "reactions": rollup(url),
    }


def _pull_request(site: ServedRoot, repository: RepositoryRecord, record: IssueRecord) -> Json:
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


def _relations(site: ServedRoot, repository: RepositoryRecord, number: int) -> Json:
    """Show the numbers of an issue's relations."""
    relations, issues = repository.relations, repository.issues.records
    children, parent = relations.children(number), relations.parent(number)
    done = sum(not issues[child].open for child in children)
    blockers, blocked = relations.blocked_by(number), relations.blocking(number)
    return {
        "parent_issue_url": None if parent is None else f"{site.api(repository)}/issues/{parent}",
        "sub_issues_summary": {
            "total": len(children),
            "completed": done,
            "percent_completed": 100 * done // len(children) if children else 0,
        },
        "issue_dependencies_summary": {
            "blocked_by": sum(issues[one].open for one in blockers),
            "blocking": sum(issues[one].open for one in blocked),
            "total_blocked_by": len(blockers),
            "total_blocking": len(blocked),
        },
    }


def rollup(url: str, given: Sequence[str] = ()) -> Json:
    """Show the number of each reaction to the thing at `url`."""
    counted = {kind: given.count(kind) for kind in REACTIONS}
    return {"url": f"{url}/reactions", "total_count": len(given), **counted}


_RELATED = {
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
            detail = record.detail
            dismissed = {"state": detail["state"], "review_id": int(detail["review_id"])}
            return {"dismissed_review": {**dismissed, "dismissal_message": detail["message"]}}
        case "locked":
            return {"lock_reason": None}
        case "closed":
            return {"state_reason": record.detail.get("state_reason")}
        case kind if kind in _RELATED:
            return {_RELATED[kind]: _related_issue(site, repository, int(record.detail["issue"]))}
        case _:
            return {}


def _related_issue(site: ServedRoot, repository: RepositoryRecord, number: int) -> Json | None:
    """Another issue in short; None when it is not here any more."""
    other = repository.issues.records.get(number)
    if other is None:
        return None
    return {
        "number": other.number,
        "title": other.title,
        "state": "open" if other.open else "closed",
        "state_reason": other.state_reason,
        "repository": repositories.repository(site, repository),
        "issue_type": None,
    }
