"""Lines that no program prints: whatever one says, reading it is no error, and it makes no run look cheap or done."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from shared.llm import codex_output
from shared.llm.claude_events import Transcript, verdict
from shared.llm.cli.stream import Event, JsonLines
from shared.llm.port import Ending
from shared.llm.prices import MOST_TOKENS

RESULT: dict[str, Any] = {"type": "result", "subtype": "success", "result": "Done.", "total_cost_usd": 0.5}


def heard(*events: dict[str, Any]) -> list[Event]:
    """Return the events that are parsed from the lines of these events."""
    found: list[Event] = []
    lines = JsonLines(found.append)
    for event in events:
        lines.feed(json.dumps(event).encode() + b"\n")
    return found


def told(*events: dict[str, Any]) -> Transcript:
    """Return the transcript of a run of Claude Code with these events."""
    transcript = Transcript()
    for event in heard(*events):
        transcript.take(event)
    return transcript


@pytest.mark.parametrize(
    ("change", "ending"),
    [
        ({}, Ending.COMPLETED),
        ({"subtype": ["success"]}, Ending.UNKNOWN),
        ({"subtype": {"success": 1}}, Ending.UNKNOWN),
        ({"subtype": "error_x", "errors": "abc"}, Ending.UNKNOWN),
        ({"subtype": "error_x", "errors": {"a": 1}}, Ending.UNKNOWN),
        ({"is_error": "yes", "result": None, "api_error_status": "529"}, Ending.UNKNOWN),
        ({"is_error": True, "result": ["a"], "api_error_status": 10**30}, Ending.TRANSIENT),
        ({"modelUsage": [1]}, Ending.COMPLETED),
        ({"modelUsage": {"m": {"inputTokens": -5, "costUSD": "x"}, "n": 7}}, Ending.COMPLETED),
        ({"modelUsage": {"m": {"inputTokens": 1e30, "outputTokens": True, "costUSD": 1e300}}}, Ending.COMPLETED),
        ({"permission_denials": {"a": 1}}, Ending.COMPLETED),
        ({"permission_denials": [7, {"tool_name": ["x"]}, {}]}, Ending.COMPLETED),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else "",
)
def test_a_result_of_another_form_ends_a_run_by_what_can_be_read(change: dict[str, Any], ending: Ending) -> None:
    run = told({**RESULT, **change})
    found = verdict(run, structured=False)
    assert found is not None
    assert found.ending is ending
    assert 0 <= run.usage_so_far.input_tokens <= MOST_TOKENS
    assert run.usage_so_far.cost_usd == 0.5


@pytest.mark.parametrize("cost", ["0.1", [0], {"usd": 0}, True, -1, 10**400, None])
def test_a_cost_of_another_form_is_unknown_and_not_nothing(cost: object) -> None:
    usage = told({**RESULT, "total_cost_usd": cost}).usage_so_far
    assert (usage.cost_usd, usage.cost_source) == (None, "unknown")


EVENTS: list[dict[str, Any]] = [
    {"type": ["result"]},
    {"type": "system", "subtype": "init", "model": ["m"]},
    {"type": "system", "subtype": "api_retry", "error": ["x"], "error_status": [529]},
    {"type": "assistant", "message": {"content": "x"}},
    {"type": "assistant", "message": {"content": [7, {"type": ["text"]}]}, "error": {"a": 1}},
    {"type": "stream_event", "event": {"type": "message_start", "message": {"usage": {"input_tokens": "5"}}}},
    {"type": "stream_event", "event": {"type": "message_delta", "usage": {"output_tokens": -5}}},
    {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 10**4000}},
    {"type": "item.completed", "item": {"type": "file_change", "status": "failed", "changes": [1, {"path": ["x"]}]}},
    {"type": "item.completed", "item": {"type": "command_execution", "aggregated_output": 7, "status": "failed"}},
    {"type": "turn.completed", "usage": [1]},
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: json.dumps(event)[:60])
def test_an_event_of_another_form_neither_ends_a_run_nor_costs(event: dict[str, Any]) -> None:
    run = told(event)
    assert verdict(run, structured=False) is None
    assert (run.usage_so_far.input_tokens, run.usage_so_far.output_tokens, run.usage_so_far.cost_usd) == (0, 0, None)
    other = codex_output.Transcript()
    for one in heard(event):
        other.take(one)
    assert other.completed is (event["type"] == "turn.completed")
    assert dict(other.usage) == {}
    after = told(event, RESULT)
    found = verdict(after, structured=False)
    assert found is not None
    assert found.ending is Ending.COMPLETED, "the control: the run goes on"


@pytest.mark.parametrize("error", [{"message": ["x"]}, "boom", None, [], 7], ids=json.dumps)
def test_a_turn_that_failed_without_words_did_not_complete(error: object) -> None:
    run = codex_output.Transcript()
    for event in heard({"type": "turn.failed", "error": error}):
        run.take(event)
    found = codex_output.verdict(run, "", structured=False, now=datetime(2026, 11, 1, tzinfo=UTC))
    assert found is None or found.ending is not Ending.COMPLETED
