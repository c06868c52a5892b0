"""Events become traces at a collector that decodes them; without one they wait, and nobody notices but the figures."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from otlp_receiver import Receiver, attributes
from structlog.testing import capture_logs
from telemetry_bench import AT, event

from shared.telemetry.event_log import Hopeless, NoEventLog, Written
from shared.telemetry.events import Event, EventKind
from shared.telemetry.otlp_store import NotTaken, OtlpStore

CALL = {
    "role": "developer",
    "backend": "claude",
    "model": "opus",
    "ending": "completed",
    "call": "implement",
    "input_tokens": 100,
    "output_tokens": 20,
    "cached_tokens": 1000,
    "cache_write_tokens": 50,
    "cost_usd": 0.25,
    "cost_source": "cli",
    "seconds": 30.0,
}
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"
TESTS = {"place": "evidence", "outcome": "failed", "passed": 3, "failed": 1, "limit": None, "seconds": 2.5}


def life(**ended: Any) -> list[Event]:
    """Return the events of a worker's run on issue 7 from its claim to its end."""
    story: list[tuple[int, EventKind, str, dict[str, Any]]] = [
        (0, EventKind.CLAIM, "red", {"stage": "implementing", "first": True}),
        (40, EventKind.LLM_CALL, "red", CALL),
        (50, EventKind.TEST_RUN, "red", TESTS),
        (60, EventKind.PHASE, "green", {"was": "red"}),
        (70, EventKind.LLM_CALL, "green", {**CALL, "ending": "timed out", "backend": "codex", "cost_usd": None}),
        (80, EventKind.LABEL, "green", {"change": "added", "labels": ["status:testing"]}),
        (90, EventKind.PHASE, "ci", {"was": "green"}),
        (100, EventKind.CI, "ci", {"verdict": "running", "commit": "abc", "checks": 1}),
        (160, EventKind.CI, "ci", {"verdict": "green", "commit": "abc", "checks": 1}),
        (200, EventKind.ENDED, "ci", {"status": "handed over", **ended}),
    ]
    return [event(kind, at=AT + timedelta(seconds=at), phase=phase, data=data) for at, kind, phase, data in story]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    with receiver.listening():
        yield receiver


def trail(url: str, hide: Any = str, **options: Any) -> Written:
    store = OtlpStore(f"{url}/v1/traces", {"api-key": "k"}, {"service.name": "engine"}, hide)
    return Written(store, keep=timedelta(days=90), to="collector", **options)


def told(url: str, events: list[Event], hide: Any = str) -> None:
    one = trail(url, hide)
    for each in events:
        one.record(each)
    one.close(10)


def seconds(span: Any) -> tuple[float, float]:
    """Return begin and end of a span, in seconds after the claim."""
    start = int(AT.timestamp() * 1_000_000_000)
    return (span.start_time_unix_nano - start) / 1e9, (span.end_time_unix_nano - start) / 1e9


def test_a_run_is_one_trace(receiver: Receiver) -> None:
    told(receiver.url, life())
    (root,) = receiver.named("worker run")
    assert {span.trace_id for span in receiver.spans} == {root.trace_id}
    assert root.parent_span_id == b""
    times = {span.name: seconds(span) for span in receiver.spans if not span.name.startswith("invoke")}
    assert times == {
        "worker run": (0, 200),
        "phase red": (0, 60),
        "phase green": (60, 90),
        "phase ci": (90, 200),
        "tests evidence": (47.5, 50),
        "wait for CI": (100, 160),
    }
    parents = {span.name: span.parent_span_id for span in receiver.spans}
    assert {parents[name] for name in times if name.startswith(("phase", "wait"))} == {root.span_id}
    assert parents["tests evidence"] == receiver.named("phase red")[0].span_id
    of_root = attributes(root)
    assert of_root["workflow.status"] == "handed over"
    assert (of_root["workflow.repository"], of_root["workflow.issue"], of_root["workflow.run"]) == ("a/b", 7, "50")
    assert root.status.code == 0
    (label,) = receiver.named("phase green")[0].events
    assert (label.name, attributes(label)["workflow.label.labels"]) == ("label", ["status:testing"])
    assert receiver.resources[0]["service.name"] == "engine"
    assert {headers["api-key"] for headers in receiver.headers} == {"k"}
    assert set(receiver.paths) == {"/v1/traces"}


def test_a_call_of_a_model_is_told_by_the_conventions(receiver: Receiver) -> None:
    told(receiver.url, life())
    first, second = receiver.named("invoke_agent developer")
    assert seconds(first) == (10, 40)
    wanted = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": "opus",
        "gen_ai.agent.name": "developer",
        "gen_ai.usage.input_tokens": 1150,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 1000,
        "gen_ai.usage.cache_creation.input_tokens": 50,
        "workflow.llm.cost_usd": 0.25,
        "workflow.llm.cost_source": "cli",
    }
    assert wanted.items() <= attributes(first).items()
    assert (first.status.code, second.status.code) == (0, 2)
    assert attributes(second)["error.type"] == "timed out"
    assert attributes(second)["gen_ai.provider.name"] == "openai"
    assert "workflow.llm.cost_usd" not in attributes(second), "nobody knows it"


