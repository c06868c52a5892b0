"""The endings that Codex's events lead to, by the words of each failure, and the usage of a run."""

from __future__ import annotations

import json
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from shared.errors import Misconfigured
from shared.llm.codex_output import Transcript, counted, recorded, usage, verdict
from shared.llm.codex_program import native, permissions, provider
from shared.llm.port import Ending
from shared.llm.prices import Price, Prices
from shared.retry_times import later

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
PRICES = Prices({"m-1": Price(input=1, output=10, cached=0.1, written=2, above=5000, times=2)})


def heard(*events: dict[str, Any]) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript.take(event)
    return transcript


def item(kind: str, **rest: Any) -> dict[str, Any]:
    return {"type": "item.completed", "item": {"id": "item_0", "type": kind, **rest}}


def failed(message: str) -> dict[str, Any]:
    return {"type": "turn.failed", "error": {"message": message}}


COMPLETED = {"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 5}}
URL = "url: http://127.0.0.1:1/v1/responses"


@pytest.mark.fault(24)
@pytest.mark.parametrize(
    ("message", "ending"),
    [
        (f"unexpected status 401 Unauthorized: bad key, {URL}", Ending.AUTH),
        (f"unexpected status 403 Forbidden: no, {URL}", Ending.AUTH),
        ("Missing environment variable: `ENGINE_MODEL_KEY`.", Ending.AUTH),
        ("You’ve hit your usage limit. Try again later.", Ending.USAGE_LIMIT),
        ("Quota exceeded. Check your plan and billing details.", Ending.BILLING),
        (f"unexpected status 402 Payment Required: pay, {URL}", Ending.BILLING),
        ("exceeded retry limit, last status: 429 Too Many Requests", Ending.OVERLOADED),
        ("Selected model is at capacity. Please try a different model.", Ending.OVERLOADED),
        (f"unexpected status 529 <unknown status code>: overloaded, {URL}", Ending.OVERLOADED),
        (f"unexpected status 404 Not Found: The model `x` does not exist, {URL}", Ending.CONFIG),
        ("The model `x` does not exist", Ending.CONFIG),
        ("We’re currently experiencing high demand, which may cause temporary errors.", Ending.TRANSIENT),
        (f"unexpected status 502 Bad Gateway: x, {URL}", Ending.TRANSIENT),
        (f"unexpected status 408 Request Timeout: x, {URL}", Ending.TRANSIENT),
        ("stream disconnected before completion: stream closed before response.completed", Ending.TRANSIENT),
        ("stream disconnected before completion: idle timeout waiting for SSE", Ending.TRANSIENT),
        ("Connection failed: error sending request", Ending.TRANSIENT),
        (f"unexpected status 413 Payload Too Large: x, {URL}", Ending.PERSISTENT),
        ('{"error": {"message": "too many", "type": "invalid_request_error"}}', Ending.PERSISTENT),
        ("Incomplete response returned, reason: max_output_tokens", Ending.PERSISTENT),
        ("stream disconnected before completion: Rate limit reached for m. Please try again in 1s.", Ending.OVERLOADED),
        ("rate_limit_exceeded: slow down", Ending.OVERLOADED),
        (f"unexpected status 400 Bad Request: invalid_prompt: no, {URL}", Ending.REFUSED),
        ('{"error": {"message": "no", "type": "invalid_request_error", "code": "invalid_prompt"}}', Ending.REFUSED),
        (f"unexpected status 400 Bad Request: This organization has been disabled., {URL}", Ending.AUTH),
        (f"unexpected status 429 Too Many Requests: account_deactivated, {URL}", Ending.AUTH),
        ("something else", Ending.UNKNOWN),
    ],
)
def test_the_words_of_a_failed_turn_are_its_class(message: str, ending: Ending) -> None:
    found = verdict(heard(failed(message)), "", structured=False, now=NOW)
    assert found is not None
    assert found.ending is ending


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("Rate limit reached for m. Please try again in 11.054s. Visit x", 11.054),
        ("Rate limit reached. Please try again in 28ms.", 0.028),
        ("Rate limit reached. Please try again in 6m0s.", 360),
        ("Rate limit reached. Please try again in 1h2m3s.", 3723),
        ("Rate limit reached. Please try again in 5 minutes.", 300),
        ("Rate limit reached. Please try again in 20 s", 20),
        ("Rate limit reached. Please try again in " + "9" * 400 + "s.", None),
        ("Rate limit reached. Please try again later.", None),
        ("stream disconnected before completion: try again in 9s", None),
    ],
)
def test_a_limit_inside_of_a_stream_lasts_as_long_as_it_says(said: str, seconds: float | None) -> None:
    found = verdict(heard(failed(said)), "", structured=False, now=NOW)
    assert found is not None
    assert found.retry_at == (None if seconds is None else later(NOW, seconds))


