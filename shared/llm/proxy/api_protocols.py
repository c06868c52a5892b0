"""The wire protocols that the proxy passes on: their paths, the header with the key, and the form of their errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from shared.errors import Misconfigured
from shared.github.address import LOOPBACK


class RequestRefused(Exception):
    """A request that is not sent on; the message says why."""


class ApiProtocol(StrEnum):
    """The wire protocol of a model server, by the name of the vendor that defined it."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    COMPATIBLE = "openai_compatible"
    """Chat completions, which many servers speak: the server that a person names."""


PATHS: Mapping[str, tuple[ApiProtocol, bool]] = {
    "/v1/messages": (ApiProtocol.ANTHROPIC, True),
    "/v1/messages/count_tokens": (ApiProtocol.ANTHROPIC, False),
    "/v1/responses": (ApiProtocol.OPENAI, True),
    "/v1/chat/completions": (ApiProtocol.COMPATIBLE, True),
}
"""Forwarded paths -> their protocol, and whether they cost money. No other path is forwarded."""

OFFICIAL: Mapping[ApiProtocol, str] = {
    ApiProtocol.ANTHROPIC: "https://api.anthropic.com",
    ApiProtocol.OPENAI: "https://api.openai.com",
}

OUT_OF_BUDGET: Mapping[ApiProtocol, tuple[int, str]] = {
    ApiProtocol.ANTHROPIC: (403, "permission_error"),
    ApiProtocol.OPENAI: (400, "budget_exceeded"),
    ApiProtocol.COMPATIBLE: (400, "budget_exceeded"),
}
"""Answers that the vendors' CLIs take as final: Claude Code repeats an unknown 400, Codex repeats a 403."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A vendor's server and the real key. `url` has no final slash and no `/v1`; `through` is an HTTP proxy.

    The `url` of a compatible server has the path before `chat/completions` there, or no path at all for `/v1`.

    Raises `Misconfigured` for a server that would be reached in plain text beyond this machine.
    """

    protocol: ApiProtocol
    url: str
    key: str = field(repr=False)
    through: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
        if not safe or "@" in parts.netloc or parts.query or parts.fragment:
            server = f"{parts.scheme}://{parts.hostname}"
            raise Misconfigured(
                f"The model server {server} ({self.protocol}) cannot be used: write https://HOST; "
                f"http is for this machine only, and the address holds no password and no query."
            )

    def address(self, path: str) -> str:
        """Return the URL for a request to `path`."""
        if self.protocol is ApiProtocol.COMPATIBLE and urlsplit(self.url).path:
            return f"{self.url}{path.removeprefix('/v1')}"
        return f"{self.url}{path}"

    @property
    def authorization(self) -> dict[str, str]:
        """The header with the key."""
        if self.protocol is ApiProtocol.ANTHROPIC:
            return {"x-api-key": self.key}
        return {"authorization": f"Bearer {self.key}"}


def worded(protocol: ApiProtocol, kind: str, message: str) -> dict[str, Any]:
    """Return the body of an error of our own, in the protocol's form."""
    if protocol is ApiProtocol.ANTHROPIC:
        return {"type": "error", "error": {"type": kind, "message": message}}
    return {"error": {"type": kind, "code": kind, "message": message, "param": None}}
