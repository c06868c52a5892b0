"""Check runs and check suites: what Apps say of a commit."""

from __future__ import annotations

from typing import Any

from lab.github.ci.check_report import read_report
from lab.github.http.call import Call, Operations, Reply
from lab.github.http.refusals import Refusal
from lab.github.routes.commits import information, resolved
from lab.github.wire import checks as wire
from lab.github.world.apps import AppRecord
from lab.github.world.checks import CheckRecord

routes = Operations()


@routes.get("/commits/{ref}/check-runs", "checks")
async def list_check_runs(call: Call) -> Reply:
    """The check runs of a commit: the newest of each App and name, or all with `filter=all`."""
    latest = call.choice("CheckRun", "filter", ("latest", "all")) == "latest"
    name, status, app_id = (call.query.get(key) for key in ("check_name", "status", "app_id"))
    found = [
        check
        for check in call.repository.checks.of(await resolved(call), latest=latest)
        if name in {None, check.name} and status in {None, check.status} and _of_app(call, check.app, app_id)
    ]
    return call.page(found, lambda check: wire.check_run(call.site, call.repository, check), key="check_runs")


@routes.get("/commits/{ref}/check-suites", "checks")
async def list_check_suites(call: Call) -> Reply:
    """The check suites of a commit, by App and by the name of a check run in them."""
    sha, checks = await resolved(call), call.repository.checks
    name, app_id = call.query.get("check_name"), call.query.get("app_id")
    found = [
        suite
        for suite in checks.suites(sha)
        if _of_app(call, suite.app, app_id) and name in {None, *(check.name for check in checks.jobs(suite))}
    ]
    head = await information(call, sha)
    return call.page(found, lambda suite: wire.suite(call.site, call.repository, suite, head), key="check_suites")


@routes.get("/check-runs/{check_run_id}", "checks")
async def get_check_run(call: Call) -> Reply:
    """One check run."""
    return _shown(call, call.repository.checks.require_check(call.number("check_run_id")))


@routes.get("/check-runs/{check_run_id}/annotations", "checks")
async def list_annotations(call: Call) -> Reply:
    """The remarks of one check run."""
    check = call.repository.checks.require_check(call.number("check_run_id"))
    return call.page(check.annotations, lambda one: wire.annotation(call.site, call.repository, check, one))


@routes.write("POST", "/check-runs", "checks")
async def create_check_run(call: Call) -> Reply:
    """A check run of the calling App; people's tokens cannot report any."""
    app, checks = _reporter(call), call.repository.checks
    name, wanted = call.text("CheckRun", "name"), call.text("CheckRun", "head_sha")
    sha = await call.repository.bare.sha(wanted)
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {wanted}")
    report = read_report(call)
    branches = await call.repository.bare.refs("refs/heads/")
    branch = next((ref.removeprefix("refs/heads/") for ref, tip in branches.items() if tip == sha), "")
    started: dict[str, Any] = {"status": "queued", **report}
    return _shown(call, checks.report(checks.suite(sha, branch, app.slug), name, **started), status=201)


@routes.write("PATCH", "/check-runs/{check_run_id}", "checks")
async def update_check_run(call: Call) -> Reply:
    """Change a check run of the calling App; annotations are added to those that it has."""
    app, checks = _reporter(call), call.repository.checks
    check = checks.require_check(call.number("check_run_id"))
    if check.app != app.slug:
        sentence = "check run can only be modified by the GitHub App that created it."
        raise Refusal(403, f"Invalid app_id `{app.id}` - {sentence}")
    report, name = read_report(call), call.optional_text("CheckRun", "name")
    report["annotations"] = (*check.annotations, *report.get("annotations", ()))
    return _shown(call, checks.checks.change(check.id, **report, **({} if name is None else {"name": name})))


def _reporter(call: Call) -> AppRecord:
    app = call.site.world.apps.written_by(call.login)
    if app is None:
        raise Refusal(403, "You must authenticate via a GitHub App.")
    return app


def _of_app(call: Call, slug: str, app_id: str | None) -> bool:
    return app_id is None or wire.app_id(call.site, slug) == app_id


def _shown(call: Call, check: CheckRecord, *, status: int = 200) -> Reply:
    return Reply(status, wire.check_run(call.site, call.repository, check))