def test_only_the_message_of_a_printed_answer_is_shown() -> None:
    found = verdict(heard(failed('{"error": {"message": "too many", "code": null}}')), "", structured=False, now=NOW)
    assert found is not None
    assert found.text == "too many"


def test_notices_are_no_failures() -> None:
    notices = ({"type": "error", "message": "Reconnecting... 1/5 (401 Unauthorized)"}, item("error", message="401"))
    found = verdict(heard(*notices, COMPLETED), "Done.", structured=False, now=NOW)
    assert found is not None
    assert (found.ending, found.text) == (Ending.COMPLETED, "Done.")


def test_a_turn_that_never_ended_has_no_verdict_whatever_was_said() -> None:
    assert verdict(heard(item("agent_message", text="Done.")), "Done.", structured=False, now=NOW) is None


@pytest.mark.parametrize(
    ("last", "structured", "ending"),
    [
        ('{"a": 1}', True, Ending.COMPLETED),
        ("[1]", True, Ending.MALFORMED),
        ("", True, Ending.MALFORMED),
        ("[" * 100_000, True, Ending.MALFORMED),
        (" \n", False, Ending.EMPTY),
        ('{"a": 1}', False, Ending.COMPLETED),
    ],
)
def test_the_last_message_decides_a_completed_turn(last: str, structured: bool, ending: Ending) -> None:
    found = verdict(heard(COMPLETED), last, structured=structured, now=NOW)
    assert found is not None
    assert found.ending is ending
    assert (found.answer is not None) == (ending is Ending.COMPLETED and structured)


def test_a_run_none_of_whose_commands_could_begin_is_no_success() -> None:
    dead = item("command_execution", status="failed", exit_code=1, aggregated_output="bwrap: Creating new namespace")
    red = item("command_execution", status="failed", exit_code=1, aggregated_output="1 failed")
    for events, ending in (((dead, dead), Ending.CONFIG), ((dead, red), Ending.COMPLETED), ((red,), Ending.COMPLETED)):
        found = verdict(heard(*events, COMPLETED), "Done.", structured=False, now=NOW)
        assert found is not None
        assert found.ending is ending


def test_failed_changes_are_noted() -> None:
    refused = item("file_change", status="failed", changes=[{"path": "/t/a", "kind": "add"}, {"path": "/t/a"}, 3])
    found = verdict(heard(refused, COMPLETED), "Done.", structured=False, now=NOW)
    assert found is not None
    assert found.notes == ("failed changes of files: /t/a",)


@pytest.mark.parametrize(
    "event",
    [{}, {"type": "item.completed", "item": 3}, {"type": "turn.failed"}, {"type": "turn.completed", "usage": [1]}],
)
def test_events_of_another_shape_are_borne(event: dict[str, Any]) -> None:
    found = verdict(heard(event, failed("x")), "", structured=False, now=NOW)
    assert found is not None


def record(home: Path, *entries: object) -> Path:
    place = home / "sessions" / "2026" / "11" / "22"
    place.mkdir(parents=True)
    lines = [entry if isinstance(entry, str) else json.dumps(entry) for entry in entries]
    (place / "rollout-x.jsonl").write_text("\n".join(lines))
    return home


def took(**counted: int) -> dict[str, Any]:
    return {"type": "token_usage_record", "payload": {"usage": counted}}


