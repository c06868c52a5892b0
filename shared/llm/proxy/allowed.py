"""The allow-list for requests to a vendor in the name of a run: everything that is not listed is refused (pure).

A run may ask a model for text and for calls of tools that run here. It may not let the vendor fetch, run, store or
look up anything elsewhere, because nobody could see that, and a prompt could be sent away by it: unless the
configuration allows one of `vendor_tools`, which are bounded and metered.
https://docs.anthropic.com/en/api/messages https://platform.openai.com/docs/api-reference/responses/create
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from shared.llm.proxy import vendor_tools
from shared.llm.proxy.api_protocols import ApiProtocol, RequestRefused
from shared.llm.proxy.metering import LARGEST_OUTPUT, RequestBound
from shared.llm.proxy.vendor_tools import VendorTool

MOST_VALUES = 500_000
"""Values in one request: each takes some 60 bytes of memory, whatever it takes in JSON."""

PDF_TOKENS = 300_000
"""Tokens of a PDF of a hundred pages, at most, however few bytes it has."""

IMAGE_TOKENS = 12_000
"""Tokens of one image, at most, however few bytes it has: a uniform one of any size compresses to some hundred."""

QUERIES = frozenset({"", "beta=true"})
"""Allowed query strings of a path."""

HEADERS = re.compile(
    r"accept|accept-language|content-type|user-agent|anthropic-(?:version|beta|dangerous-direct-browser-access)"
    r"|x-app|x-stainless-[\w-]+|x-claude-[\w-]+|x-client-[\w-]+|openai-beta|originator|session[-_]id|thread[-_]id"
    r"|conversation[-_]id|x-codex-[\w-]+|x-openai-(?:subagent|internal-codex-[\w-]+)|version"
)
"""Headers that are passed on; others are dropped, except those for which a request is refused."""

ACCOUNTS = re.compile(r"openai-(?:organization|project)|anthropic-(?:workspace|organization)[\w-]*|chatgpt-account-id")
"""Headers that would have another account or project pay."""

BETAS = re.compile(r"mcp|code-execution|web-|files-api|skills|fast-mode|priority|batch|container|computer-use-cloud")
"""Words in `anthropic-beta` that switch on refused features; the word is removed, the rest passes."""

_HERE = {
    ApiProtocol.ANTHROPIC: re.compile(r"custom|(?:bash|text_editor|computer|memory|tool_search_tool_\w+?)_\d{8}"),
    ApiProtocol.OPENAI: re.compile(r"function|custom|local_shell|shell|apply_patch|namespace|tool_search"),
    ApiProtocol.COMPATIBLE: re.compile(r"function"),
}
"""Types of tools that run in the sandbox of the run, or nowhere."""

_ITEMS_ELSEWHERE = re.compile(
    r"item_reference|mcp_\w+|file_search_call|code_interpreter_call|image_generation_call|web_search_call"
)
"""Items of a conversation with OpenAI that are kept there, or belong to a tool that runs there."""

_BY_CONTENT = "Images and files are passed on only with their content, not by address or number."

_STATELESS = ("previous_response_id", "conversation", "prompt", "context_id")
_TIERS = frozenset({"auto", "default", "standard", "standard_only", "flex"})
"""Tiers of service that cost no more than the list says."""

_SOURCES = frozenset({"base64", "text", "content"})
_EDITS = re.compile(r"clear_\w+_\d{8}")
"""Changes that the vendor may make to a conversation: its count of tokens omits text that it would write itself."""

_CHAT_KEYS = frozenset(
    {
        *("model", "messages", "tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"),
        *("stream", "stream_options", "max_tokens", "max_completion_tokens", "n", "stop", "seed", "store"),
        *("temperature", "top_p", "top_k", "min_p", "frequency_penalty", "presence_penalty", "repetition_penalty"),
        *("response_format", "logit_bias", "logprobs", "top_logprobs", "service_tier", "verbosity"),
        *("reasoning_effort", "reasoning", "thinking", "enable_thinking", "thinking_budget", "chat_template_kwargs"),
        *("user", "safety_identifier", "prompt_cache_key", "metadata"),
    }
)
"""Allowed keys of a chat completion: servers that speak it have searches, plugins and routes of their own besides."""

_CONTENT_KEYS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"text"}),
    "refusal": frozenset({"refusal"}),
    "image_url": frozenset({"image_url"}),
    "input_audio": frozenset({"input_audio"}),
    "file": frozenset({"file"}),
}
"""Parts of a message in a chat completion: type -> its own keys. Servers know others that name an address to read."""

_BLOCKS_ELSEWHERE = re.compile(r"server_tool_use|mcp_\w+|container_upload|web_\w+|code_execution\w*|bash_code_\w+")


def parsed(body: bytes) -> dict[str, Any]:
    """Parse the request; raise `RequestRefused` if parsers could differ on it, or if it takes much memory."""
    if sum(body.count(mark) for mark in (b",", b"[", b"{")) > MOST_VALUES:
        raise RequestRefused(f"The request has more than {MOST_VALUES:,} values.")
    try:
        found = json.loads(
            body.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_number, parse_float=_number
        )
    except (ValueError, RecursionError) as error:
        raise RequestRefused("The request is not JSON in UTF-8.") from error
    if not isinstance(found, dict):
        raise RequestRefused("The request is not a JSON object.")
    return found


def checked(
    protocol: ApiProtocol, body: Mapping[str, Any], size: int, knows: Callable[[str], bool], tools: Set[VendorTool]
) -> RequestBound:
    """Return the most that a request of `size` bytes can take; raise `RequestRefused`.

    `knows` tells whether a model may be asked; `tools` are those of the vendor that are allowed.
    """
    model = body.get("model")
    if not isinstance(model, str) or not model:
        raise RequestRefused("The request names no model.")
    if not knows(model):
        raise RequestRefused(
            f"The model '{model[:80]}' is neither configured nor priced: name its price under `prices`."
        )
    _check_tier(body)
    _CHECKS[protocol](body, tools)
    _check_tools(protocol, body.get("tools"), tools)
    uses, searches = vendor_tools.uses(protocol, body, tools)
    lengths = [body[key] for key in _LENGTHS[protocol] if body.get(key) is not None]
    most = max(map(_length, lengths), default=LARGEST_OUTPUT)  # of two a server may know but one
    return RequestBound(model, size + sum(map(_picture_tokens, _parts(body))), most, uses, searches)


def _length(output: object) -> int:
    """Return the most tokens of an answer that a request asks for; the most of all if it is not a number of them."""
    known = isinstance(output, int) and not isinstance(output, bool) and 0 < output <= LARGEST_OUTPUT
    return output if known and isinstance(output, int) else LARGEST_OUTPUT


def completed(protocol: ApiProtocol, body: Mapping[str, Any], text: bytes, request_bound: RequestBound) -> bytes:
    """Return the `text` of a checked request with additions.

    OpenAI keeps an answer unless it is told not to; a stream of chat completions reports its usage only if asked to.
    """
    bound = vendor_tools.bound(protocol, body) if request_bound.uses else {}
    kept = {"store": False} if protocol is ApiProtocol.OPENAI and "store" not in body else {}
    silent = protocol is ApiProtocol.COMPATIBLE and body.get("stream") is True and "stream_options" not in body
    counted = {"stream_options": {"include_usage": True}} if silent else {}
    added = json.dumps({**kept, **bound, **counted}).encode()
    if added == b"{}":
        return text
    head, _, rest = text.partition(b"{")
    return head + added[:-1] + b"," + rest


def headers(request_headers: Mapping[str, str], tools: Set[VendorTool]) -> dict[str, str]:
    """Return the headers to pass on, of those given in lower case; raise `RequestRefused`. `tools` as for `checked`."""
    for name in request_headers:
        if ACCOUNTS.fullmatch(name):
            raise RequestRefused(f"The header {name} is not passed on.")
    if "content-encoding" in request_headers:
        raise RequestRefused("A compressed request is not passed on.")
    found = {name: value for name, value in request_headers.items() if HEADERS.fullmatch(name)}
    if "anthropic-beta" in found:
        words = [word.strip() for word in found["anthropic-beta"].split(",")]
        kept = (word for word in words if not BETAS.search(word) or vendor_tools.is_beta(word, tools))
        found["anthropic-beta"] = ",".join(word for word in kept if word)
    return {name: value for name, value in found.items() if value}


def _check_tier(body: Mapping[str, Any]) -> None:
    if _word(body, "service_tier") not in {None, *_TIERS}:
        raise RequestRefused("Only the standard tier of service is asked for.")
    if _word(body, "speed") not in {None, "standard"}:
        raise RequestRefused("Only the standard speed is asked for.")
    if _word(body, "inference_geo") not in {None, "", "global", "not_available"}:
        raise RequestRefused("A region of its own costs more than the list says.")


def _anthropic(body: Mapping[str, Any], tools: Set[VendorTool]) -> None:
    for key in ("mcp_servers", "container", "fallback", "fallbacks"):
        if body.get(key):
            raise RequestRefused(f"'{key}' lets the vendor do what nobody here sees: it is not passed on.")
    managed = body.get("context_management")
    if managed and not all(_EDITS.fullmatch(str(edit.get("type"))) for edit in _edits(managed)):
        raise RequestRefused("Of the vendor's changes to a conversation only those that clear something are passed on.")
    for part in _parts({"messages": body.get("messages"), "system": body.get("system")}):
        source, kind = part.get("source"), _word(part, "type")
        if isinstance(source, dict) and _word(source, "type") not in _SOURCES:
            raise RequestRefused(_BY_CONTENT)
        elsewhere = kind is not None and (_BLOCKS_ELSEWHERE.fullmatch(kind) or _is_tool_elsewhere(kind))
        if elsewhere and not vendor_tools.is_result(part, tools):
            raise RequestRefused(f"A part of the type '{str(kind)[:40]}' belongs to a tool that runs elsewhere.")
        _check_tools(ApiProtocol.ANTHROPIC, part.get("tools"))


def _openai(body: Mapping[str, Any], tools: Set[VendorTool]) -> None:
    if body.get("background"):
        raise RequestRefused("Background answers are not forwarded.")
    if body.get("store") not in (None, False):
        raise RequestRefused("Answers are not kept at the vendor: 'store' is not passed on.")
    for key in _STATELESS:
        if body.get(key):
            raise RequestRefused(f"'{key}' names what is kept at the vendor: it is not passed on.")
    items = body.get("input")
    if isinstance(items, list) and not all(map(_says_what_it_is, items)):
        raise RequestRefused("An item with an id alone names what is kept at the vendor: it is not passed on.")
    for part in _parts({"input": body.get("input"), "instructions": body.get("instructions")}):
        kind = _word(part, "type")
        if kind is not None and _ITEMS_ELSEWHERE.fullmatch(kind) and not vendor_tools.is_search(kind, tools):
            raise RequestRefused(
                f"An item of the type '{kind[:40]}' is kept, or belongs to a tool that runs, at the vendor."
            )
        _check_tools(ApiProtocol.OPENAI, part.get("tools"))
        if part.get("file_id") or part.get("file_url") or not _is_data(part.get("image_url")):
            raise RequestRefused(_BY_CONTENT)


def _compatible(body: Mapping[str, Any], tools: Set[VendorTool]) -> None:
    if unknown := sorted(body.keys() - _CHAT_KEYS):
        raise RequestRefused(f"'{unknown[0][:40]}' is not known here: it is not passed on.")
    if body.get("store") not in (None, False):
        raise RequestRefused("Answers are not kept at the vendor: 'store' is not passed on.")
    if body.get("n") not in (None, 1):
        raise RequestRefused("One answer is asked for at a time.")
    options = body.get("stream_options")
    if options is not None and not (isinstance(options, dict) and options.get("include_usage") is True):
        raise RequestRefused("A stream has to tell what it took: 'include_usage' has to be true.")
    for part in _parts({"messages": body.get("messages")}):
        content = part.get("content")
        for piece in content if isinstance(content, list) else ():
            _check_content(piece)
        if part.get("file_id") or not _is_data(part.get("image_url")) or isinstance(part.get("audio"), dict):
            raise RequestRefused(_BY_CONTENT)


def _check_content(piece: object) -> None:
    """Refuse a part of a message that is not of a known form, or names what it is about instead of containing it."""
    kind = _word(piece, "type") if isinstance(piece, dict) else None
    known = _CONTENT_KEYS.get(kind) if kind is not None else None
    if not isinstance(piece, dict) or known is None or piece.keys() - known - {"type", "cache_control"}:
        raise RequestRefused(f"A part of the type '{str(kind)[:40]}' of a message is not known here in this form.")
    audio, file = piece.get("input_audio", {}), piece.get("file", {})
    holders = isinstance(audio, dict) and isinstance(file, dict)
    if not holders or file.keys() - {"filename", "file_data"} or not _is_image(piece.get("image_url")):
        raise RequestRefused(_BY_CONTENT)
    if not all(_is_content(one) for one in (audio.get("data"), file.get("file_data"))):
        raise RequestRefused(_BY_CONTENT)


def _is_image(image: object) -> bool:
    """Return whether an image is missing or contains itself, and nothing else in it is an address."""
    return _is_data(image) and not (isinstance(image, dict) and image.keys() - {"url", "detail"})


def _is_content(data: object) -> bool:
    """Return whether data are missing or contain themselves: in base64 there is no colon, in any address one."""
    return data is None or (isinstance(data, str) and (":" not in data or data[:5].lower() == "data:"))


def _is_tool_elsewhere(kind: str) -> bool:
    """Return whether it is a vendor's tool, with a date in its name, that does not run here."""
    return bool(re.fullmatch(r"\w+_20\d{6}", kind)) and not _HERE[ApiProtocol.ANTHROPIC].fullmatch(kind)


