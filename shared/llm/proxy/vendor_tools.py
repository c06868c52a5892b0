"""Tools that a vendor runs itself and that the configuration may allow: their names, and their limits (pure).

Each use begins another round inside of the request, which reads the whole prompt and the results once more.
https://docs.anthropic.com/en/docs/agents-and-tools/tool-use/web-search-tool
https://platform.openai.com/docs/guides/tools-web-search
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from enum import StrEnum
from typing import Any

from shared.llm.proxy.api_protocols import ApiProtocol, RequestRefused

MOST_USES = 8
"""Uses of such tools in one request; Claude Code asks for as many."""


class VendorTool(StrEnum):
    """The tools that the configuration may allow."""

    WEB_SEARCH = "web_search"
    WEB_FETCH = "web_fetch"


_TYPES: Mapping[ApiProtocol, Mapping[str, VendorTool]] = {
    ApiProtocol.ANTHROPIC: {
        "web_search_20250305": VendorTool.WEB_SEARCH,
        "web_fetch_20250910": VendorTool.WEB_FETCH,
    },
    ApiProtocol.OPENAI: {
        "web_search": VendorTool.WEB_SEARCH,
        "web_search_2025_08_26": VendorTool.WEB_SEARCH,
    },
    ApiProtocol.COMPATIBLE: {},
}
"""Later versions run code at the vendor as well, and previews have other prices: they are none of these."""

_BOUND = {ApiProtocol.ANTHROPIC: "max_uses", ApiProtocol.OPENAI: "max_tool_calls"}

_BLOCKS = re.compile(r"(web_search|web_fetch)_(?:tool_)?result(?:_location|_error)?")


def named(protocol: ApiProtocol, kind: object) -> VendorTool | None:
    """Return the tool that a type names; None for every other type."""
    return _TYPES[protocol].get(kind) if isinstance(kind, str) else None


def is_result(part: Mapping[str, Any], allowed: Set[VendorTool]) -> bool:
    """Return whether a part of a conversation shows the use of an allowed tool, in an earlier answer of Anthropic's."""
    kind = part.get("type")
    if kind == "server_tool_use":
        return part.get("name") in tuple(allowed)  # it may be anything, a list too
    found = _BLOCKS.fullmatch(kind) if isinstance(kind, str) else None
    return found is not None and found[1] in allowed


def is_search(kind: str, allowed: Set[VendorTool]) -> bool:
    """Return whether an item of a conversation with OpenAI is the use of an allowed tool."""
    return kind == "web_search_call" and VendorTool.WEB_SEARCH in allowed


def is_beta(word: str, allowed: Set[VendorTool]) -> bool:
    """Return whether a word in `anthropic-beta` switches on an allowed tool, and nothing else."""
    return any(re.fullmatch(rf"{tool.replace('_', '-')}-\d{{4}}-\d\d-\d\d", word) for tool in allowed)


def uses(protocol: ApiProtocol, body: Mapping[str, Any], allowed: Set[VendorTool]) -> tuple[int, int]:
    """Return the most uses of such tools, and of those that cost by number; raise `RequestRefused`."""
    tools = body.get("tools")
    listed = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    found = [(tool, kind) for tool in listed if (kind := named(protocol, tool.get("type"))) in allowed]
    if not found:
        return 0, 0
    if protocol is ApiProtocol.OPENAI:
        most = _number(protocol, body.get("max_tool_calls", MOST_USES))
        return most, most
    counts = [(_number(protocol, tool.get("max_uses")), kind) for tool, kind in found]
    total = _number(protocol, sum(count for count, _ in counts))
    return total, sum(count for count, kind in counts if kind is VendorTool.WEB_SEARCH)


def bound(protocol: ApiProtocol, body: Mapping[str, Any]) -> Mapping[str, int]:
    """Return the limit that a request with such tools lacks: OpenAI's, if it has none."""
    return {"max_tool_calls": MOST_USES} if protocol is ApiProtocol.OPENAI and "max_tool_calls" not in body else {}


def _number(protocol: ApiProtocol, value: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_USES:
        return value
    raise RequestRefused(
        f"A tool that the vendor runs needs '{_BOUND[protocol]}' from 1 to {MOST_USES}, all tools together."
    )