def test_tokens_are_counted_request_by_request_and_priced_so(tmp_path: Path) -> None:
    one = took(input_tokens=4000, cached_input_tokens=1000, cache_write_input_tokens=500, output_tokens=100)
    cut = '{"type": "token_usage_rec'
    home = record(tmp_path, {"type": "turn_context", "payload": {"model": "m-1"}}, one, one, cut)
    found = usage(recorded(home), {"input_tokens": 9}, PRICES)
    assert (found.input_tokens, found.cached_tokens, found.cache_write_tokens) == (5000, 2000, 1000)
    assert (found.output_tokens, found.model, found.cost_source) == (200, "m-1", "price list")
    assert found.cost_usd == pytest.approx(2 * (2500 * 1 + 1000 * 0.1 + 500 * 2 + 100 * 10) / 1e6)


def test_a_model_without_a_price_has_no_cost_and_a_run_that_asked_nothing_costs_nothing(tmp_path: Path) -> None:
    unknown = record(tmp_path / "a", {"type": "turn_context", "payload": {"model": "m-9"}}, took(output_tokens=1))
    assert usage(recorded(unknown), {}, PRICES).cost_usd is None
    silent = record(tmp_path / "b", {"type": "turn_context", "payload": {"model": "m-9"}})
    assert usage(recorded(silent), {}, PRICES).cost_usd == 0.0


def test_without_a_record_the_turn_s_own_sum_counts_and_its_price_is_not_known(tmp_path: Path) -> None:
    assert recorded(tmp_path) is None
    found = usage(None, {"input_tokens": 10, "cached_input_tokens": 4, "output_tokens": 5}, PRICES)
    assert (found.input_tokens, found.cached_tokens, found.output_tokens, found.cost_usd) == (6, 4, 5, None)


@pytest.mark.parametrize("entry", ['{"type": "turn_context"}', '["token_usage_record"]', "{", took(output_tokens=-1)])
def test_a_record_of_another_shape_is_borne(tmp_path: Path, entry: object) -> None:
    assert usage(recorded(record(tmp_path, entry)), {}, PRICES).output_tokens == 0


def test_arguments_are_toml_whatever_stands_in_them() -> None:
    for argument in [*provider('https://h"x', "K"), *permissions((".github", 'a"b'))]:
        if argument != "-c":
            assert tomllib.loads(argument)
    (places,) = (part for part in permissions([".github"]) if "filesystem" in part)
    inside = tomllib.loads(places)["permissions"]["engine"]["filesystem"][":workspace_roots"]
    assert inside == {".": "write", ".git": "read", ".github": "read"}


def test_npm_s_script_stands_for_the_program_that_it_would_start(tmp_path: Path) -> None:
    script = tmp_path / "@openai" / "codex" / "bin" / "codex.js"
    real = tmp_path / "@openai" / "codex-linux-x64" / "vendor" / "x86_64-unknown-linux-musl" / "bin" / "codex"
    with pytest.raises(Misconfigured, match="install-cli codex"):
        native(script)
    for file in (script, real):
        file.parent.mkdir(parents=True)
        file.touch()
    assert native(script) == native(real) == real


def test_what_a_session_counted_before_it_is_continued_is_not_paid_for_again(tmp_path: Path) -> None:
    one, two = took(input_tokens=1000, output_tokens=50), took(input_tokens=3000, cached_input_tokens=1000)
    turn = {"type": "turn_context", "payload": {"model": "m-1"}}
    first = recorded(record(tmp_path / "a", turn, one))
    before = counted(first, {"input_tokens": 1000, "output_tokens": 50})
    whole = {"input_tokens": 4000, "cached_input_tokens": 1000, "output_tokens": 60}
    second = recorded(record(tmp_path / "b", turn, one, two))
    assert usage(second, whole, PRICES, before).input_tokens == 2000
    assert usage(first, {}, PRICES, before).cost_usd == 0.0, "nothing was answered since"
    unrecorded = usage(None, whole, PRICES, before)
    assert (unrecorded.input_tokens, unrecorded.cached_tokens, unrecorded.output_tokens) == (2000, 1000, 10)