def _says_what_it_is(item: object) -> bool:
    return isinstance(item, dict) and any(item.get(key) for key in ("type", "role", "content"))


def _picture_tokens(part: Mapping[str, Any]) -> int:
    """Return the tokens of an image or a file, which do not depend on its bytes."""
    kind = part.get("media_type")
    if kind == "application/pdf" or part.get("file_data"):
        return PDF_TOKENS
    is_image = bool(part.get("image_url")) or (isinstance(kind, str) and kind.startswith("image/"))
    return IMAGE_TOKENS if is_image else 0


def _is_data(address: object) -> bool:
    """Return whether an image has no address, or one that contains the image itself."""
    address = address.get("url") if isinstance(address, dict) else address
    return address is None or (isinstance(address, str) and address[:5].lower() == "data:")


def _edits(managed: object) -> Sequence[Mapping[str, Any]]:
    """Return the edits under `context_management`; raise `RequestRefused` for any form but the documented one."""
    edits = managed.get("edits", []) if isinstance(managed, dict) else None
    if not isinstance(edits, list) or not all(isinstance(edit, dict) for edit in edits):
        raise RequestRefused("'context_management' is not an object with a list of edits.")
    return edits


def _word(part: Mapping[str, Any], key: str) -> str | None:
    """Return a value that has to be text or missing; raise `RequestRefused` for anything else."""
    value = part.get(key)
    if value is not None and not isinstance(value, str):
        raise RequestRefused(f"'{key}' is not text.")
    return value