@pytest.mark.parametrize(("status", "code"), [("failed", 2), ("lost", 2), ("parked", 0), ("stopped", 0)])
def test_a_run_that_failed_is_an_error(receiver: Receiver, status: str, code: int) -> None:
    told(receiver.url, life(status=status, sentence="No test fits."))
    (root,) = receiver.named("worker run")
    assert (root.status.code, root.status.message) == (code, "No test fits." if code else "")


def test_what_belongs_to_no_run_begins_no_trace(receiver: Receiver) -> None:
    told(receiver.url, [event(EventKind.AGENT, run="", data={"state": "started"}), event(EventKind.LABEL), *life()])
    assert len(receiver.named("worker run")) == 1
    assert all("workflow.agent.state" not in attributes(one) for span in receiver.spans for one in span.events)


def test_every_text_is_hidden_at_last(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "owner=hunter2")
    leaky = life(status="failed", sentence="It said hunter2.")
    leaky.insert(1, event(EventKind.LABEL, data={"labels": ["hunter2"], "more": {"a": "hunter2"}}))
    leaky.insert(2, event(EventKind.TEST_RUN, data={"place": "hunter2", "seconds": 1}))
    told(receiver.url, leaky, lambda text: text.replace("hunter2", "***"))
    assert receiver.named("tests ***")
    assert b"hunter2" not in b"".join(receiver.bodies)
    told(receiver.url, leaky)
    assert b"".join(receiver.bodies).count(b"hunter2") >= 6, "the control: unhidden it is there"


def test_a_collector_that_refuses_gets_everything_once_later(receiver: Receiver) -> None:
    receiver.refusals = [500, 404]
    with capture_logs() as logs:
        one = trail(receiver.url, pause=0.01)
        for each in life():
            one.record(each)
        deadline = time.monotonic() + 20
        while not receiver.named("worker run") and time.monotonic() < deadline:
            time.sleep(0.01)
        one.close(10)
    names = [span.name for span in receiver.spans]
    assert sorted(names) == sorted([*{*names}, "invoke_agent developer"]), "each span once, of the two calls both"
    assert one.dropped == 0
    assert [line["event"] for line in logs] == ["events_not_written", "events_written_again"]
    assert {line["to"] for line in logs} == {"collector"}
    assert "500" in logs[0]["error"]


@pytest.mark.parametrize("status", [400, 413])
def test_what_a_collector_refuses_for_good_holds_up_no_other_trace(receiver: Receiver, status: int) -> None:
    receiver.refusals = [status]
    store = OtlpStore(f"{receiver.url}/v1/traces", {}, {}, str)
    with pytest.raises(Hopeless, match=str(status)):
        store.append(life(), None)
    store.append(life(), None)
    store.close()
    assert len(receiver.named("worker run")) == 1, "the second run; the first is not sent again"


def test_no_collector_costs_nothing_but_a_count() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf, capture_logs() as logs:  # takes connections, answers nothing
        first, other = Kept(), trail(f"http://127.0.0.1:{deaf.getsockname()[1]}", room=4)
        (claim, call, *rest) = life()

        def record(event: Event) -> None:
            first.record(event)
            other.record(event)

        record(claim)
        other.close(10)
        record(call)
        connection, _ = deaf.accept()
        for each in rest:
            record(each)
        assert len(first.events) == 10, "the trail has all"
        assert (first.dropped, other.dropped) == (0, 5), "one is being sent, three wait"
        other.close(0.05)
        assert other.dropped == 9
        connection.sendall(REFUSED)
        other.close(10)  # no line of its thread is for the next test
        connection.close()
    assert [line["event"] for line in logs] == ["events_lost", "events_not_written"]


def test_stores_that_fail_side_by_side_leave_nothing_in_the_log_of_the_process(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as slow_one:
        slow = OtlpStore(f"http://127.0.0.1:{slow_one.getsockname()[1]}/v1/traces", {}, {}, str)
        failures: list[NotTaken] = []
        thread = threading.Thread(target=lambda: failures.append(_failure(slow)))
        thread.start()
        connection, _ = slow_one.accept()
        receiver.refusals = [404]
        assert "404" in str(_failure(OtlpStore(f"{receiver.url}/v1/traces", {}, {}, str))), "ends while the other waits"
        connection.sendall(REFUSED)
        thread.join()
        connection.close()
    assert ["403" in str(failure) for failure in failures] == [True], "each heard its own"
    assert not caplog.records


def _failure(store: OtlpStore) -> NotTaken:
    with pytest.raises(NotTaken) as caught:
        store.append(life(), None)
    return caught.value


class Kept(NoEventLog):
    """A trail in memory."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def record(self, event: Event) -> None:
        self.events.append(event)
