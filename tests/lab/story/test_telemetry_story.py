"""A story in the lab, as its trail tells it; and the dashboard, whose every question its figures answer."""

from __future__ import annotations

import json
import re
from pathlib import Path

import aiohttp
import pytest
from engine import OWNER, REPOSITORY, Engine, demo_script
from otlp_receiver import Receiver, attributes
from prometheus_client.parser import text_string_to_metric_families
from promql import asked
from story_scene import has, tell

from config.observability import HealthSettings
from shared.telemetry.events import Event, EventKind, Query
from shared.telemetry.sqlite_store import SqliteStore
from shared.workflow import Role

DASHBOARD = Path(__file__).parents[3] / "deploy/grafana/workflow-engine.json"


def expressions() -> list[str]:
    panels = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


async def up_to_the_first_review(engine: Engine) -> list[str]:
    """Run one agent of each kind on one machine; return what each finally answers at `/metrics`."""
    story = tell(engine)
    async with engine.agent(Role.PLANNER) as planner:
        await engine.until(lambda: has(engine, story, "status:awaiting-approval"), planner)
        engine.lab.clock.advance(2)
        engine.lab.comment(REPOSITORY, story, "/approve", author=OWNER)
        await engine.until(lambda: has(engine, story, "status:specified"), planner)
        async with engine.agent(Role.WORKER) as worker, engine.agent(Role.REVIEWER) as reviewer:
            await engine.until(lambda: has(engine, 3, "status:changes-requested"), worker, reviewer)
            return [await scraped(engine, role) for role in (Role.PLANNER, Role.WORKER, Role.REVIEWER)]


async def scraped(engine: Engine, role: Role) -> str:
    async with (
        engine.chronicles[role].served(HealthSettings(port=0)) as port,
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/metrics") as answer,
    ):
        return await answer.text()


def trail(engine: Engine) -> list[Event]:
    path = engine.directory / "machine-1" / "events.db"
    return [row.event for row in SqliteStore(path).read(Query(repository=REPOSITORY), 10_000)]


@pytest.mark.long
async def test_a_story_leaves_a_trail_and_figures_that_the_dashboard_can_show(engine: Engine, tmp_path: Path) -> None:
    engine.scenario = demo_script(tmp_path)
    engine.repository_settings |= {"approval": "comment"}
    receiver = Receiver()
    with receiver.listening() as collector:
        engine.more_settings["telemetry"] = {"otlp_endpoint": collector}
        pages = await up_to_the_first_review(engine)
    told = trail(engine)

    of_issue = [one for one in told if one.issue == 2]
    assert [one.phase for one in of_issue if one.kind is EventKind.PHASE][:3] == ["red", "green", "ci"]
    calls = [one.data["call"] for one in told if one.kind is EventKind.LLM_CALL]
    assert calls[:3] == ["plan", "write_tests", "implement"]
    assert all(
        one.run for one in told if one.kind in {EventKind.LLM_CALL, EventKind.TEST_RUN, EventKind.CI, EventKind.REVIEW}
    )
    runs = [(one.data["outcome"], one.data["failed"]) for one in of_issue if one.kind is EventKind.TEST_RUN]
    assert runs[0] == ("passed", 0), "the base is green before anything is written"
    assert {outcome for outcome, _ in runs} == {"passed", "failed"}
    states = [one.data["state"] for one in told if one.kind is EventKind.APPROVAL and one.issue == 1]
    assert states == ["requested", "granted"]
    assert [one.data["verdict"] for one in told if one.kind is EventKind.REVIEW] == ["changes_requested"]
    assert {one.data["verdict"] for one in told if one.kind is EventKind.CI} >= {"red", "green"}
    begun = {one.run for one in told if one.kind is EventKind.CLAIM}
    assert {one.run for one in told if one.kind is EventKind.ENDED} == begun, "every run that began has ended"
    assert not [one for one in told if one.kind is EventKind.ESCALATION]
    assert "ghs_" not in str(told)

    shows_what_the_dashboard_asks(pages)
    every_run_is_a_trace(told, receiver)
    assert all("traceparent" not in {name.casefold() for name in one.request_headers} for one in engine.lab.exchanges)


def every_run_is_a_trace(told: list[Event], receiver: Receiver) -> None:
    roots = [span for span in receiver.spans if not span.parent_span_id]
    assert {attributes(root)["workflow.run"] for root in roots} == {
        one.run for one in told if one.kind is EventKind.CLAIM
    }
    assert {root.name for root in roots} == {"planner run", "worker run", "reviewer run"}
    assert len({root.trace_id for root in roots}) == len(roots)
    assert {span.trace_id for span in receiver.spans} == {root.trace_id for root in roots}
    calls = [span for span in receiver.spans if span.name.startswith("invoke_agent")]
    assert len(calls) == len([one for one in told if one.kind is EventKind.LLM_CALL and one.run])
    assert receiver.named("wait for CI")
    assert receiver.named("tests evidence")


def shows_what_the_dashboard_asks(pages: list[str]) -> None:
    known, labels = families(pages)
    for expression in expressions():
        for name, wanted in asked(expression):
            assert name in known, f"{expression}: no agent has {name}"
            missing = wanted - labels.get(name, wanted)
            assert not missing, f"{expression}: {name} has no label {missing}"
    for name in (
        "workflow_engine_started_total",
        "workflow_engine_queue_depth",
        "workflow_engine_github_budget_remaining",
        "workflow_engine_duration_seconds_bucket",
    ):
        assert labels.get(name), f"{name} has no value after a whole story"


def families(pages: list[str]) -> tuple[set[str], dict[str, set[str]]]:
    """Return the names that can be asked for, and the labels of those that have a value."""
    known: set[str] = set()
    labels: dict[str, set[str]] = {}
    for page in pages:
        for name, kind in re.findall(r"^# TYPE (\S+) (\S+)$", page, re.MULTILINE):
            known |= {f"{name}{part}" for part in ("_bucket", "_sum", "_count")} if kind == "histogram" else {name}
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                labels.setdefault(sample.name, set()).update(sample.labels)
    return known, labels


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ('sum by (a) (rate(x_total{b=~"$r", c!="}"}[5m])) * 60', {("x_total", frozenset("abc"))}),
        ("x_sum / on (k) y_count", {("x_sum", frozenset("k")), ("y_count", frozenset("k"))}),
        ("histogram_quantile(0.5, sum by (le) (rate(z_bucket[1h])))", {("z_bucket", frozenset({"le"}))}),
    ],
)
def test_what_an_expression_asks_for_is_found(expression: str, found: set[tuple[str, frozenset[str]]]) -> None:
    assert asked(expression) == found


def test_a_dashboard_that_asks_for_what_nobody_has_is_noticed() -> None:
    names = {name for expression in expressions() for name, _ in asked(expression)}
    assert len(names) > 20
    known, _ = families(["# TYPE workflow_started_total counter\n"])
    assert names - known
