"""Issues: list, create, read, change; their assignees, their sub-issues, and what blocks them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lab.github.http.call import THREADS, ApiCall, Operations, Reply, created
from lab.github.http.refusals import Refusal, invalid, no_rights
from lab.github.repositories.pull_refs import hide_merge
from lab.github.wire import repositories
from lab.github.wire import threads as wire
from lab.github.wire.site import Json
from lab.github.world.issues import IssueRecord, check_labels

routes = Operations()

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
            and _is_assigned(issue, assignee)
            and (not mentioned or re.search(rf"@{re.escape(mentioned)}\b", issue.body or "", re.I))
            and not planned
        )

    found = call.repository.issues.records.seen(call.stale, wanted)
    sort = call.choice("Issue", "sort", ("created", "updated", "comments"))
    field = {"created": "created_at", "updated": "updated_at", "comments": "comments"}[sort]
    descending = call.choice("Issue", "direction", ("desc", "asc")) == "desc"
    found.sort(key=lambda issue: (getattr(issue, field), issue.number), reverse=descending)
    return call.list(wire.issue, found)


@routes.write("POST", "/issues", "issues", role="read", creates=True)
async def create_issue(call: ApiCall) -> Reply:
    """A new issue; labels and assignees of those who may not set them are dropped silently."""
    title, body = call.text("Issue", "title"), call.optional_text("Issue", "body")
    labels, assignees = call.names("Issue", "labels") or [], _assignees(call) or []
    issues = call.repository.issues
    if call.trusted:
        _check_assignable(call, assignees)
        check_labels(labels)
    issue = issues.open(call.login, title, body)
    if call.trusted:
        issues.add_labels(issue.number, labels, call.login)
        issues.assign(issue.number, assignees, call.login)
    return created(_show(call, issue.number))


@routes.get("/issues/{issue_number}", *THREADS)
async def get_issue(call: ApiCall) -> Reply:
    """One issue or pull request."""
    issue = call.repository.issues.require(call.number("issue_number"), call.stale)
    return Reply(body=call.show(wire.issue, issue))


@routes.write("PATCH", "/issues/{issue_number}", *THREADS, role="read")
async def update_issue(call: ApiCall) -> Reply:
    """Change title, body, state, labels and assignees, whichever are given, in one step."""
    number, issues = call.number("issue_number"), call.repository.issues
    if not call.trusted and issues.require(number).author != call.login:
        raise no_rights()
    labels, assignees = call.names("Issue", "labels"), _assignees(call)
    title, body = call.optional_text("Issue", "title"), call.optional_text("Issue", "body")
    state, reason = _state(call)
    _check_assignable(call, assignees or [])
    check_labels(labels or [])
    if title is not None or body is not None:
        issues.edit(number, call.login, title=title, body=body)
    if labels is not None and call.trusted:
        issues.set_labels(number, labels, call.login)
    if assignees is not None and call.trusted:
        gone = [login for login in issues.require(number).assignees if login not in assignees]
        issues.unassign(number, gone, call.login)
        issues.assign(number, assignees, call.login)
    if state is not None:
        await _open_or_close(call, number, state, reason)
    return Reply(body=_show(call, number))


@routes.write("POST", "/issues/{issue_number}/assignees", *THREADS)
async def add_assignees(call: ApiCall) -> Reply:
    """Assign people; those who may not be assigned are passed over silently, as GitHub does here."""
    number, names = call.number("issue_number"), call.names("Issue", "assignees") or []
    fit = [login for login in _spell_logins(call, names) if _may_be_assigned(call, login)]
    call.repository.issues.assign(number, fit, call.login)
    return Reply(201, _show(call, number))


@routes.write("DELETE", "/issues/{issue_number}/assignees", *THREADS)
async def remove_assignees(call: ApiCall) -> Reply:
    """Take people off."""
    number, names = call.number("issue_number"), call.names("Issue", "assignees") or []
    call.repository.issues.unassign(number, _spell_logins(call, names), call.login)
    return Reply(body=_show(call, number))


@routes.get("/issues/{issue_number}/sub_issues", "issues")
async def list_sub_issues(call: ApiCall) -> Reply:
    """The issues that are part of this one."""
    return _list_beside(call, call.repository.relations.children(call.issue().number))


@routes.write("POST", "/issues/{issue_number}/sub_issues", "issues", creates=True)
async def add_sub_issue(call: ApiCall) -> Reply:
    """Make an issue (by its id, not its number) part of this one; the answer is this one."""
    number, child = call.issue().number, call.integer("Issue", "sub_issue_id")
    if child is None:
        raise invalid("Issue", "sub_issue_id", "missing_field")
    replace = call.fields.get("replace_parent") is True
    call.repository.relations.adopt(number, child, call.login, replace=replace)
    return created(_show_beside(call, call.repository.issues.require(number)))


@routes.get("/issues/{issue_number}/dependencies/blocked_by", "issues")
async def list_blocked_by(call: ApiCall) -> Reply:
    """The issues that this one waits for."""
    return _list_beside(call, call.repository.relations.blocked_by(call.issue().number))


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
        return None if several is None else _spell_logins(call, several)
    one = call.optional_text("Issue", "assignee")
    return _spell_logins(call, [one]) if one else []


def _spell_logins(call: ApiCall, logins: Iterable[str]) -> list[str]:
    """Return each login as its account spells it; a login without an account stays as it is."""
    found = ((login, call.site.world.find_account(login)) for login in logins)
    return [login if account is None else account.login for login, account in found]


def _check_assignable(call: ApiCall, logins: Iterable[str]) -> None:
    """Raise 422 when one of these people may not be assigned."""
    if not all(_may_be_assigned(call, login) for login in logins):
        raise invalid("Issue", "assignees")


def _may_be_assigned(call: ApiCall, login: str) -> bool:
    exists = call.site.world.find_account(login) is not None
    return exists and call.repository.facts.reaches(login, "write")


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


def _is_assigned(issue: IssueRecord, assignee: str | None) -> bool:
    match assignee:
        case None:
            return True
        case "*":
            return bool(issue.assignees)
        case "none":
            return not issue.assignees
        case login:
            return login in issue.assignees


def _show(call: ApiCall, number: int) -> Json:
    return call.show(wire.issue, call.repository.issues.require(number))


def _list_beside(call: ApiCall, numbers: Sequence[int]) -> Reply:
    issues = [call.repository.issues.require(number) for number in numbers]
    return call.page(issues, lambda issue: _show_beside(call, issue))


def _show_beside(call: ApiCall, issue: IssueRecord) -> Json:
    """Show an issue beside others of any repository, with the repository that it belongs to."""
    home = call.show(repositories.repository)
    return {**call.show(wire.issue, issue), "repository": home}
