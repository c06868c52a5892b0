"""Operations on relations of issues: sub-issues, and issues that block others."""

from __future__ import annotations

from collections.abc import Sequence

from lab.github.http.call import ApiCall, Operations, Reply, created
from lab.github.http.refusals import invalid
from lab.github.wire import repositories
from lab.github.wire import threads as wire
from lab.github.wire.site import Json
from lab.github.world.issues import IssueRecord

routes = Operations()


@routes.get("/issues/{issue_number}/sub_issues", "issues")
async def list_sub_issues(call: ApiCall) -> Reply:
    """The issues that are part of this one."""
    return _list(call, call.repository.relations.children(call.issue().number))


@routes.write("POST", "/issues/{issue_number}/sub_issues", "issues", creates=True)
async def add_sub_issue(call: ApiCall) -> Reply:
    """Make an issue (by its id, not its number) part of this one; the answer is this one."""
    number, child = call.issue().number, call.integer("Issue", "sub_issue_id")
    if child is None:
        raise invalid("Issue", "sub_issue_id", "missing_field")
    replace = call.fields.get("replace_parent") is True
    call.repository.relations.adopt(number, child, call.login, replace=replace)
    return created(_show(call, call.repository.issues.require(number)))


@routes.get("/issues/{issue_number}/dependencies/blocked_by", "issues")
async def list_blocked_by(call: ApiCall) -> Reply:
    """The issues that this one waits for."""
    return _list(call, call.repository.relations.blocked_by(call.issue().number))


def _list(call: ApiCall, numbers: Sequence[int]) -> Reply:
    issues = [call.repository.issues.require(number) for number in numbers]
    return call.page(issues, lambda issue: _show(call, issue))


def _show(call: ApiCall, issue: IssueRecord) -> Json:
    """Show an issue beside others of any repository, with the repository that it belongs to."""
    home = call.show(repositories.repository)
    return {**call.show(wire.issue, issue), "repository": home}
