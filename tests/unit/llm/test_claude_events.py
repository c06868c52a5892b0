"""Claude Code's events of a run, folded into a verdict: a table of its results, and the usage of a cut run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from shared.llm.claude_events import Transcript, uncounted, verdict
from shared.llm.cli.stream import LINE_CAP
from shared.llm.port import Ending

MODELS = {
    "claude-opus": {"inputTokens": 10, "outputTokens": 5, "cacheReadInputTokens": 3, "costUSD": 0.5},
    "claude-haiku": {"inputTokens": 1, "outputTokens": 1, "cacheCreationInputTokens": 2, "costUSD": 0.1},
}


def result(**changes: Any) -> dict[str, Any]:
    """Return a result event."""
    known = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "total_cost_usd": 0.6}
    return {**known, "modelUsage": MODELS, **changes}


def error(status: int | None, text: str = "no", **changes: Any) -> dict[str, Any]:
    """Return the result of a request that failed for good."""
    return result(is_error=True, api_error_status=status, result=text, **changes)


def said(word: str) -> dict[str, Any]:
    """Return an event with the CLI's word for an error."""
    return {"type": "assistant", "message": {"content": []}, "error": word}


def retried(status: int | None, word: str) -> dict[str, Any]:
    """Return the event of a request that is about to be tried again."""
    return {"type": "system", "subtype": "api_retry", "error_status": status, "error": word}


@pytest.mark.fault(24)
@pytest.mark.parametrize(
    ("events", "ending"),
    [
        ([result()], Ending.COMPLETED),
        ([result(), {"type": "task_updated"}], Ending.COMPLETED),
        ([result(result="  ")], Ending.EMPTY),
        ([result(stop_reason="refusal")], Ending.REFUSED),
        ([result(stop_reason="refusal", is_error=True)], Ending.REFUSED),
        ([result(subtype="error_max_turns", is_error=True)], Ending.MAX_TURNS),
        ([result(subtype="error_max_budget_usd", is_error=True)], Ending.MAX_BUDGET),
        ([result(subtype="error_max_structured_output_retries")], Ending.MALFORMED),
        ([result(subtype="error_during_execution")], Ending.UNKNOWN),
        ([result(subtype="error_of_tomorrow")], Ending.UNKNOWN),
        ([error(401)], Ending.AUTH),
        ([error(403)], Ending.AUTH),
        ([said("authentication_failed"), error(None)], Ending.AUTH),
        ([error(400, "This organization has been disabled.")], Ending.AUTH),
        ([error(400, "Your ANTHROPIC_API_KEY belongs to a disabled organization · Update or unset it")], Ending.AUTH),
        ([error(400, "Your credit balance is too low")], Ending.BILLING),
        ([said("billing_error"), error(403)], Ending.BILLING),
        ([error(429)], Ending.OVERLOADED),
        ([error(529)], Ending.OVERLOADED),
        ([retried(529, "overloaded"), said("server_error"), error(None)], Ending.OVERLOADED),
        ([error(500)], Ending.TRANSIENT),
        ([said("server_error"), error(None)], Ending.TRANSIENT),
        ([error(None, "API Error: API returned an empty response")], Ending.TRANSIENT),
        ([error(404)], Ending.CONFIG),
        ([said("model_not_found"), error(None)], Ending.CONFIG),
        ([error(400, "messages: too long")], Ending.PERSISTENT),
        ([said("max_output_tokens"), error(None)], Ending.PERSISTENT),
        ([error(429, "Claude AI usage limit reached|1800000000")], Ending.USAGE_LIMIT),
        ([error(429, "You've hit your weekly limit · resets 3am")], Ending.USAGE_LIMIT),
        ([error(None)], Ending.UNKNOWN),
    ],
)
def test_what_the_run_has_led_to(events: list[dict[str, Any]], ending: Ending) -> None:
    transcript = Transcript()
    for event in events:
        transcript.take(event)
    found = verdict(transcript, structured=False)
    assert found is not None
    assert found.ending is ending


@pytest.mark.parametrize(
    ("answer", "ending"),
    [({"a": 1}, Ending.COMPLETED), (None, Ending.MALFORMED), ("{}", Ending.MALFORMED), ([1], Ending.MALFORMED)],
)
def test_a_structured_answer_is_an_object_or_the_run_is_malformed(answer: object, ending: Ending) -> None:
    transcript = Transcript()
    transcript.take(result(structured_output=answer, result="raw text"))
    found = verdict(transcript, structured=True)
    assert found is not None
    assert (found.ending, found.text) == (ending, "raw text")
    assert found.answer == (answer if ending is Ending.COMPLETED else None)


