"""Tools that a vendor runs itself: only those that are configured, never without a bound, charged by their count."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lab.model import anthropic, responses
from lab.model.script import Tokens as Said
from lab.model.script import Turn
from shared.llm.codex_program import FIXED, searching
from shared.llm.endpoint import ESTIMATED, METERED, MeasuredRun
from shared.llm.prices import Price, Prices, Tokens
from shared.llm.proxy.allowed import checked, completed, headers, parsed
from shared.llm.proxy.api_protocols import ApiProtocol, RequestRefused
from shared.llm.proxy.metering import LARGEST_PROMPT, RequestBound
from shared.llm.proxy.run_meter import RunMeter
from shared.llm.proxy.vendor_tools import MOST_USES, VendorTool

MESSAGES: dict[str, Any] = {"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "Go."}]}
RESPONSES: dict[str, Any] = {"model": "m", "max_output_tokens": 50, "input": [{"role": "user", "content": "Go."}]}

SEARCH, FETCH = "web_search_20250305", "web_fetch_20250910"
BOTH = frozenset(VendorTool)
ONE = frozenset({VendorTool.WEB_SEARCH})


def asked(protocol: ApiProtocol, change: dict[str, Any], tools: frozenset[VendorTool] = BOTH) -> RequestBound:
    body = (MESSAGES if protocol is ApiProtocol.ANTHROPIC else RESPONSES) | change
    return checked(protocol, parsed(json.dumps(body).encode()), 1000, lambda model: model == "m", tools)


def using(*tools: tuple[str, object]) -> dict[str, Any]:
    return {"tools": [{"type": kind, "name": kind, "max_uses": uses} for kind, uses in tools]}


@pytest.mark.parametrize(
    ("protocol", "change", "uses", "searches"),
    [
        (ApiProtocol.ANTHROPIC, using((SEARCH, 1)), 1, 1),
        (ApiProtocol.ANTHROPIC, using((SEARCH, MOST_USES)), MOST_USES, MOST_USES),
        (ApiProtocol.ANTHROPIC, using((SEARCH, 3), (FETCH, 2)), 5, 3),
        (ApiProtocol.ANTHROPIC, using((FETCH, 2)), 2, 0),
        (ApiProtocol.OPENAI, {"tools": [{"type": "web_search"}], "max_tool_calls": 3}, 3, 3),
        (ApiProtocol.OPENAI, {"tools": [{"type": "web_search_2025_08_26"}]}, MOST_USES, MOST_USES),
        (ApiProtocol.OPENAI, {"tools": [{"type": "function"}]}, 0, 0),
    ],
)
def test_a_configured_tool_is_passed_on_with_its_bound(
    protocol: ApiProtocol, change: dict[str, Any], uses: int, searches: int
) -> None:
    assert asked(protocol, change) == RequestBound("m", 1000, 50, uses, searches)


@pytest.mark.parametrize(
    ("protocol", "change"),
    [
        *((ApiProtocol.ANTHROPIC, using((SEARCH, uses))) for uses in (None, 0, -1, MOST_USES + 1, 1.0, True, "3", [3])),
        (ApiProtocol.ANTHROPIC, using((SEARCH, MOST_USES), (FETCH, 1))),
        (ApiProtocol.ANTHROPIC, using((SEARCH, MOST_USES), (SEARCH, MOST_USES))),
        (ApiProtocol.ANTHROPIC, {"tools": [{"type": SEARCH, "name": "web_search"}]}),
        *(
            (ApiProtocol.OPENAI, {"tools": [{"type": "web_search"}], "max_tool_calls": calls})
            for calls in (None, 0, -1, MOST_USES + 1, 1.0, True, "3")
        ),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else str(value),
)
def test_without_a_bound_that_can_be_believed_it_is_refused(protocol: ApiProtocol, change: dict[str, Any]) -> None:
    with pytest.raises(RequestRefused, match="from 1 to 8"):
        asked(protocol, change)


@pytest.mark.parametrize(
    ("protocol", "change", "tools"),
    [
        (ApiProtocol.ANTHROPIC, using((FETCH, 1)), ONE),
        (ApiProtocol.ANTHROPIC, using(("web_search_20260209", 1)), BOTH),
        (ApiProtocol.ANTHROPIC, using(("code_execution_20250825", 1)), BOTH),
        (ApiProtocol.ANTHROPIC, using(("web_search_20250305\n", 1)), BOTH),
        (
            ApiProtocol.ANTHROPIC,
            {"messages": [{"content": [{"type": "tool_added", "tools": using((SEARCH, 1))["tools"]}]}]},
            BOTH,
        ),
        (
            ApiProtocol.ANTHROPIC,
            {"messages": [{"content": [{"type": "server_tool_use", "name": "code_execution"}]}]},
            BOTH,
        ),
        (ApiProtocol.ANTHROPIC, {"messages": [{"content": [{"type": "web_fetch_tool_result"}]}]}, ONE),
        (ApiProtocol.ANTHROPIC, {"messages": [{"content": [{"type": "code_execution_tool_result"}]}]}, BOTH),
        (ApiProtocol.OPENAI, {"tools": [{"type": "web_search_preview"}]}, BOTH),
        (ApiProtocol.OPENAI, {"tools": [{"type": "web_fetch"}]}, BOTH),
        (ApiProtocol.OPENAI, {"tools": [{"type": "namespace", "tools": [{"type": "web_search"}]}]}, BOTH),
        (ApiProtocol.OPENAI, {"input": [{"type": "additional_tools", "tools": [{"type": "web_search"}]}]}, BOTH),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else "",
)
def test_what_is_not_named_or_stands_where_no_bound_reaches_stays_refused(
    protocol: ApiProtocol, change: dict[str, Any], tools: frozenset[VendorTool]
) -> None:
    with pytest.raises(RequestRefused):
        asked(protocol, change, tools)


def test_what_an_allowed_tool_has_left_in_the_conversation_is_passed_on() -> None:
    blocks = anthropic.message(Turn(say="x", usage=Said(searches=2)), 0, "m")["content"]
    cited = {"type": "text", "text": "x", "citations": [{"type": "web_search_result_location", "url": "https://d"}]}
    change = {"messages": [{"role": "assistant", "content": [*blocks, cited]}], **using((SEARCH, 1))}
    assert asked(ApiProtocol.ANTHROPIC, change, ONE).searches == 1
    with pytest.raises(RequestRefused):
        asked(ApiProtocol.ANTHROPIC, change, frozenset())


def test_the_bound_is_written_into_a_request_that_has_none() -> None:
    body = {**RESPONSES, "tools": [{"type": "web_search"}]}
    text = b" \n" + json.dumps(body).encode()
    searching, plain = RequestBound("m", 100, uses=MOST_USES), RequestBound("m", 100)
    sent = parsed(completed(ApiProtocol.OPENAI, body, text, searching))  # no key stands there twice
    assert sent == {"max_tool_calls": MOST_USES, "store": False, **body}
    assert parsed(completed(ApiProtocol.OPENAI, body, text, plain)) == {"store": False, **body}
    assert completed(ApiProtocol.OPENAI, {"max_tool_calls": 2, "store": False}, text, searching) == text
    assert completed(ApiProtocol.ANTHROPIC, body, text, searching) == text


def test_only_the_words_of_configured_tools_switch_something_on() -> None:
    given = {"anthropic-beta": "web-fetch-2025-09-10, web-search-2025-03-05,web-fetch-2025-09-10-mcp,code-execution-1"}
    assert headers(given, ONE) == {"anthropic-beta": "web-search-2025-03-05"}
    assert headers(given, BOTH) == {"anthropic-beta": "web-fetch-2025-09-10,web-search-2025-03-05"}
    assert headers(given, frozenset()) == {}


TURN = Turn(say="Found.", usage=Said(input=1000, cached=300, written=200, output=50, searches=2))
PRICES = Prices({"m": Price(input=1, output=10, cached=0.1, written=1.25)})
MOST = RequestBound("m", 1000, 50, 4, 4)


def charged(*chunks: bytes, request: RequestBound = MOST, budget: float = 1.0) -> MeasuredRun:
    run = RunMeter(PRICES, budget)
    meter = run.opened(request)
    for chunk in chunks:
        meter.feed(chunk)
    run.closed(meter, charged=True)
    return run.measurement


def lines(protocol: ApiProtocol, turn: Turn = TURN) -> bytes:
    return b"".join((anthropic if protocol is ApiProtocol.ANTHROPIC else responses).events(turn, 0, "m"))


TOKENS = (1000 + 0.1 * 300 + 1.25 * 200 + 10 * 50) / 1e6
ITS_TOKENS = (700 + 0.1 * 300 + 10 * 50) / 1e6


@pytest.mark.parametrize(
    ("text", "usd"),
    [
        (lines(ApiProtocol.ANTHROPIC), TOKENS + 0.02),
        (json.dumps(anthropic.message(TURN, 0, "m")).encode(), TOKENS + 0.02),
        (lines(ApiProtocol.OPENAI), ITS_TOKENS + 0.02),
        (json.dumps(responses.message(TURN, 0, "m")).encode(), ITS_TOKENS + 0.02),
        (lines(ApiProtocol.ANTHROPIC, Turn(say="Not needed.")), TOKENS),
        # it was used, and the answer does not say how often
        (
            lines(ApiProtocol.ANTHROPIC).replace(b'"web_search_requests": 2', b'"web_search_requests": -2'),
            TOKENS + 0.04,
        ),
        (
            lines(ApiProtocol.ANTHROPIC).replace(b'"web_search_requests": 2', b'"web_search_requests": NaN'),
            TOKENS + 0.04,
        ),
        (lines(ApiProtocol.ANTHROPIC).replace(b'{"web_search_requests": 2}', b"null"), TOKENS + 0.04),
        (lines(ApiProtocol.ANTHROPIC).replace(b'"server_tool_use": {"web', b'"other": {"web'), TOKENS + 0.04),
        (lines(ApiProtocol.OPENAI).replace(b'"output": [', b'"items": ['), ITS_TOKENS + 0.04),
    ],
    ids=range(10),
)
def test_searches_are_charged_as_the_answer_counts_them_and_else_as_the_most(text: bytes, usd: float) -> None:
    found = charged(text).usage
    assert found.cost_usd == pytest.approx(usd)
    assert found.cost_source == METERED


def test_an_item_that_the_last_event_leaves_out_was_searched_all_the_same() -> None:
    done, marker, last = lines(ApiProtocol.OPENAI).rpartition(b"event: response.completed")
    last = last.replace(b"web_search_call", b"something_else")
    assert charged(done, marker + last).usage.cost_usd == pytest.approx(ITS_TOKENS + 0.02)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        lines(ApiProtocol.ANTHROPIC).partition(b"event: message_delta")[0],
        lines(ApiProtocol.OPENAI).partition(b"event: response.completed")[0],
        # what the first round has read is known, and not what the searches found
        b'"in": 1000'.join(lines(ApiProtocol.ANTHROPIC).rsplit(b'"input_tokens": 1000', 1)),
    ],
    ids=["nothing", "cut", "cut openai", "no count of what was read"],
)
def test_an_answer_that_does_not_live_to_say_it_counts_as_the_most(text: bytes) -> None:
    found = charged(text).usage
    least = 5 * LARGEST_PROMPT * 1.25 / 1e6 + 5 * 50 * 10 / 1e6 + 0.04
    assert found.cost_usd is not None
    assert least <= found.cost_usd < least * 1.01
    assert found.cost_source == ESTIMATED


def test_a_second_request_waits_while_the_first_may_use_up_the_budget() -> None:
    run = RunMeter(PRICES, 1.0)
    meter = run.opened(MOST)
    assert (run.used_up, run.has_room) == (False, False)
    meter.feed(lines(ApiProtocol.ANTHROPIC))
    run.closed(meter, charged=True)
    assert (run.used_up, run.has_room) == (False, True)


def test_searches_alone_use_a_budget_up() -> None:
    run = RunMeter(PRICES, 0.05)
    states = []
    for _ in range(2):
        meter = run.opened(MOST)
        meter.feed(lines(ApiProtocol.OPENAI, Turn(say="x", usage=Said(input=1, cached=0, output=0, searches=3))))
        run.closed(meter, charged=True)
        states.append(run.used_up)
    assert states == [False, True]
    assert run.measurement.usage.cost_usd == pytest.approx(0.060002)


def test_a_search_has_the_price_that_the_configuration_names() -> None:
    own = Prices({"m": Price(input=0, output=0, cached=0, written=0, search=25)})
    assert own.cost(Tokens("m", searches=4)) == pytest.approx(0.1)
    assert own.most(Tokens("new", searches=4)) == pytest.approx(0.1)


def test_codex_is_told_of_the_search_only_where_it_is_let_through() -> None:
    said = [" ".join(searching(frozenset(tools))) for tools in ((), ("web_fetch",), ("web_search",))]
    assert said == ['-c web_search="disabled"', '-c web_search="disabled"', '-c web_search="live"']
    assert "web_search" not in " ".join(FIXED), "it is said once"
