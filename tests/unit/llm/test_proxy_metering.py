"""The proxy's reading of answers: tokens whole and cut, resets of limits, and the meter of a run."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lab.model import anthropic, responses
from lab.model.script import Tokens as Said
from lab.model.script import Turn
from shared.llm.endpoint import ESTIMATED, METERED
from shared.llm.prices import Price, Prices, Tokens
from shared.llm.proxy.metering import BYTES_PER_TOKEN, LONGEST_LINE, RequestBound, UsageMeter
from shared.llm.proxy.run_meter import RunMeter
from shared.retry_times import resets_at

TURN = Turn(say="I will write it.", usage=Said(input=1000, cached=300, written=200, output=50))
ANTHROPIC = b"".join(anthropic.events(TURN, 0, "claude-opus-4-8"))
OPENAI = b"".join(responses.events(TURN, 0, "gpt-5"))
NOW = datetime(2026, 11, 22, 2, 0, tzinfo=UTC)


def metered(*chunks: bytes, model: str = "asked", size: int = 3000) -> Tokens:
    meter = UsageMeter(RequestBound(model, size, 5000))
    for chunk in chunks:
        meter.feed(chunk)
    meter.end()
    return meter.total


@pytest.mark.parametrize("size", [1, 7, 100, 10**6])
def test_a_whole_stream_is_read_exactly_however_it_is_cut_into_chunks(size: int) -> None:
    cut = [ANTHROPIC[at : at + size] for at in range(0, len(ANTHROPIC), size)]
    assert metered(*cut) == Tokens("claude-opus-4-8", 1000, 50, 300, 200)
    cut = [OPENAI[at : at + size] for at in range(0, len(OPENAI), size)]
    assert metered(*cut) == Tokens("gpt-5", 700, 50, 300)


def test_an_answer_without_a_stream_is_read_as_well() -> None:
    assert metered(json.dumps(anthropic.message(TURN, 0, "m")).encode()) == Tokens("m", 1000, 50, 300, 200)
    assert metered(json.dumps(responses.message(TURN, 0, "m")).encode()) == Tokens("m", 700, 50, 300)


def test_a_cut_stream_is_estimated_from_what_came_of_it() -> None:
    said = "x" * 900
    start = ANTHROPIC.partition(b"\n\n")[0] + b"\n\n"
    delta = json.dumps({"type": "content_block_delta", "delta": {"type": "text_delta", "text": said}}).encode()
    found = metered(start, b"data: " + delta + b"\n\ndata: {half")
    assert (found.input, found.cached, found.written) == (1000, 300, 200)
    assert 300 <= found.output < 310
    assert found.estimated
    openai = metered(b'data: {"type": "response.output_text.delta", "delta": "' + said.encode() + b'"}\n\n')
    assert openai == Tokens("asked", 3000 // BYTES_PER_TOKEN, 300, estimated=True)


@pytest.mark.parametrize("noise", [b"", b"{this is no JSON", b"data: [1, 2]\n", b"data: null\n", b"\xff\xfe\n"])
def test_of_an_answer_that_says_nothing_the_prompt_counts(noise: bytes) -> None:
    found = metered(noise)
    assert (found.model, found.input, found.estimated) == ("asked", 1000, True)


def test_a_line_without_end_takes_no_memory() -> None:
    meter = UsageMeter(RequestBound("asked", 0))
    for _ in range(40):
        meter.feed(b"x" * 2**20)
    assert len(meter._line) <= LONGEST_LINE
    meter.feed(b"\n" + ANTHROPIC)
    assert meter.total.input == 1000


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"retry-after": "90"}, 90),
        (529, {"retry-after": "90"}, 90),
        (429, {"retry-after": "Sun, 22 Nov 2026 02:10:00 GMT"}, 600),
        (
            429,
            {
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-11-22T02:01:00Z",
            },
            60,
        ),
        (
            429,
            {
                "anthropic-ratelimit-tokens-remaining": "0",
                "anthropic-ratelimit-tokens-reset": "2026-11-22T02:05:00Z",
                "anthropic-ratelimit-requests-remaining": "9",
                "anthropic-ratelimit-requests-reset": "2026-11-22T03:05:00Z",
            },
            300,
        ),
        (429, {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}, 360),
        (429, {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1h2m"}, 3720),
        (429, {"x-ratelimit-reset-requests": "120ms"}, 0.12),
        (429, {"anthropic-ratelimit-unified-reset": str(int(NOW.timestamp()) + 7200)}, 7200),
        (429, {"retry-after": "60", "date": "Sun, 22 Nov 2026 01:59:00 GMT"}, 0.0),
        (429, {}, None),
        (429, {"retry-after": "soon"}, None),
        (429, {"retry-after": "0"}, None),
        (429, {"retry-after": "9" * 12}, None),
        (200, {"retry-after": "90"}, None),
        (500, {"retry-after": "90"}, None),
    ],
)
def test_when_a_limit_is_over(status: int, headers: dict[str, str], seconds: float | None) -> None:
    expected = None if seconds is None else NOW + timedelta(seconds=seconds)
    assert resets_at(status, headers, NOW) == expected


def run_meter(**prices: Any) -> RunMeter:
    return RunMeter(Prices({"m": Price(input=1, output=10, cached=0.1, written=1.25), **prices}), 1.0)


def test_an_account_adds_up_its_requests_and_is_used_up_at_its_budget() -> None:
    run = run_meter()
    first = run.opened(RequestBound("m", 0))
    usage = {"input_tokens": 999_000, "output_tokens": 0}
    first.feed(json.dumps({"type": "message", "model": "m", "usage": usage}).encode() + b"\n")
    run.closed(first, charged=True)
    states = [run.used_up]
    second = run.opened(RequestBound("m", 3300))  # a request under way counts as soon as it is sent
    states.append(run.used_up)
    run.closed(second, charged=False)
    states.append(run.used_up)
    assert states == [False, True, False]
    assert run.measurement.usage.cost_usd == pytest.approx(0.999)
    assert (run.measurement.usage.cost_source, run.measurement.requests) == (METERED, 2)


def test_a_model_without_a_price_leaves_the_cost_unknown_but_not_the_budget() -> None:
    run = run_meter()
    meter = run.opened(RequestBound("new", 0))
    usage = {"input_tokens": 0, "output_tokens": 100_000}
    meter.feed(json.dumps({"type": "message", "model": "new", "usage": usage}).encode())
    run.closed(meter, charged=True)
    assert run.measurement.usage.cost_usd is None
    assert run.used_up


UNMETERED = {
    "nothing at all": b"",
    "cut before the final usage": ANTHROPIC.partition(b"event: message_delta")[0],
    "a final usage without a count": ANTHROPIC.replace(b'"usage": {"output_tokens": 50}', b'"usage": {}'),
    "an answer without usage": json.dumps({"type": "message", "content": [{"type": "text", "text": "x"}]}).encode(),
    "a response without usage": json.dumps({"object": "response", "usage": None}).encode(),
    "counts that are no numbers": json.dumps(
        {"type": "message", "usage": {"input_tokens": float("nan"), "output_tokens": float("inf")}}
    ).encode(),
    "negative counts": json.dumps({"object": "response", "usage": {"input_tokens": -5, "output_tokens": -5}}).encode(),
    "zeros for a prompt": json.dumps(
        {"type": "message", "usage": {"input_tokens": 0, "output_tokens": 0}, "content": []}
    ).encode(),
    "zeros for a prompt of OpenAI's": json.dumps(
        {"object": "response", "usage": {"input_tokens": 0, "output_tokens": 0}}
    ).encode(),
    "hidden reasoning, cut": OPENAI.partition(b"event: response.completed")[0],
}
"""Answers by which nobody knows what they took."""


@pytest.mark.parametrize("answer", UNMETERED.values(), ids=UNMETERED)
def test_what_nobody_says_counts_at_once_as_the_most_that_it_could_be(answer: bytes) -> None:
    one = Price(input=1, output=10, cached=0.1, written=1.25)
    run = run_meter(**{"claude-opus-4-8": one})
    meter = run.opened(RequestBound("m", 20_000, 30_000))
    costs = [run.measurement.usage.cost_usd]
    meter.feed(answer)
    run.closed(meter, charged=True)
    costs.append(run.measurement.usage.cost_usd)
    prompt = 1000 + 0.1 * 300 + 1.25 * 200 if b"message_start" in answer else 1.25 * 20_000
    assert costs == [pytest.approx(0.325), pytest.approx((prompt + 300_000) / 1e6)]
    assert run.measurement.usage.cost_source == ESTIMATED


@pytest.mark.parametrize("indent", [None, 1, 4])
def test_an_indented_answer_is_read_as_well(indent: int | None) -> None:
    whole = json.dumps(anthropic.message(TURN, 0, "m"), indent=indent).encode()
    assert metered(*(whole[at : at + 100] for at in range(0, len(whole), 100))) == Tokens("m", 1000, 50, 300, 200)
    event = json.dumps({"type": "response.completed", "response": responses.message(TURN, 0, "m")}, indent=indent)
    lines = "".join(f"data: {line}\r\n" for line in event.splitlines())
    assert metered(f"event: response.completed\r\n{lines}\r\n".encode()) == Tokens("m", 700, 50, 300)


def test_no_further_request_is_begun_while_those_under_way_may_use_up_the_budget() -> None:
    run = run_meter()
    first = run.opened(RequestBound("m", 0, 60_000))  # $0.60
    states = [(run.has_room, run.used_up)]
    second = run.opened(RequestBound("m", 0, 60_000))
    states.append((run.has_room, run.used_up))
    for meter in (first, second):
        meter.feed(json.dumps({"type": "message", "usage": {"input_tokens": 0, "output_tokens": 1}}).encode())
        run.closed(meter, charged=True)
    states.append((run.has_room, run.used_up))
    assert states == [(True, False), (False, False), (True, False)]


def test_one_estimate_makes_the_whole_cost_an_estimate() -> None:
    run = run_meter()
    run.closed(run.opened(RequestBound("m", 300)), charged=True)
    assert run.measurement.usage.cost_source == ESTIMATED
