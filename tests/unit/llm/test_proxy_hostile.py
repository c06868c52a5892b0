"""Requests that no program writes: each is refused with a sentence; none is an error of the proxy or slips through."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.llm.proxy.allowed import checked, parsed
from shared.llm.proxy.api_protocols import ApiProtocol, RequestRefused
from shared.llm.proxy.vendor_tools import VendorTool

MESSAGES: dict[str, Any] = {"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "Go."}]}
RESPONSES: dict[str, Any] = {"model": "m", "max_output_tokens": 50, "input": [{"role": "user", "content": "Go."}]}
ALL = frozenset(VendorTool)


def passed(protocol: ApiProtocol, change: dict[str, Any]) -> None:
    body = (MESSAGES if protocol is ApiProtocol.ANTHROPIC else RESPONSES) | change
    checked(protocol, parsed(json.dumps(body).encode()), 1000, lambda model: model == "m", ALL)


def said(*content: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": list(content)}]}


def shown(**image: Any) -> dict[str, Any]:
    return {"input": [{"content": [{"type": "input_image", **image}]}]}


TO_ANTHROPIC: list[dict[str, Any]] = [
    {"service_tier": ["priority"]},
    {"service_tier": {"priority": 1}},
    {"speed": ["fast"]},
    {"inference_geo": ["us"]},
    {"inference_geo": 0},
    said({"type": "image", "source": {"type": ["url"], "url": "https://evil.example"}}),
    said({"type": "image", "source": {"type": {"url": 1}}}),
    said({"type": "image", "source": {}}),
    said({"type": ["image"], "source": {"type": "base64"}}),
    said({"type": {"server_tool_use": 1}}),
    said({"type": 7}),
    said({"type": "server_tool_use", "name": ["web_search"]}),
    said({"type": "server_tool_use", "name": {"web_search": 1}}),
    {"context_management": {"edits": [{"type": "compact_20260112"}]}},
    {"context_management": {"edits": [{"type": ["clear_thinking_20251015"]}]}},
    {"context_management": {"edits": {"type": "compact_20260112"}}},
    {"context_management": [{"type": "compact_20260112"}]},
    {"tools": [{"type": ["custom"]}]},
    {"tools": [["custom"]]},
]

TO_OPENAI: list[dict[str, Any]] = [
    shown(image_url=["https://evil.example/?secret"]),
    shown(image_url={"url": ["https://evil.example/?secret"]}),
    shown(image_url={"url": {"url": "https://evil.example/?secret"}}),
    shown(image_url=7),
    {"instructions": [{"role": "user", "content": [{"type": "input_image", "image_url": "https://evil.example"}]}]},
    {"instructions": [{"type": "item_reference", "id": "r1"}]},
    {"input": [{"type": "item_reference", "id": "r1"}]},
    {"tools": [{"type": "shell", "environment": ["container_auto"]}]},
    {"tools": [{"type": "shell", "environment": "container_auto"}]},
    {"tools": [{"type": "shell", "environment": {"type": ["local"]}}]},
    {"tools": [{"type": "namespace", "tools": [{"type": "namespace", "tools": []}]}]},
    {"tools": [{"type": "web_search"}], "max_tool_calls": [1]},
    {"service_tier": ["priority"]},
]


@pytest.mark.parametrize("change", TO_ANTHROPIC, ids=lambda change: json.dumps(change)[:60])
def test_odd_json_is_refused_for_anthropic(change: dict[str, Any]) -> None:
    with pytest.raises(RequestRefused):
        passed(ApiProtocol.ANTHROPIC, change)


@pytest.mark.parametrize("change", TO_OPENAI, ids=lambda change: json.dumps(change)[:60])
def test_odd_json_is_refused_for_openai(change: dict[str, Any]) -> None:
    with pytest.raises(RequestRefused):
        passed(ApiProtocol.OPENAI, change)


@pytest.mark.parametrize(
    ("protocol", "change"),
    [
        (ApiProtocol.ANTHROPIC, {}),
        (
            ApiProtocol.ANTHROPIC,
            {"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}},
        ),
        (ApiProtocol.ANTHROPIC, {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}),
        (ApiProtocol.ANTHROPIC, {"context_management": None, "service_tier": "auto"}),
        (
            ApiProtocol.ANTHROPIC,
            said({"type": "tool_use", "name": "x", "input": {"type": ["any"], "source": {"type": 7}}}),
        ),
        (ApiProtocol.OPENAI, shown(image_url="DATA:image/png;base64,aGk=")),
        (ApiProtocol.OPENAI, shown(image_url=None)),
        (
            ApiProtocol.OPENAI,
            {"instructions": "Be short.", "tools": [{"type": "shell", "environment": {"type": "local"}}]},
        ),
        (ApiProtocol.OPENAI, {"tools": [{"type": "namespace", "tools": [{"type": "function"}]}]}),
    ],
)
def test_the_control_what_programs_do_write_is_passed_on(protocol: ApiProtocol, change: dict[str, Any]) -> None:
    passed(protocol, change)
