"""Files that people drop into a comment on the site: an address of its own, from which a browser is sent to storage."""

from __future__ import annotations

import secrets
import uuid

from aiohttp import web

PREFIX = "/user-attachments/assets/"

STORAGE = "/_storage/"

_GONE = "Not Found"


class Attachments:
    """The attached files; forgotten when the lab ends. `requests` is each path with whether a token came along."""

    def __init__(self) -> None:
        self._files: dict[str, bytes] = {}
        self._keys: dict[str, str] = {}
        self._elsewhere: dict[str, str] = {}
        self.requests: list[tuple[str, bool]] = []

    def add(self, content: bytes, *, leads_to: str = "") -> str:
        """Add an attachment and return its path; with `leads_to` a browser is sent there instead of to storage."""
        name, key = str(uuid.UUID(bytes=secrets.token_bytes(16))), secrets.token_hex(16)
        self._files[key], self._keys[name], self._elsewhere[name] = content, key, leads_to
        return f"{PREFIX}{name}"

    def remove(self, path: str) -> None:
        """Delete an attachment, as a person does."""
        del self._keys[path.removeprefix(PREFIX)]

    def routes(self) -> list[web.RouteDef]:
        """The site's address and storage's."""
        return [web.get(f"{PREFIX}{{name}}", self._redirect), web.get(f"{STORAGE}{{key}}", self._send_content)]

    async def _redirect(self, request: web.Request) -> web.Response:
        self._note(request)
        name = request.match_info["name"]
        key = self._keys.get(name)
        if key is None:
            return web.Response(status=404, text=_GONE)
        return web.Response(status=302, headers={"Location": self._elsewhere[name] or f"{STORAGE}{key}"})

    async def _send_content(self, request: web.Request) -> web.Response:
        self._note(request)
        content = self._files.get(request.match_info["key"])
        if content is None:
            return web.Response(status=404, text=_GONE)
        return web.Response(body=content, content_type="application/octet-stream")

    def _note(self, request: web.Request) -> None:
        has_token = "Authorization" in request.headers or "Cookie" in request.headers
        self.requests.append((request.path, has_token))
