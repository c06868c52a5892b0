"""Operations on the assignees of an issue."""

from __future__ import annotations

from collections.abc import Iterable

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import invalid
from lab.github.wire import threads as wire
from lab.github.world.issues import IssueRecord

routes = Operations()


@routes.write("POST", "/issues/{issue_number}/assignees", "issues", "pull_requests")
async def add_assignees(call: ApiCall) -> Reply:
    """Assign people; those who may not be assigned are passed over silently, as GitHub does here."""
    number, names = call.number("issue_number"), call.names("Issue", "assignees") or []
    fit = [login for login in spelled(call, names) if _may_be_assigned(call, login)]
    return _shown(call, call.repository.issues.assign(number, fit, call.login), 201)


@routes.write("DELETE", "/issues/{issue_number}/assignees", "issues", "pull_requests")
async def remove_assignees(call: ApiCall) -> Reply:
    """Take people off."""
    number, names = call.number("issue_number"), call.names("Issue", "assignees") or []
    return _shown(call, call.repository.issues.unassign(number, spelled(call, names), call.login), 200)


def spelled(call: ApiCall, logins: Iterable[str]) -> list[str]:
    """Return each login as its account spells it; a login without an account stays as it is."""
    found = ((login, call.site.world.find_account(login)) for login in logins)
    return [login if account is None else account.login for login, account in found]


def assignable(call: ApiCall, logins: Iterable[str]) -> None:
    """Raise 422 when one of these people may not be assigned."""
    if not all(_may_be_assigned(call, login) for login in logins):
        raise invalid("Issue", "assignees")


def _may_be_assigned(call: ApiCall, login: str) -> bool:
    exists = call.site.world.find_account(login) is not None
    return exists and call.repository.facts.reaches(login, "write")


def _shown(call: ApiCall, issue: IssueRecord, status: int) -> Reply:
    return Reply(status, wire.issue(call.site, call.repository, issue))
