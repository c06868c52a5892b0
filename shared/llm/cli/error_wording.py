"""How a program's complaint about its server is worded for people: they know the vendor, not our proxy (pure)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

VENDORS: Mapping[str, str] = {"claude": "Anthropic", "codex": "OpenAI"}
"""Who answers the requests of each backend."""


def of_the_vendor(text: str, backend: str, base_url: str | None) -> str:
    """`text` with the vendor's name where the program names the server at `base_url`, which is ours."""
    where = urlsplit(base_url or "")
    if where.hostname is None:
        return text
    vendor = VENDORS.get(backend, "the model server")
    port = rf":{where.port}(?!\d)" if where.port else r"(?!:?\d)"
    server = rf"(?<![\d.]){re.escape(where.hostname)}{port}"
    text = re.sub(rf",? ?\(?url: https?://{server}[^\s,)]*\)?", "", text)
    text = re.sub(rf"[Yy]our inference gateway ?\(?(?:https?://)?{server}[^\s,)]*\)?", vendor, text)
    return re.sub(rf"(?:https?://)?{server}(?:/[^\s,;)]*)?", vendor, text)
