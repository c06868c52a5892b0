"""Commit statuses: what anybody with a token says of a commit."""

from __future__ import annotations

from lab.github.http.call import ApiCall, Operations, Reply, created
from lab.github.http.refusals import Refusal, invalid
from lab.github.routes.commits import resolve_ref
from lab.github.wire import checks as wire

routes = Operations()

STATES = ("error", "failure", "pending", "success")

LONGEST_DESCRIPTION = 140
"""Characters."""


@routes.get("/commits/{ref}/status", "statuses")
async def get_combined_status(call: ApiCall) -> Reply:
    """The newest status of each context and what they add up to; `pending` when there are none."""
    sha = await resolve_ref(call)
    found = call.repository.checks.statuses_of(sha)
    page = call.list(wire.short_status, found)
    return Reply(body=call.show(wire.combined, sha, found, page.body), headers=page.headers)


@routes.get("/commits/{ref}/statuses", "statuses")
async def list_statuses(call: ApiCall) -> Reply:
    """Every status of a commit that was ever set, newest first."""
    sha = await resolve_ref(call)
    found = [status for status in call.repository.checks.statuses.values() if status.sha == sha]
    return call.list(wire.status, found[::-1])


@routes.write("POST", "/statuses/{sha}", "statuses")
async def create_status(call: ApiCall) -> Reply:
    """Say something of a commit."""
    sha = await call.repository.bare.sha(call.match["sha"])
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {call.match['sha']}")
    state, description = call.text("Status", "state"), call.optional_text("Status", "description")
    if state not in STATES:
        raise invalid("Status", "state")
    if description is not None and len(description) > LONGEST_DESCRIPTION:
        raise invalid("Status", "description")
    context, url = call.optional_text("Status", "context") or "default", call.optional_text("Status", "target_url")
    checks = call.repository.checks
    record = checks.say(sha, context, state, description=description, creator=call.login, url=url)
    return created(call.show(wire.status, record))
