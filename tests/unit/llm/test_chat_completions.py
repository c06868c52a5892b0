"""Chat completions at the model proxy: what may be asked, what it took, where it goes, and who ends a run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lab.model import chat
from lab.model.script import Tokens as Said
from lab.model.script import Tool, Turn
from shared.errors import Misconfigured, MissingCredentials
from shared.llm import compatible
from shared.llm.endpoint import MeasuredRun, judged
from shared.llm.port import Ending, RunOutcome, Usage
from shared.llm.prices import Prices, Tokens
from shared.llm.proxy.allowed import checked, completed, parsed
from shared.llm.proxy.api_protocols import ApiProtocol, RequestRefused, Upstream
from shared.llm.proxy.metering import LARGEST_OUTPUT, RequestBound, UsageMeter
from shared.llm.proxy.run_meter import MOST_FAILURES, RunMeter

CHAT: dict[str, Any] = {
    "model": "m",
    "max_tokens": 50,
    "stream": True,
    "stream_options": {"include_usage": True},
    "messages": [{"role": "user", "content": "Go."}],
    "tools": [{"type": "function", "function": {"name": "x", "parameters": {"type": "object"}}}],
}

TURN = Turn(say="I will.", tools=(Tool(name="x", input={"a": 1}),), usage=Said(input=1000, cached=300, output=50))
STREAM = b"".join(chat.events(TURN, 0, "served"))


def asked(body: dict[str, Any]) -> RequestBound:
    return checked(
        ApiProtocol.COMPATIBLE, parsed(json.dumps(body).encode()), 1000, lambda model: model == "m", frozenset()
    )


def part(**content: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [content]}]}


REFUSED: list[dict[str, Any]] = [
    {"model": "another"},
    {"tools": [{"type": "web_search"}]},
    {"tools": [{"type": "mcp", "server_url": "https://evil.example"}]},
    {"web_search_options": {}},
    {"plugins": [{"id": "web"}]},
    {"models": ["m", "dear"]},
    {"route": "fallback"},
    {"n": 3},
    {"store": True},
    {"service_tier": "priority"},
    {"stream_options": {}},
    {"stream_options": {"include_usage": False}},
    part(type="image_url", image_url={"url": "https://evil.example/?secret"}),
    part(type="image_url", image_url="https://evil.example/?secret"),
    part(type="video_url", video_url={"url": "https://evil.example/?secret"}),
    part(type="file", file={"file_id": "f1"}),
    part(type="file", file={"file_data": "https://evil.example/?secret"}),
    part(type="file", file={"url": "https://evil.example/?secret"}),
    part(type="file_url", file_url={"url": "https://evil.example/?secret"}),
    part(type="audio_url", audio_url={"url": "https://evil.example/?secret"}),
    part(type="input_audio", input_audio={"data": "https://evil.example/?secret", "format": "wav"}),
    part(type="document_url", document_url="https://evil.example/?secret"),
    part(type="video", video=["https://evil.example/?secret"]),
    part(type="text", text="Look.", audio_url="https://evil.example/?secret"),
    part(image="https://evil.example/?secret"),
    part(type=["text"], text="Look."),
    {"messages": [{"role": "user", "content": ["https://evil.example/?secret"]}]},
    {"messages": [{"role": "assistant", "audio": {"id": "kept there"}}]},
]


@pytest.mark.parametrize("change", REFUSED, ids=lambda change: json.dumps(change)[:60])
def test_what_a_server_would_do_elsewhere_is_not_asked_of_it(change: dict[str, Any]) -> None:
    with pytest.raises(RequestRefused):
        asked(CHAT | change)


def test_what_the_programs_ask_passes_with_its_bound() -> None:
    assert asked(CHAT) == RequestBound("m", 1000, 50)
    assert asked({**CHAT, "max_completion_tokens": 70}).output == 70
    passed = asked(CHAT | part(type="image_url", image_url={"url": "data:image/png;base64,aGk=", "detail": "low"}))
    assert passed.prompt > 1000
    others = (
        part(type="text", text="See https://a.example.", cache_control={"type": "ephemeral"}),
        part(type="input_audio", input_audio={"data": "aGk=", "format": "wav"}),
        part(type="file", file={"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}),
    )
    assert {asked(CHAT | other).output for other in others} == {50}


def test_the_longer_of_two_lengths_counts_because_many_a_server_knows_only_one() -> None:
    assert asked({**CHAT, "max_completion_tokens": 1, "max_tokens": 9000}).output == 9000
    assert asked({**CHAT, "max_completion_tokens": 1, "max_tokens": "all"}).output == LARGEST_OUTPUT


def test_a_server_that_ignores_the_asked_length_is_not_counted_as_if_it_had_not() -> None:
    meter = UsageMeter(RequestBound("m", 1000, 1))
    said = json.dumps({"choices": [{"index": 0, "delta": {"content": "x" * 9000}}]})
    meter.feed(f"data: {said}\n\n".encode())
    meter.end()
    assert all(tokens.output >= 3000 for tokens in meter.most)


def test_a_server_that_reports_zeros_is_counted_as_one_that_reports_nothing() -> None:
    meter = UsageMeter(RequestBound("m", 1000, 50))
    zeros = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    meter.feed(json.dumps({"choices": [{"finish_reason": "stop"}], "usage": zeros}).encode())
    meter.end()
    assert not meter.whole
    assert {tokens.output for tokens in meter.most} == {50}
    assert {tokens.prompt for tokens in meter.most} == {1000}


def test_a_stream_that_would_not_count_is_told_to() -> None:
    body = {name: value for name, value in CHAT.items() if name != "stream_options"}
    text = json.dumps(body).encode()
    sent = json.loads(completed(ApiProtocol.COMPATIBLE, body, text, RequestBound("m", 1)))
    assert sent == {**body, "stream_options": {"include_usage": True}}
    whole = json.dumps(CHAT).encode()
    assert completed(ApiProtocol.COMPATIBLE, CHAT, whole, RequestBound("m", 1)) == whole


def metered(*chunks: bytes) -> UsageMeter:
    meter = UsageMeter(RequestBound("m", 3000, 500))
    for chunk in chunks:
        meter.feed(chunk)
    meter.end()
    return meter


@pytest.mark.parametrize("size", [1, 7, 100, 10**6])
def test_a_stream_is_read_however_it_is_cut_into_chunks(size: int) -> None:
    meter = metered(*[STREAM[at : at + size] for at in range(0, len(STREAM), size)])
    assert (meter.total, meter.whole, meter.failed) == (Tokens("served", 700, 50, 300), True, False)
    assert meter.finished


def test_an_answer_without_a_stream_is_read_as_well() -> None:
    meter = metered(json.dumps(chat.message(TURN, 0, "served")).encode())
    assert (meter.total, meter.whole) == (Tokens("served", 700, 50, 300), True)


def event(**data: Any) -> bytes:
    return b"data: " + json.dumps(data).encode() + b"\n\n"


def test_counts_in_every_chunk_are_whole_only_with_the_last() -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_cache_hit_tokens": 4}
    begun = event(choices=[{"delta": {"content": "a"}, "finish_reason": None}], usage=usage)
    assert not metered(begun).whole
    ended = event(choices=[{"delta": {}, "finish_reason": "stop"}], usage={**usage, "completion_tokens": 9})
    meter = metered(begun, ended)
    assert (meter.whole, meter.total) == (True, Tokens("m", 6, 9, 4))


def test_a_stream_without_counts_is_reckoned_from_what_came_and_at_most_from_what_was_asked() -> None:
    called = {"tool_calls": [{"index": 0, "function": {"arguments": "x" * 300}}], "reasoning_content": "y" * 300}
    meter = metered(event(choices=[{"delta": called, "finish_reason": None}]))
    assert (meter.total.output, meter.total.estimated, meter.finished) == (200, True, False)
    assert max(one.output for one in meter.most) == 500
    assert metered(event(error={"message": "overloaded"})).failed


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://api.deepseek.com", "https://api.deepseek.com/v1/chat/completions"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1/chat/completions"),
        ("https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4/chat/completions"),
    ],
)
def test_the_address_is_what_the_server_s_manual_calls_its_base(url: str, address: str) -> None:
    assert Upstream(ApiProtocol.COMPATIBLE, url, "k").address("/v1/chat/completions") == address
    assert (
        Upstream(ApiProtocol.OPENAI, "https://eu.example/x", "k").address("/v1/responses").endswith("/x/v1/responses")
    )


def test_a_server_has_a_key_and_an_address() -> None:
    with pytest.raises(MissingCredentials, match=r"qwen.*OPENAI_COMPATIBLE_API_KEY"):
        compatible.server({"OPENAI_API_KEY": "of Codex"}, "qwen")
    with pytest.raises(Misconfigured, match=compatible.URL):
        compatible.server({compatible.KEY: "k"}, "qwen")
    found = compatible.server({compatible.KEY: " k ", compatible.URL: "https://a.example/v1/"}, "qwen")
    assert (found.base_url, found.token) == ("https://a.example/v1", "k")


def test_failures_in_a_row_end_a_run_and_a_whole_answer_forgets_them() -> None:
    meter = RunMeter(Prices({}), 1.0)
    assert [meter.failed(500) for _ in range(MOST_FAILURES - 1)] == [False] * (MOST_FAILURES - 1)
    meter.ended(finished=True)
    assert not meter.failed(503)
    meter.ended(finished=False)
    assert meter.measurement.unfinished
    assert meter.failed(429, at_once=True)
    assert meter.measurement.gave_up == 429


@pytest.mark.parametrize(
    ("told", "status", "ending"),
    [
        (Ending.PERSISTENT, 500, Ending.TRANSIENT),
        (Ending.PERSISTENT, 503, Ending.TRANSIENT),
        (Ending.PERSISTENT, 429, Ending.OVERLOADED),
        (Ending.UNKNOWN, 529, Ending.OVERLOADED),
        (Ending.BILLING, 429, Ending.BILLING),
        (Ending.COMPLETED, 500, Ending.COMPLETED),
    ],
)
def test_a_run_that_the_proxy_ended_is_judged_by_what_the_server_said(
    told: Ending, status: int, ending: Ending
) -> None:
    seen = MeasuredRun(Usage(), requests=4, answers=frozenset({status}), gave_up=status)
    assert judged(RunOutcome(told, "no"), seen).ending is ending


def test_a_run_whose_last_answer_broke_off_has_not_completed() -> None:
    seen = MeasuredRun(Usage(), requests=1, unfinished=True)
    found = judged(RunOutcome(Ending.COMPLETED, "Half a", {"verdict": "approve"}), seen)
    assert (found.ending, found.answer) == (Ending.TRANSIENT, None)