def _check_tools(protocol: ApiProtocol, tools: object, allowed: Set[VendorTool] = frozenset()) -> None:
    if tools is None:
        return
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        raise RequestRefused("'tools' is not a list of objects.")
    for tool in tools:
        kind = tool.get("type", "custom" if protocol is ApiProtocol.ANTHROPIC else None)
        here = isinstance(kind, str) and _HERE[protocol].fullmatch(kind)
        if not here and vendor_tools.named(protocol, kind) not in allowed:
            raise RequestRefused(f"A tool of the type '{str(kind)[:40]}' runs elsewhere: it is not passed on.")
        environment = tool.get("environment")
        if environment is not None and not (isinstance(environment, dict) and environment.get("type") == "local"):
            raise RequestRefused("A shell that runs elsewhere is not passed on.")
        if kind == "namespace":
            _check_tools(protocol, _flat(tool.get("tools")))


def _flat(tools: object) -> object:
    """Return the tools of a namespace; raise `RequestRefused` for one inside of another."""
    listed = tools if isinstance(tools, list) else []
    if any(isinstance(tool, dict) and tool.get("type") == "namespace" for tool in listed):
        raise RequestRefused("A namespace of tools inside of another one is not passed on.")
    return tools


def _parts(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield every object in a request, however deep, without recursion; inputs of tool calls are the model's text."""
    waiting: list[object] = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            yield node
            is_call = node.get("type") in ("tool_use", "server_tool_use")  # which may be anything, a list too
            left_out = {"input"} if is_call else {"input_schema", "parameters"}
            waiting += [part for key, part in node.items() if key not in left_out]
        elif isinstance(node, list):
            waiting += node


def _unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands there twice")
    return found


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:20]} is no number")
    return number


_CHECKS: Mapping[ApiProtocol, Callable[[Mapping[str, Any], Set[VendorTool]], None]] = {
    ApiProtocol.ANTHROPIC: _anthropic,
    ApiProtocol.OPENAI: _openai,
    ApiProtocol.COMPATIBLE: _compatible,
}

_LENGTHS: Mapping[ApiProtocol, Sequence[str]] = {
    ApiProtocol.ANTHROPIC: ("max_tokens",),
    ApiProtocol.OPENAI: ("max_output_tokens",),
    ApiProtocol.COMPATIBLE: ("max_completion_tokens", "max_tokens"),
}
"""Keys that name the most tokens of an answer, by protocol."""
