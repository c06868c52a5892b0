"""Issues: list, create, read, change."""

from __future__ import annotations

import re

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, invalid, no_rights
from lab.github.repositories.pull_refs import hide_merge
from lab.github.routes.assignees import assignable, spelled
from lab.github.wire import threads as wire
from lab.github.world.issues import IssueRecord, check_labels

routes = Operations()

THREADS = ("issues", "pull_requests")
"""Permissions of the issue operations: either one reaches issues and pull requests."""

_INVALID_MILESTONE = {"resource": "Issue", "field": "milestone", "code": "invalid"}


@routes.get("/issues", *THREADS)
async def list_issues(call: ApiCall) -> Reply:
    """Issues and pull requests; labels are ANDed, `since` counts by `updated_at` and is inclusive."""
    state = call.choice("Issue", "state", ("open", "closed", "all"))
    labels = {name.strip().lower() for name in call.query.get("labels", "").split(",") if name.strip()}
    since, creator, assignee = call.since("Issue"), call.query.get("creator", "").lower(), _assignee(call)
    mentioned, planned = call.query.get("mentioned", ""), _has_milestone(call)

    def wanted(issue: IssueRecord) -> bool:
        return bool(
            (state == "all" or issue.open == (state == "open"))
            and labels <= {name.lower() for name in issue.labels}
            and issue.updated_at >= since
            and creator in {"", issue.author.lower()}
            and _assigned(issue, assignee)
            and (not mentioned or re.search(rf"@{re.escape(mentioned)}\b", issue.body or "", re.I))
            and not planned
        )

    found = call.repository.issues.records.seen(call.stale, wanted)
    sort = call.choice("Issue", "sort", ("created", "updated", "comments"))
    field = {"created": "created_at", "updated": "updated_at", "comments": "comments"}[sort]
    descending = call.choice("Issue", "direction", ("desc", "asc")) == "desc"
    found.sort(key=lambda issue: (getattr(issue, field), issue.number), reverse=descending)
    return call.page(found, lambda issue: wire.issue(call.site, call.repository, issue))


@routes.write("POST", "/issues", "issues", role="read", creates=True)
async def create_issue(call: ApiCall) -> Reply:
    """A new issue; labels and assignees of those who may not set them are dropped silently."""
    title, body = call.text("Issue", "title"), call.optional_text("Issue", "body")
    labels, assignees = call.names("Issue", "labels") or [], _assignees(call) or []
    issues, trusted = call.repository.issues, call.repository.facts.reaches(call.login, "write")
    if trusted:
        assignable(call, assignees)
        check_labels(labels)
    issue = issues.open(call.login, title, body)
    if trusted:
        issues.add_labels(issue.number, labels, call.login)
        issues.assign(issue.number, assignees, call.login)
    return _shown(call, issue.number, status=201)


@routes.get("/issues/{issue_number}", *THREADS)
async def get_issue(call: ApiCall) -> Reply:
    """One issue or pull request."""
    issue = call.repository.issues.require(call.number("issue_number"), call.stale)
    return Reply(body=wire.issue(call.site, call.repository, issue))


@routes.write("PATCH", "/issues/{issue_number}", *THREADS, role="read")
async def update_issue(call: ApiCall) -> Reply:
    """Change title, body, state, labels and assignees, whichever are given, in one step."""
    number, issues = call.number("issue_number"), call.repository.issues
    trusted = call.repository.facts.reaches(call.login, "write")
    if not trusted and issues.require(number).author != call.login:
        raise no_rights()
    labels, assignees = call.names("Issue", "labels"), _assignees(call)
    title, body = call.optional_text("Issue", "title"), call.optional_text("Issue", "body")
    state, reason = _state(call)
    assignable(call, assignees or [])
    check_labels(labels or [])
    if title is not None or body is not None:
        issues.edit(number, call.login, title=title, body=body)
    if labels is not None and trusted:
        issues.set_labels(number, labels, call.login)
    if assignees is not None and trusted:
        gone = [login for login in issues.require(number).assignees if login not in assignees]
        issues.unassign(number, gone, call.login)
        issues.assign(number, assignees, call.login)
    if state is not None:
        await _open_or_close(call, number, state, reason)
    return _shown(call, number)


async def _open_or_close(call: ApiCall, number: int, state: str, reason: str | None) -> None:
    issues = call.repository.issues
    if state == "closed" and issues.close(number, call.login, reason).is_pull:
        await hide_merge(call.repository, number)
    elif state == "open" and issues.reopen(number, call.login).is_pull:
        call.repository.pulls.forget_mergeable(number)


def _state(call: ApiCall) -> tuple[str | None, str | None]:
    state, reason = call.optional_text("Issue", "state"), call.optional_text("Issue", "state_reason")
    if state not in {None, "open", "closed"}:
        raise invalid("Issue", "state")
    if reason not in {None, "completed", "not_planned", "duplicate", "reopened"}:
        raise invalid("Issue", "state_reason")
    return state, reason


def _assignees(call: ApiCall) -> list[str] | None:
    """Return the wanted assignees: `assignees`, or the older `assignee` (null and "" for nobody); None for neither."""
    several = call.names("Issue", "assignees")
    if several is not None or "assignee" not in call.fields:
        return None if several is None else spelled(call, several)
    one = call.optional_text("Issue", "assignee")
    return spelled(call, [one]) if one else []


def _assignee(call: ApiCall) -> str | None:
    """Return the wanted assignee of a list, as its account spells the login; 422 for nobody's."""
    wanted = call.query.get("assignee")
    if wanted in {None, "", "*", "none"}:
        return wanted or None
    account = call.site.world.find_account(str(wanted))
    if account is None:
        error = {"value": wanted, "resource": "Issue", "field": "assignee", "code": "invalid"}
        raise Refusal(422, "Validation Failed", errors=(error,))
    return account.login


def _has_milestone(call: ApiCall) -> bool:
    """Return whether only issues with a milestone are wanted: there are none here; 422 for a named one."""
    wanted = call.query.get("milestone", "none")
    if wanted in {"", "*", "none"}:
        return wanted == "*"
    raise Refusal(422, "Validation Failed", errors=({"value": wanted, **_INVALID_MILESTONE},))


def _assigned(issue: IssueRecord, assignee: str | None) -> bool:
    match assignee:
        case None:
            return True
        case "*":
            return bool(issue.assignees)
        case "none":
            return not issue.assignees
        case login:
            return login in issue.assignees


def _shown(call: ApiCall, number: int, *, status: int = 200) -> Reply:
    issue = wire.issue(call.site, call.repository, call.repository.issues.require(number))
    return Reply(status, issue, {"Location": issue["url"]} if status == 201 else {})
