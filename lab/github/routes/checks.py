"""Check runs and check suites: results of Apps about a commit.

Parses an App's report of a check run, in the body of the operations that create and change one.
"""

from __future__ import annotations

from typing import Any

from lab.github.http.call import ApiCall, Operations, Reply
from lab.github.http.refusals import Refusal, invalid
from lab.github.routes.commits import resolve
from lab.github.wire import checks as wire
from lab.github.world.accounts import AppRecord
from lab.github.world.checks import AnnotationRecord, CheckRecord

routes = Operations()


@routes.get("/commits/{ref}/check-runs", "checks")
async def list_check_runs(call: ApiCall) -> Reply:
    """The check runs of a commit: the newest of each App and name, or all with `filter=all`."""
    latest = call.choice("CheckRun", "filter", ("latest", "all")) == "latest"
    name, status, app_id = (call.query.get(key) for key in ("check_name", "status", "app_id"))
    found = [
        check
        for check in call.repository.checks.of(await resolve(call, call.match["ref"]), latest=latest)
        if name in {None, check.name} and status in {None, check.status} and _of_app(call, check.app, app_id)
    ]
    return call.list(wire.check_run, found, key="check_runs")


@routes.get("/commits/{ref}/check-suites", "checks")
async def list_check_suites(call: ApiCall) -> Reply:
    """The check suites of a commit, by App and by the name of a check run in them."""
    sha, checks = await resolve(call, call.match["ref"]), call.repository.checks
    name, app_id = call.query.get("check_name"), call.query.get("app_id")
    found = [
        suite
        for suite in checks.suites(sha)
        if _of_app(call, suite.app, app_id) and name in {None, *(check.name for check in checks.jobs(suite))}
    ]
    head = await call.repository.bare.commit(sha)
    return call.page(found, lambda suite: call.show(wire.suite, suite, head), key="check_suites")


@routes.get("/check-runs/{check_run_id}", "checks")
async def get_check_run(call: ApiCall) -> Reply:
    """One check run."""
    return _show(call, call.repository.checks.require_check(call.number("check_run_id")))


@routes.get("/check-runs/{check_run_id}/annotations", "checks")
async def list_annotations(call: ApiCall) -> Reply:
    """The remarks of one check run."""
    check = call.repository.checks.require_check(call.number("check_run_id"))
    return call.page(check.annotations, lambda one: call.show(wire.annotation, check, one))


@routes.write("POST", "/check-runs", "checks")
async def create_check_run(call: ApiCall) -> Reply:
    """A check run of the calling App; people's tokens cannot report any."""
    app, checks = _reporter(call), call.repository.checks
    name, sha = call.text("CheckRun", "name"), await resolve(call, call.text("CheckRun", "head_sha"))
    report = read_report(call)
    branches = await call.repository.bare.refs("refs/heads/")
    branch = next((ref.removeprefix("refs/heads/") for ref, tip in branches.items() if tip == sha), "")
    started: dict[str, Any] = {"status": "queued", **report}
    return _show(call, checks.report(checks.suite(sha, branch, app.slug), name, **started), status=201)


@routes.write("PATCH", "/check-runs/{check_run_id}", "checks")
async def update_check_run(call: ApiCall) -> Reply:
    """Change a check run of the calling App; annotations are added to those that it has."""
    app, checks = _reporter(call), call.repository.checks
    check = checks.require_check(call.number("check_run_id"))
    if check.app != app.slug:
        sentence = "check run can only be modified by the GitHub App that created it."
        raise Refusal(403, f"Invalid app_id `{app.id}` - {sentence}")
    report, name = read_report(call), call.optional_text("CheckRun", "name")
    report["annotations"] = (*check.annotations, *report.get("annotations", ()))
    return _show(call, checks.checks.change(check.id, **report, **({} if name is None else {"name": name})))


def _reporter(call: ApiCall) -> AppRecord:
    app = call.site.world.apps.written_by(call.login)
    if app is None:
        raise Refusal(403, "You must authenticate via a GitHub App.")
    return app


def _of_app(call: ApiCall, slug: str, app_id: str | None) -> bool:
    return app_id is None or wire.app_id(call.site, slug) == app_id


def _show(call: ApiCall, check: CheckRecord, *, status: int = 200) -> Reply:
    return Reply(status, call.show(wire.check_run, check))


STATUSES = ("queued", "in_progress", "completed", "waiting", "requested", "pending")

CONCLUSIONS = frozenset({"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out"})
"""Conclusions that an App may report; `stale` comes from GitHub alone."""

MOST_ANNOTATIONS = 50
"""Annotations that one request may carry."""

LEVELS = frozenset({"notice", "warning", "failure"})

_RESOURCE = "CheckRun"


def read_report(call: ApiCall) -> dict[str, Any]:
    """The fields of a check run's record that the body gives; 422 for what GitHub does not take."""
    report: dict[str, Any] = {**_output(call), **_progress(call)}
    for name in ("external_id", "details_url"):
        found = call.optional_text(_RESOURCE, name)
        if found is not None:
            report[name] = found
    return report


def _progress(call: ApiCall) -> dict[str, Any]:
    """Status, conclusion and times; a conclusion completes a run, and completing one needs a conclusion."""
    status, conclusion = call.optional_text(_RESOURCE, "status"), call.optional_text(_RESOURCE, "conclusion")
    if status is not None and status not in STATUSES:
        raise invalid(_RESOURCE, "status")
    if conclusion is not None and conclusion not in CONCLUSIONS:
        raise invalid(_RESOURCE, "conclusion")
    if status == "completed" and conclusion is None:
        raise invalid(_RESOURCE, "conclusion", "missing_field")
    progress: dict[str, Any] = {"started_at": call.time(_RESOURCE, "started_at")}
    if conclusion is not None:
        ended = call.time(_RESOURCE, "completed_at") or call.repository.registrar.now()
        progress |= {"status": "completed", "conclusion": conclusion, "completed_at": ended}
    elif status is not None:
        progress |= {"status": status, "conclusion": None, "completed_at": None}
    return {name: value for name, value in progress.items() if name != "started_at" or value is not None}


def _output(call: ApiCall) -> dict[str, Any]:
    output = call.fields.get("output")
    if output is None:
        return {}
    if not isinstance(output, dict):
        raise invalid(_RESOURCE, "output")
    texts = {name: output.get(name) for name in ("title", "summary", "text")}
    if not all(text is None or isinstance(text, str) for text in texts.values()) or not texts["summary"]:
        raise invalid(_RESOURCE, "output")
    annotations = output.get("annotations") or []
    if not isinstance(annotations, list) or len(annotations) > MOST_ANNOTATIONS:
        raise invalid(_RESOURCE, "annotations")
    return {**texts, "annotations": tuple(_annotation(one) for one in annotations)}


def _annotation(given: Any) -> AnnotationRecord:
    fields = given if isinstance(given, dict) else {}
    lines = (fields.get("start_line"), fields.get("end_line"))
    texts = (fields.get("path"), fields.get("message"), fields.get("title") or "", fields.get("annotation_level"))
    readable = all(type(line) is int for line in lines) and all(isinstance(text, str) for text in texts)
    if not readable or fields["annotation_level"] not in LEVELS:
        raise invalid(_RESOURCE, "annotations")
    return AnnotationRecord(
        path=fields["path"],
        start_line=fields["start_line"],
        end_line=fields["end_line"],
        level=fields["annotation_level"],
        title=fields.get("title") or "",
        message=fields["message"],
    )
