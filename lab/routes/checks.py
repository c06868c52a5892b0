"""What is said of a commit: check runs and commit statuses."""

from __future__ import annotations

from lab.call import Call, Operations, Reply
from lab.refusals import Refusal, invalid
from lab.wire import checks as wire
from lab.world.checks import StatusRecord

routes = Operations()

STATES = ("error", "failure", "pending", "success")


@routes.get("/commits/{ref}/check-runs", "checks")
async def list_check_runs(call: Call) -> Reply:
    """The check runs of a commit: the newest of each name, or all with `filter=all`."""
    latest = call.choice("CheckRun", "filter", ("latest", "all")) == "latest"
    name, status = call.query.get("check_name"), call.query.get("status")
    found = [
        check
        for check in call.repository.checks.of(await resolved(call), latest=latest)
        if name in {None, check.name} and status in {None, check.status}
    ]
    return call.page(found, lambda check: wire.check_run(call.site, call.repository, check), key="check_runs")


@routes.get("/check-runs/{check_run_id}", "checks")
async def get_check_run(call: Call) -> Reply:
    """One check run."""
    check = call.repository.checks.require_check(call.number("check_run_id"))
    return Reply(body=wire.check_run(call.site, call.repository, check))


@routes.get("/check-runs/{check_run_id}/annotations", "checks")
async def list_annotations(call: Call) -> Reply:
    """The remarks of one check run."""
    check = call.repository.checks.require_check(call.number("check_run_id"))
    return call.page(check.annotations, lambda one: wire.annotation(call.site, call.repository, check, one))


@routes.get("/commits/{ref}/status", "statuses")
async def get_combined_status(call: Call) -> Reply:
    """The statuses of a commit and what they add up to; `pending` when there are none."""
    sha = await resolved(call)
    return Reply(body=wire.combined(call.site, call.repository, sha, call.repository.checks.statuses_of(sha)))


@routes.write("POST", "/statuses/{sha}", "statuses")
async def create_status(call: Call) -> Reply:
    """Say something of a commit."""
    sha = await call.repository.bare.sha(call.match["sha"])
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {call.match['sha']}")
    state = call.text("Status", "state")
    if state not in STATES:
        raise invalid("Status", "state")
    registrar = call.repository.registrar
    record = StatusRecord(
        id=registrar.new_id(),
        sha=sha,
        state=state,
        context=call.optional_text("Status", "context") or "default",
        description=call.optional_text("Status", "description"),
        target_url=call.optional_text("Status", "target_url"),
        creator=call.login,
        at=registrar.now(),
    )
    shown = wire.status(call.site, call.repository, call.repository.checks.set_status(record))
    return Reply(201, shown, {"Location": shown["url"]})


async def resolved(call: Call) -> str:
    """The commit that the path's `ref` names, or 422 as GitHub words it."""
    sha = await call.repository.bare.sha(call.match["ref"])
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {call.match['ref']}")
    return sha