def test_without_a_result_there_is_no_verdict_but_what_was_used_is_known() -> None:
    transcript = Transcript()
    for event in (
        {"type": "system", "subtype": "init", "model": "claude-opus"},
        {"type": "stream_event", "event": {"type": "message_start", "message": {"usage": {"input_tokens": 7}}}},
        {"type": "stream_event", "event": {"type": "message_delta", "usage": {"output_tokens": 4}}},
        {
            "type": "assistant",
            "message": {"content": [{"type": "text", "text": "thinking"}], "usage": {"output_tokens": 1}},
        },
    ):
        transcript.take(event)
    assert verdict(transcript, structured=False) is None
    spent = transcript.usage_so_far
    assert (spent.input_tokens, spent.output_tokens, spent.cost_usd, spent.cost_source) == (7, 4, None, "unknown")
    assert (spent.model, transcript.text) == ("claude-opus", "thinking")


def test_the_results_own_figures_count_over_all_models() -> None:
    transcript = Transcript()
    transcript.take(result(usage={"input_tokens": 0}))
    spent = transcript.usage_so_far
    assert (spent.input_tokens, spent.output_tokens, spent.cached_tokens, spent.cache_write_tokens) == (11, 6, 3, 2)
    assert (spent.cost_usd, spent.cost_source, spent.model) == (0.6, "claude", "claude-opus")


@pytest.mark.fault(26)
@pytest.mark.parametrize(
    "events",
    [
        [error(429, "Claude AI usage limit reached|1800000000")],
        [
            {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1800000000}},
            error(429),
        ],
    ],
)
def test_the_time_of_a_reset_is_read_where_it_is_said(events: list[dict[str, Any]]) -> None:
    transcript = Transcript()
    for event in events:
        transcript.take(event)
    found = verdict(transcript, structured=False)
    assert found is not None
    assert found.retry_at == datetime.fromtimestamp(1800000000, UTC)


def test_denied_tool_calls_are_noted_and_do_not_fail_the_run() -> None:
    transcript = Transcript()
    transcript.take(result(permission_denials=[{"tool_name": "Write"}, {"tool_name": "Write"}, {"tool_name": "Bash"}]))
    found = verdict(transcript, structured=False)
    assert found is not None
    assert (found.ending, found.notes) == (Ending.COMPLETED, ("denied tool calls: Bash, Write",))


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": "result", "modelUsage": [1], "total_cost_usd": "x"},
        {"type": "assistant", "message": {"content": "x"}},
        {"type": "stream_event", "event": None},
        {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}},
        {"type": "result", "subtype": "success", "permission_denials": "x", "errors": 3},
    ],
)
def test_events_of_another_shape_break_nothing(event: dict[str, Any]) -> None:
    transcript = Transcript()
    transcript.take(event)
    verdict(transcript, structured=False)
    assert transcript.usage_so_far.cost_usd is None


def test_of_a_session_its_first_request_and_its_length_are_known() -> None:
    transcript = Transcript()
    for cached in (700, 900):
        usage = {"input_tokens": 10, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 5}
        start = {"type": "message_start", "message": {"usage": usage}}
        transcript.take({"type": "stream_event", "event": start})
        delta = {"type": "message_delta", "usage": {"output_tokens": 4}}
        transcript.take({"type": "stream_event", "event": delta})
    assert (transcript.first_cached, transcript.context) == (700, 919)


def test_a_session_is_kept_without_what_it_has_counted() -> None:
    kept = [b'{"type": "user", "text": "\xff"}\n', b'{"type": "assistant", "text": "cost-state"}\n']
    sums = [
        b'{"type":"cost-state","totalCostUSD":-5}\n',
        b'{"a":1, "type": "cost\\u002dstate"}\n',
        b'{"type": "user", "type": "cost-state"}\n',
        b'{"type":"cost-state","totalCostUSD":-5, "a": "\xff"}\n',
        b'{"type":"cost-state","a": ' + b"1" * 5000 + b"}\n",
        b'{"type":"cost-state","a": ' + b"[" * 9000 + b"]" * 9000 + b"}\n",
        b'{"type":"user"}\r{"type":"cost-state"}\n',
        b'{\r"type":"cost-state"}\n',
        b"no json\n",
        b"[]\n",
        b"\n",
    ]
    assert uncounted(kept[0] + b"".join(sums) + kept[1].rstrip()) == b"".join(kept)


@pytest.mark.parametrize("session", [b"", b"\n", b"no json", b'{"a": "' + b"x" * LINE_CAP + b'"}'])
def test_what_is_no_session_is_not_kept(session: bytes) -> None:
    assert uncounted(session) == b""
