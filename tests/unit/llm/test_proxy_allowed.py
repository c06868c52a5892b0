"""Requests that may reach a vendor in the name of a run: only text, and tools that run here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.llm.proxy.allowed import IMAGE_TOKENS, MOST_VALUES, PDF_TOKENS, checked, headers, parsed
from shared.llm.proxy.api_protocols import ApiProtocol, RequestRefused
from shared.llm.proxy.metering import LARGEST_OUTPUT, RequestBound

MESSAGES: dict[str, Any] = {"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "Go."}]}
RESPONSES: dict[str, Any] = {"model": "m", "max_output_tokens": 50, "input": [{"role": "user", "content": "Go."}]}


def asked(protocol: ApiProtocol, body: dict[str, Any]) -> RequestBound:
    text = json.dumps(body).encode()
    return checked(protocol, parsed(text), 1000, lambda model: model == "m", frozenset())


def said(*content: dict[str, Any]) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": [{"type": "tool_result", "content": list(content)}]}]}


ANTHROPIC_REFUSED: list[dict[str, Any]] = [
    {"model": "another"},
    {"model": ""},
    {"model": ["m"]},
    *({"tools": [{"type": kind, "name": "x"}]} for kind in ("web_search_20250305", "web_fetch_20250910")),
    *({"tools": [{"type": kind, "name": "x"}]} for kind in ("code_execution_20250825", "mcp_toolset", 7, None)),
    {"tools": {"type": "custom"}},
    {"mcp_servers": [{"type": "url", "url": "https://evil.example"}]},
    {"container": "c1"},
    {"speed": "fast"},
    {"service_tier": "priority"},
    {"inference_geo": "us"},
    said({"type": "image", "source": {"type": "url", "url": "https://evil.example/?secret"}}),
    said({"type": "document", "source": {"type": "url", "url": "https://evil.example/?secret"}}),
    said({"type": "document", "source": {"type": "file", "file_id": "f1"}}),
    said({"type": "server_tool_use", "name": "web_search"}),
    said({"type": "mcp_tool_use"}),
    said({"type": "container_upload", "file_id": "f1"}),
    said({"type": "tool_added", "tool": {"type": "web_fetch_20250910"}}),
    said({"type": "tools_changed", "tools": [{"type": "web_search_20250305"}]}),
]

OPENAI_REFUSED: list[dict[str, Any]] = [
    *({"tools": [{"type": kind}]} for kind in ("web_search", "web_search_preview", "mcp", "file_search")),
    *({"tools": [{"type": kind}]} for kind in ("code_interpreter", "image_generation", "computer_use_preview", None)),
    {"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]},
    {"tools": [{"type": "namespace", "name": "n", "tools": [{"type": "web_search"}]}]},
    {"input": [{"type": "additional_tools", "tools": [{"type": "mcp", "server_url": "https://evil.example"}]}]},
    {"background": True},
    {"store": True},
    {"store": 1},
    {"previous_response_id": "r1"},
    {"input": [{"id": "msg_1"}]},
    {"input": [{"id": "msg_1", "type": None}]},
    {"input": ["msg_1"]},
    *({"input": [{"type": kind, "id": "x"}]} for kind in ("item_reference", "mcp_call", "mcp_approval_response")),
    *({"input": [{"type": kind, "id": "x"}]} for kind in ("code_interpreter_call", "web_search_call")),
    {"conversation": "c1"},
    {"prompt": {"id": "p1"}},
    {"service_tier": "priority"},
    {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "https://evil.example/?secret"}]}]},
    {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f1"}]}]},
    {"input": [{"role": "user", "content": [{"type": "input_file", "file_url": "https://evil.example/?secret"}]}]},
]


@pytest.mark.parametrize("change", ANTHROPIC_REFUSED, ids=lambda change: json.dumps(change)[:60])
def test_what_the_vendor_would_do_elsewhere_is_not_asked_of_anthropic(change: dict[str, Any]) -> None:
    with pytest.raises(RequestRefused):
        asked(ApiProtocol.ANTHROPIC, MESSAGES | change)


@pytest.mark.parametrize("change", OPENAI_REFUSED, ids=lambda change: json.dumps(change)[:60])
def test_what_the_vendor_would_do_elsewhere_is_not_asked_of_openai(change: dict[str, Any]) -> None:
    with pytest.raises(RequestRefused):
        asked(ApiProtocol.OPENAI, RESPONSES | change)


@pytest.mark.parametrize(
    ("protocol", "body"),
    [
        (ApiProtocol.ANTHROPIC, MESSAGES),
        (ApiProtocol.ANTHROPIC, MESSAGES | {"tools": [{"name": "Bash", "input_schema": {"type": "object"}}]}),
        (ApiProtocol.ANTHROPIC, MESSAGES | {"tools": [{"type": "text_editor_20250728", "name": "x"}]}),
        (ApiProtocol.ANTHROPIC, MESSAGES | said({"type": "image", "source": {"type": "base64", "data": "aGk="}})),
        (
            ApiProtocol.ANTHROPIC,
            MESSAGES
            | {
                "messages": [
                    {
                        "role": "assistant",
                        "content": [{"type": "tool_use", "name": "x", "input": {"source": {"type": "url"}}}],
                    }
                ]
            },
        ),
        (ApiProtocol.OPENAI, RESPONSES),
        (
            ApiProtocol.OPENAI,
            RESPONSES | {"tools": [{"type": "function"}, {"type": "local_shell"}], "background": False},
        ),
        (
            ApiProtocol.OPENAI,
            RESPONSES
            | {
                "input": [
                    {
                        "type": "additional_tools",
                        "tools": [{"type": "namespace", "tools": [{"type": "function"}, {"type": "custom"}]}],
                    }
                ]
            },
        ),
        (
            ApiProtocol.OPENAI,
            RESPONSES
            | {"store": False, "input": [{"role": "user", "content": [{"type": "input_text", "text": "Go."}]}]},
        ),
    ],
)
def test_what_coding_programs_ask_is_passed_on(protocol: ApiProtocol, body: dict[str, Any]) -> None:
    assert asked(protocol, body) == RequestBound("m", 1000, 50)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"max_tokens": None}, RequestBound("m", 1000, LARGEST_OUTPUT)),
        ({"max_tokens": 10**9}, RequestBound("m", 1000, LARGEST_OUTPUT)),
        ({"max_tokens": -1}, RequestBound("m", 1000, LARGEST_OUTPUT)),
        ({"max_tokens": True}, RequestBound("m", 1000, LARGEST_OUTPUT)),
        (
            said({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": ""}}),
            RequestBound("m", 1000 + PDF_TOKENS, 50),
        ),
        (
            said(*[{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}] * 3),
            RequestBound("m", 1000 + 3 * IMAGE_TOKENS, 50),
        ),
    ],
)
def test_the_most_that_a_request_can_take(change: dict[str, Any], expected: RequestBound) -> None:
    assert asked(ApiProtocol.ANTHROPIC, MESSAGES | change) == expected


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        ({"type": "input_image", "image_url": "data:image/png;base64,aGk="}, IMAGE_TOKENS),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}, IMAGE_TOKENS),
        ({"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}, PDF_TOKENS),
        ({"type": "input_text", "text": "image/png"}, 0),
    ],
)
def test_an_image_or_file_counts_more_than_its_bytes(part: dict[str, Any], tokens: int) -> None:
    change = {"input": [{"role": "user", "content": [part, part]}]}
    assert asked(ApiProtocol.OPENAI, RESPONSES | change) == RequestBound("m", 1000 + 2 * tokens, 50)


@pytest.mark.parametrize(
    "text",
    [
        b'{"model": "m", "model": "another"}',
        b'{"model": "m", "tools": [], "to\\u006fls": [{"type": "web_search"}]}',
        b'{"a": {"b": 1, "b": 2}}',
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": 1e999}',
        '{"model": "m"}'.encode("utf-16"),
        b'\xef\xbb\xbf{"model": "m"}',
        b'{"model": "\xff"}',
        b"[" * 100_000,
        b"[" + b"[]," * MOST_VALUES + b"1]",
        b"[]",
        b"null",
        b"",
    ],
    ids=range(14),
)
def test_what_two_readers_could_read_differently_is_refused(text: bytes) -> None:
    with pytest.raises(RequestRefused):
        parsed(text)


def test_only_listed_headers_are_passed_on() -> None:
    given = {
        "anthropic-version": "2023-06-01",
        "anthropic-beta": "claude-code-20250219,mcp-client-2025-04-04, code-execution-2025-08-25,context-1m-2025-08-07",
        "content-type": "application/json",
        "x-stainless-os": "Linux",
        "session-id": "s1",
        "cookie": "c",
        "host": "h",
        "x-forwarded-for": "f",
        "x-api-key": "run-1",
        "authorization": "Bearer run-1",
        "connection": "keep-alive",
    }
    found = headers(given, frozenset())
    assert sorted(found) == ["anthropic-beta", "anthropic-version", "content-type", "session-id", "x-stainless-os"]
    assert found["anthropic-beta"] == "claude-code-20250219,context-1m-2025-08-07"


@pytest.mark.parametrize("name", ["openai-organization", "openai-project", "chatgpt-account-id", "content-encoding"])
def test_headers_of_another_account_are_refused(name: str) -> None:
    with pytest.raises(RequestRefused):
        headers({name: "x"}, frozenset())
